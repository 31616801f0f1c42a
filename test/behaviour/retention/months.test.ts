// Runs in: postgres, citus

import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { monthlyTables } from '../../../src/database/months.ts'
import { runSql } from '../../../src/database/run-sql.ts'
import { assignPositions } from '../../../src/domain/change/assign-positions.ts'
import { isAtTurnOfMonth } from '../../../src/domain/check-in/lock-nonces.ts'
import { createMonthKeeper, keepMonths } from '../../../src/domain/retention/keep-months.ts'
import { receiveEvent } from '../../../src/domain/sale/settle/receive-event.ts'
import { findOpenWork } from '../../../src/domain/verify/find-open-work.ts'
import { idsFrom } from '../../../src/shared/ids.ts'
import { cursorRefusal, readChanges, readChangesPage } from '../../support/change-feed.ts'
import { anEntry, mustCheckOut } from '../../support/checkouts.ts'
import { aLargeRate, anEventAtDoor, scanTicket } from '../../support/door.ts'
import { aCatalogue, channelHeaders } from '../../support/factories.ts'
import { updateAttendee } from '../../support/holders.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import { mockClock } from '../../support/mock-clock.ts'
import { addOldMonth, ageChanges, ageRows, oldPartition, partitionsOf } from '../../support/old-months.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { settlePaymentById } from '../../support/settle-payment.ts'
import { paidOutcome } from '../../support/stub-provider.ts'
import { webhooksOf } from '../../support/webhooks.ts'

// Partitions of what only grows: made ahead, dropped by age, and what holds across them.

let sale: Sale
beforeEach(async () => {
  sale = await openSale(aCatalogue({ events: [anEventAtDoor({ ticket_rates: [aLargeRate('1')] })] }))
})
afterEach(() => sale.close())

const settings = {
  retainUnpaidDays: null,
  retainPersonalMonths: null,
  retainWebhookDays: 30,
  retainProviderEventDays: 90,
  retainChangeMonths: 24,
  retainCheckInMonths: 24,
  retainMailDays: null,
}

async function keep(more: Partial<typeof settings> | Record<string, null> = {}) {
  const done: Record<string, string>[] = []
  await keepMonths({
    db: sale.db,
    settings: { ...settings, ...more },
    onDone: (facts) => void done.push(facts),
  })
  return done
}

async function sell(headers = sale.channel): Promise<{ paymentId: string; ticketId: string }> {
  const order = { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] }
  const { payment_id, tickets } = await mustCheckOut(sale, order, headers)
  await settlePaymentById(sale.db, payment_id, paidOutcome(payment_id))
  return { paymentId: payment_id, ticketId: tickets[0]?._id ?? '' }
}

const inMonths = (count: number) => {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + count, 1))
}
const nameOf = (table: string, start: Date) => `${table}_${start.toISOString().slice(0, 7).replace('-', '_')}`

test('partitions are made three months ahead, also where rows of the month are written already', async () => {
  const late = inMonths(3)
  for (const table of monthlyTables) {
    expect((await partitionsOf(sale, table)).at(-1)).toBe(nameOf(table, late))
    await runSql(sale.db, `drop table ${nameOf(table, late)}, ${nameOf(table, inMonths(2))}`)
  }
  await runSql(
    sale.db,
    `insert into changes (id, type, subject_id, sequence, organization_id, data)
    values ('${idsFrom('chg', late.getTime() + 1_000)}', 'rate.available', 'rate_1', 1, 'org_1', '{}')`,
  )
  expect(await findOpenWork(sale.db, 5_000)).toMatchObject([
    { name: 'rows that belong to no month', count: 1 },
  ])
  const made = await keep()
  expect(made).toHaveLength(2 * monthlyTables.length)
  expect(await keep()).toEqual([])
  expect(await runSql(sale.db, `select id from ${nameOf('changes', late)}`)).toHaveLength(1)
  expect(await findOpenWork(sale.db, 5_000)).toEqual([])
})

test('the missing partition of the next month needs a person', async () => {
  const names = await partitionsOf(sale, 'check_ins')
  for (const name of names.slice(1)) await runSql(sale.db, `drop table ${name}`)
  expect(await findOpenWork(sale.db, 5_000)).toEqual([])
  await runSql(sale.db, `alter table ${names[0]} rename to ${nameOf('check_ins_until', inMonths(0))}`)
  expect(await findOpenWork(sale.db, 5_000)).toMatchObject([
    { name: 'tables without a partition for the next month', count: 1 },
  ])
})

test('old changes are dropped: sequences go on, and cursors at the end are known', async () => {
  const { ticketId } = await sell()
  await assignPositions(sale.db)
  await addOldMonth(sale, 'changes')
  await ageChanges(sale)
  const { cursors } = await readChangesPage(sale, sale.channel)
  const ofIntegration = await readChanges(sale, sale.integration.v2)
  expect(cursors).toHaveLength(2)
  expect(await keep({ retainChangeMonths: null })).toEqual([])
  expect(await keep()).toEqual([{ dropped: oldPartition('changes') }])
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
  expect(await keep()).toEqual([])
})

test('the cursor of a channel at its end is known after its month was dropped, though another sold later in it', async () => {
  await sell()
  await assignPositions(sale.db)
  await sell(await channelHeaders(sale.db, 'org_1'))
  await assignPositions(sale.db)
  await addOldMonth(sale, 'changes')
  await ageChanges(sale)
  const { end } = await readChanges(sale, sale.channel)
  expect(await keep()).toEqual([{ dropped: oldPartition('changes') }])
  expect(await cursorRefusal(sale, sale.channel, end ?? '')).toBeUndefined()
})

