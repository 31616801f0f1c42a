// Runs in: pglite, postgres, citus, first

import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { assignPositions } from '../../../src/domain/change/assign-positions.ts'
import { idsFrom } from '../../../src/domain/contract/ids.ts'
import { applyRetention } from '../../../src/domain/retention/retain.ts'
import type { RetentionConfig } from '../../../src/domain/retention/settings.ts'
import { applyProviderEvent } from '../../../src/domain/sale/settle/apply-provider-event.ts'
import { runSql } from '../../../src/engine/database/database.ts'
import { updateAttendee } from '../../support/attendees.ts'
import { cursorRefusal, readChanges, readChangesPage } from '../../support/change-feed.ts'
import { aLargeRate, scanTicket } from '../../support/door.ts'
import { anOrganization, channelHeaders } from '../../support/factories.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { paidOutcome } from '../../support/stub-provider.ts'
import { aPaidTicket, holdTickets } from '../../support/tickets.ts'
import { webhooksOf } from '../../support/webhooks.ts'

// Rows of tables that only grow: deleted by age, and what holds once they are gone.

let sale: Sale
beforeEach(async () => {
  sale = await openSale({
    organizations: [anOrganization({ _id: 'org_1' }), anOrganization({ _id: 'org_2' })],
    rates: [aLargeRate('1')],
  })
})
afterEach(() => sale.close())

const byDefault: RetentionConfig = {
  retainUnpaidDays: null,
  retainPersonalMonths: null,
  retainWebhookDays: 30,
  retainProviderEventDays: 90,
  retainChangeMonths: 24,
  retainCheckInMonths: 24,
  retainMailDays: null,
}

/** Gives each organization its turn, or one alone, and returns what is reported. */
async function retain(settings: Partial<RetentionConfig> = {}, organization?: string) {
  const done: Record<string, number | string>[] = []
  await runSql(
    sale.db,
    `insert into retention_turns (organization_id) select id from organizations on conflict do nothing`,
  )
  await runSql(sale.db, `update retention_turns set due_at = now()`)
  if (organization)
    await runSql(
      sale.db,
      `update retention_turns set due_at = now() + interval '1 hour' where organization_id <> '${organization}'`,
    )
  sale.statements.reset()
  await applyRetention({
    ...{ db: sale.db, settings: { ...byDefault, ...settings }, mailFolder: '/nonexistent' },
    stopping: new AbortController().signal,
    onDone: (facts) => void done.push(facts),
  })
  return done
}
const deleted = (rows: Record<string, number>) => [
  { organization: 'org_1', unpaid: 0, attendees: 0, ...rows },
]

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)
const longAgo = new Date('2020-01-15T12:00:00Z')

/** Moves changes, and the deliveries of them, to a time. They keep their order. */
async function ageChanges(at = longAgo, condition = 'true'): Promise<void> {
  const found = await runSql<{ id: string }>(sale.db, `select id from changes where ${condition} order by id`)
  for (const [place, { id }] of found.entries()) {
    const aged = idsFrom('chg', at.getTime() + place) + id.slice(14)
    await runSql(sale.db, `update changes set id = '${aged}' where id = '${id}'`)
    await runSql(sale.db, `update webhook_deliveries set change_id = '${aged}' where change_id = '${id}'`)
  }
}

const ageRows = (table: 'check_ins' | 'provider_events', at = longAgo) =>
  runSql(sale.db, `update ${table} set created_at = '${at.toISOString()}'`)

const countOf = async (table: string, condition = 'true') =>
  (await runSql(sale.db, `select true from ${table} where ${condition}`)).length

test('rows go once they are as old as their setting, those of each organization in its turn', async () => {
  const ages = { changes: 24 * 30.5, webhook_deliveries: 30, check_ins: 24 * 30.5, provider_events: 90 }
  const webhook = await webhooksOf(sale).register('https://receiver.example/hook')
  const [integration] = await runSql<{ id: string }>(sale.db, 'select id from integrations limit 1')
  for (const organization of ['org_1', 'org_2'])
    for (const days of [-20, 20]) {
      const at = (table: keyof typeof ages) => daysAgo(ages[table] + days)
      const id = (table: 'changes' | 'webhook_deliveries') =>
        `${idsFrom('chg', at(table).getTime())}_${organization}_${days}`
      await runSql(
        sale.db,
        `insert into changes (id, type, subject_id, sequence, organization_id, feed_position, data)
        values ('${id('changes')}', 'rate.available', 'rate_${organization}_${days}', 1, '${organization}', 1000 + ${days}, '{}')`,
      )
      await runSql(
        sale.db,
        `insert into webhook_deliveries (organization_id, webhook_id, change_id, status)
        values ('${organization}', '${webhook.id}', '${id('webhook_deliveries')}', 'dead')`,
      )
      await runSql(
        sale.db,
        `insert into check_ins (id, organization_id, integration_id, idempotency_key, request_hash, event_id, direction, forced, outcome, scanned_at, created_at)
        values ('chk_${organization}_${days}', '${organization}', '${integration?.id}', '${organization}_${days}', '', 'evt_1', 'in', false, 'NOT_FOUND', now(),
          '${at('check_ins').toISOString()}')`,
      )
      await runSql(
        sale.db,
        `insert into provider_events (organization_id, provider, id, type, created_at)
        values ('${organization}', 'stripe', '${organization}_${days}', 'paid', '${at('provider_events').toISOString()}')`,
      )
    }
  const tables = Object.keys(ages)
  const kept = {
    ...{ retainWebhookDays: null, retainChangeMonths: null, retainCheckInMonths: null },
    retainProviderEventDays: null,
  }
  expect(await retain(kept)).toEqual([])
  expect(await retain({}, 'org_1')).toEqual(
    deleted({ webhook_deliveries: 1, changes: 1, check_ins: 1, provider_events: 1 }),
  )
  for (const table of tables) {
    expect(await countOf(table, `organization_id = 'org_1'`), table).toBe(1)
    expect(await countOf(table, `organization_id = 'org_2'`), table).toBe(2)
  }
  expect(await retain()).toMatchObject([{ organization: 'org_2', changes: 1 }])
  expect(await retain()).toEqual([])
})

test('rows go a thousand at a time, the oldest first', async () => {
  await runSql(
    sale.db,
    `insert into provider_events (organization_id, provider, id, type, created_at)
    select 'org_1', 'stripe', n, 'paid', now() - n * interval '1 day' from generate_series(91, 2500) as n`,
  )
  expect(await retain({}, 'org_1')).toEqual(deleted({ provider_events: 2_410 }))
  const deletions = sale.statements.filter((text) => text.includes('delete from "provider_events"'))
  // The last one finds nothing.
  expect(deletions).toHaveLength(4)
  await retain({}, 'org_1')
  // The turn, the times, three tables, and a transaction for the changes.
  expect(sale.statements.filter((text) => !/^(begin|commit)/.test(text))).toHaveLength(8)
})

test('old changes go: sequences go on, and cursors at the end are known', async () => {
  const { id: ticketId } = await aPaidTicket(sale)
  await assignPositions(sale.db)
  await ageChanges()
  const { cursors } = await readChangesPage(sale, sale.channel)
  const ofIntegration = await readChanges(sale, sale.integration.v2)
  expect(cursors).toHaveLength(2)
  expect(await retain({ retainChangeMonths: null })).toEqual([])
  expect(await retain()).toEqual(deleted({ changes: 2 }))
  const [early = '', end = ''] = cursors
  expect(await cursorRefusal(sale, sale.channel, early)).toBe('CURSOR_UNKNOWN')
  expect((await readChanges(sale, sale.channel)).nodes).toEqual([])
  expect((await readChanges(sale, sale.channel, end)).nodes).toEqual([])
  await updateAttendee(sale, ticketId, { fullName: 'Berta Öz' })
  const updated = [{ type: 'TICKET_UPDATED', subjectId: ticketId, sequence: 2 }]
  expect((await readChanges(sale, sale.channel, end)).nodes).toMatchObject(updated)
  expect((await readChanges(sale, sale.integration.v2, ofIntegration.end)).nodes).toMatchObject(updated)
  expect((await readChanges(sale, sale.channel)).nodes).toMatchObject(updated)
  expect(await cursorRefusal(sale, sale.channel, early)).toBe('CURSOR_UNKNOWN')
  expect(await brokenInvariants(sale.db)).toEqual([])
  expect(await retain()).toEqual([])
})