test('the sequence goes on in the next month, and after clocks that differ', async () => {
  const { ticketId } = await sell()
  await addOldMonth(sale, 'changes')
  await runSql(
    sale.db,
    `update changes set id = '${idsFrom('chg', Date.now() - 3_600_000)}' || substr(id, 15)`,
  )
  await updateAttendee(sale, ticketId, { fullName: 'Berta Öz' })
  await updateAttendee(sale, ticketId, { fullName: 'Berta Ö' })
  const { nodes } = await readChanges(sale, sale.channel)
  expect(nodes.filter(({ subjectId }) => subjectId === ticketId).map(({ sequence }) => sequence)).toEqual([
    1, 2, 3,
  ])
})

test('nothing that waits is dropped', async () => {
  const own = webhooksOf(sale)
  const webhook = await own.register('https://receiver.example/hook')
  await sell()
  for (const table of ['webhook_deliveries', 'changes'] as const) await addOldMonth(sale, table)
  await ageChanges(sale)
  // Deliveries wait for the receiver, and changes for a position.
  expect(await keep()).toEqual([])
  await runSql(sale.db, `update webhook_deliveries set status = 'delivered', delivered_at = now()`)
  expect(await keep({ retainWebhookDays: null })).toEqual([])
  expect(await keep()).toEqual([{ dropped: oldPartition('webhook_deliveries') }])
  expect((await own.deliveries(webhook.id))?.nodes).toEqual([])
  await assignPositions(sale.db)
  expect(await keep()).toEqual([{ dropped: oldPartition('changes') }])
})

test('what waits for a disabled webhook goes with its month', async () => {
  const own = webhooksOf(sale)
  await own.register('https://receiver.example/hook')
  await sell()
  await addOldMonth(sale, 'webhook_deliveries')
  await ageChanges(sale)
  await sale.db.execute(sql`update webhooks set status = 'disabled', disabled_reason = 'GONE'`)
  expect(await keep()).toEqual([{ dropped: oldPartition('webhook_deliveries') }])
})

test('a nonce is known in later months, for as long as its scan is kept', async () => {
  const { ticketId } = await sell()
  const scan = { ticketId, nonce: 'nonce_old' }
  const scanned = (given: typeof scan & { direction?: 'OUT' }) => scanTicket(sale, given, sale.integration.v2)
  expect(await scanned(scan)).toMatchObject({ result: 'OK', idempotentReplayed: false })
  await addOldMonth(sale, 'check_ins')
  await ageRows(sale, 'check_ins')
  expect(await scanned(scan)).toMatchObject({ result: 'OK', idempotentReplayed: true })
  expect(await scanned({ ...scan, direction: 'OUT' })).toMatchObject({
    errors: [{ code: 'IDEMPOTENCY_KEY_REUSED' }],
  })
  expect(await keep()).toEqual([{ dropped: oldPartition('check_ins') }])
  expect(await scanned(scan)).toMatchObject({ result: 'ALREADY_ENTERED', idempotentReplayed: false })
})

test('nonces are locked at the turn of a month, and at no other time', () => {
  const times = ['01-31T23:49:59', '01-31T23:50:01', '02-01T00:09:59', '02-01T00:10:01']
  const isAtTurn = times.map((time) => isAtTurnOfMonth(new Date(`2027-${time}Z`)))
  expect(isAtTurn).toEqual([false, true, true, false])
})

test('an event of the provider is applied once, in whichever month it comes again', async () => {
  const { payment_id: id } = await mustCheckOut(sale, {
    ticket_rate_id: 'rate_1',
    tickets: [anEntry('price_1')],
  })
  const about = {
    kind: 'session',
    id: 'cs_1',
    paymentId: id,
    organizationId: 'org_1',
    outcome: paidOutcome(id),
  } as const
  const event = { id: 'evt_1', type: 'paid', about }
  expect(await receiveEvent(sale.db, 'sandbox', event)).toBe('done')
  // No event is older than its payment.
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000)
  await addOldMonth(sale, 'provider_events', hoursAgo(1))
  await ageRows(sale, 'provider_events', hoursAgo(2))
  expect(await receiveEvent(sale.db, 'sandbox', event)).toBe('repeated')
  expect(await keep()).toEqual([{ dropped: oldPartition('provider_events') }])
  // Its payment is paid already.
  expect(await receiveEvent(sale.db, 'sandbox', event)).toBe('done')
  expect(await brokenInvariants(sale.db)).toEqual([])
})

test('the job works once an hour, and a minute after it failed', async () => {
  const clock = mockClock({ isFrozen: true })
  const job = createMonthKeeper({ db: sale.db, settings })
  const runs = async (seconds: number) => {
    clock.advance(seconds * 1000)
    sale.statements.reset()
    await job().catch(() => {})
    return sale.statements.length > 0
  }
  expect([await runs(0), await runs(3_599), await runs(2)]).toEqual([true, false, true])
  await runSql(sale.db, 'alter table payments rename to payments_elsewhere')
  await runSql(sale.db, `drop table ${(await partitionsOf(sale, 'provider_events')).at(-1)}`)
  expect([await runs(3_601), await runs(59), await runs(2)]).toEqual([true, false, true])
  clock.restore()
})