test('the cursor of a channel at its end is known after its changes went, though another sold later', async () => {
  await aPaidTicket(sale)
  await assignPositions(sale.db)
  await aPaidTicket(sale, { headers: await channelHeaders(sale.db, 'org_1') })
  await assignPositions(sale.db)
  await ageChanges()
  const { end } = await readChanges(sale, sale.channel)
  expect(await retain()).toEqual(deleted({ changes: 4 }))
  expect(await cursorRefusal(sale, sale.channel, end)).toBeUndefined()
})

test('a cursor of a change that is left is known, unless a later one of its feed is gone', async () => {
  await aPaidTicket(sale)
  await assignPositions(sale.db)
  const { end: before } = await readChanges(sale, sale.channel)
  await aPaidTicket(sale)
  await assignPositions(sale.db)
  // By clocks that differ, the first sale comes after the second.
  await ageChanges(longAgo, 'feed_position > 2')
  const { end } = await readChanges(sale, sale.channel)
  expect(await cursorRefusal(sale, sale.channel, before)).toBeUndefined()
  expect(await retain()).toEqual(deleted({ changes: 2 }))
  expect(await cursorRefusal(sale, sale.channel, before)).toBe('CURSOR_UNKNOWN')
  expect(await cursorRefusal(sale, sale.channel, end)).toBeUndefined()
  await ageChanges()
  expect(await retain()).toEqual(deleted({ changes: 2 }))
  expect(await cursorRefusal(sale, sale.channel, end)).toBeUndefined()
})

test('the sequence goes on after changes of which the earlier or the later are gone', async () => {
  const { id: ticketId } = await aPaidTicket(sale)
  const sequences = async () =>
    await runSql<{ sequence: number }>(
      sale.db,
      `select sequence from changes where subject_id = '${ticketId}' order by 1`,
    ).then((rows) => rows.map(({ sequence }) => sequence))
  const dropped = () => countOf('dropped_sequences', `subject_id = '${ticketId}'`)
  const update = async (fullName: string) => {
    await updateAttendee(sale, ticketId, { fullName })
    await assignPositions(sale.db)
  }
  await update('Berta Öz')
  await ageChanges(longAgo, `subject_id = '${ticketId}' and sequence = 1`)
  expect(await retain()).toEqual(deleted({ changes: 1 }))
  expect(await dropped()).toBe(0)
  await update('Berta Ö')
  expect(await sequences()).toEqual([2, 3])
  // By clocks that differ, the last one is the oldest.
  await ageChanges(longAgo, `subject_id = '${ticketId}' and sequence = 3`)
  expect(await retain()).toEqual(deleted({ changes: 1 }))
  expect(await dropped()).toBe(1)
  await ageChanges(longAgo, `subject_id = '${ticketId}'`)
  expect(await retain()).toEqual(deleted({ changes: 1 }))
  await update('Berta')
  expect(await sequences()).toEqual([4])
})

test('the sequence of a subject that is gone is forgotten', async () => {
  await runSql(
    sale.db,
    `insert into changes (id, type, subject_id, sequence, organization_id, feed_position, data)
    values ('${idsFrom('chg', longAgo.getTime())}', 'payment.expired', 'pay_gone', 1, 'org_1', 1, '{}')`,
  )
  expect(await retain()).toEqual(deleted({ changes: 1 }))
  expect(await countOf('dropped_sequences')).toBe(0)
})

test('the sequence goes on after clocks that differ', async () => {
  const { id: ticketId } = await aPaidTicket(sale)
  await ageChanges(daysAgo(1 / 24))
  await updateAttendee(sale, ticketId, { fullName: 'Berta Öz' })
  await updateAttendee(sale, ticketId, { fullName: 'Berta Ö' })
  const { nodes } = await readChanges(sale, sale.channel)
  expect(nodes.filter(({ subjectId }) => subjectId === ticketId).map(({ sequence }) => sequence)).toEqual([
    1, 2, 3,
  ])
})

test('nothing that waits is deleted', async () => {
  const own = webhooksOf(sale)
  const webhook = await own.register('https://receiver.example/hook')
  await aPaidTicket(sale)
  await ageChanges()
  // Deliveries wait for the receiver, and changes for a position.
  expect(await retain()).toEqual([])
  await runSql(sale.db, `update webhook_deliveries set status = 'delivered', delivered_at = now()`)
  expect(await retain({ retainWebhookDays: null })).toEqual([])
  expect(await retain()).toEqual(deleted({ webhook_deliveries: 2 }))
  expect((await own.deliveries(webhook.id))?.nodes).toEqual([])
  await assignPositions(sale.db)
  expect(await retain()).toEqual(deleted({ changes: 2 }))
})

test('a delivery that is left keeps its change and later ones, and none before it', async () => {
  await aPaidTicket(sale)
  await webhooksOf(sale, sale.integration.v2).register('https://receiver.example/hook')
  await aPaidTicket(sale)
  await webhooksOf(sale).register('https://receiver.example/other')
  await aPaidTicket(sale)
  await assignPositions(sale.db)
  await ageChanges()
  expect(await retain()).toEqual(deleted({ changes: 2 }))
  expect(await countOf('webhook_deliveries')).toBe(6)
  expect(await retain()).toEqual([])
  await runSql(sale.db, `update webhook_deliveries set status = 'dead'`)
  expect(await retain()).toEqual(deleted({ webhook_deliveries: 6, changes: 4 }))
  expect(await brokenInvariants(sale.db)).toEqual([])
})

test('what waits for a disabled webhook goes by its age', async () => {
  const own = webhooksOf(sale)
  await own.register('https://receiver.example/hook')
  await aPaidTicket(sale)
  await ageChanges()
  await sale.db.execute(sql`update webhooks set status = 'disabled', disabled_reason = 'GONE'`)
  expect(await retain()).toEqual(deleted({ webhook_deliveries: 2 }))
})

test('the key of a scan is known for as long as its scan is kept', async () => {
  const { id: ticketId } = await aPaidTicket(sale)
  const scan = { ticketId, idempotencyKey: 'key_old' }
  const scanned = (given: typeof scan & { direction?: 'OUT' }) => scanTicket(sale, given, sale.integration.v2)
  expect(await scanned(scan)).toMatchObject({ outcome: 'OK', replayed: false })
  await ageRows('check_ins')
  expect(await scanned(scan)).toMatchObject({ outcome: 'OK', replayed: true })
  expect(await scanned({ ...scan, direction: 'OUT' })).toMatchObject({
    errors: [{ code: 'IDEMPOTENCY_KEY_REUSED' }],
  })
  expect(await retain()).toEqual(deleted({ check_ins: 1 }))
  expect(await scanned(scan)).toMatchObject({ outcome: 'NO_ENTRIES_LEFT', replayed: false })
})

test('an event of the provider is applied once for as long as it is kept', async () => {
  const { payment_id: id } = await holdTickets(sale)
  const about = {
    kind: 'session',
    id: 'cs_1',
    paymentId: id,
    organizationId: 'org_1',
    outcome: paidOutcome(id),
  } as const
  const event = { id: 'evt_1', type: 'paid', about }
  expect(await applyProviderEvent(sale.db, 'sandbox', event)).toBe('done')
  await ageRows('provider_events')
  expect(await applyProviderEvent(sale.db, 'sandbox', event)).toBe('repeated')
  expect(await retain()).toEqual(deleted({ provider_events: 1 }))
  // Its payment is paid already.
  expect(await applyProviderEvent(sale.db, 'sandbox', event)).toBe('done')
  expect(await brokenInvariants(sale.db)).toEqual([])
})
