import { readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eq, sql } from 'drizzle-orm'
import { beforeEach, expect, test } from 'vitest'
import { idempotencyKeys, payments, providerEvents } from '../../../src/domain/payment/table.ts'
import { applyRetention, createRetention, deleteOldMails } from '../../../src/domain/retention/retain.ts'
import type { RetentionConfig } from '../../../src/domain/retention/settings.ts'
import { anonymizedEvents, retentionTurns } from '../../../src/domain/retention/table.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { countersOf } from '../../support/checkouts.ts'
import { scanTicket } from '../../support/door.ts'
import { shared } from '../../support/harness.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import { mockClock } from '../../support/mock-clock.ts'
import {
  endEvent,
  mailsWith,
  openWalkedSale,
  tablesWith,
  traces,
  zenobia,
} from '../../support/personal-data.ts'
import { cancelPayment, ticketRow } from '../../support/refunds.ts'
import { holdTickets, ticketOf } from '../../support/tickets.ts'

// Data that goes by itself once it is old enough.

const sale = shared(openWalkedSale)
beforeEach(() => sale.db.update(retentionTurns).set({ dueAt: sql`now()` }))

const byDefault = {
  retainUnpaidDays: 30,
  retainPersonalMonths: 24,
  retainWebhookDays: 30,
  retainProviderEventDays: 90,
  retainChangeMonths: 24,
  retainCheckInMonths: 24,
  retainMailDays: 30,
}

/** Runs a job once, and returns what it reports. */
async function runOnce(job: typeof deleteOldMails, settings: Partial<RetentionConfig> = {}) {
  const done: Record<string, number | string>[] = []
  await job({
    db: sale.db,
    settings: { ...byDefault, ...settings },
    mailFolder: sale.folder,
    onDone: (facts) => void done.push(facts),
    stopping: new AbortController().signal,
  })
  return done
}

async function writeOldMail(name: string): Promise<void> {
  await writeFile(join(sale.folder, name), '')
  await utimes(join(sale.folder, name), 0, 0)
}

// Leaves the time of the last change, which lists of paid tickets have as well.
const age = (days: number) =>
  sale.db
    .update(tickets)
    .set({ createdAt: sql`now() - ${days} * interval '1 day'`, updatedAt: sql`${tickets.updatedAt}` })
const countOf = async (table: typeof payments | typeof tickets) =>
  (await sale.db.select({ id: table.id }).from(table)).length

test('what is young stays', async () => {
  await age(29)
  const count = await countOf(tickets)
  expect(await runOnce(applyRetention)).toEqual([])
  expect(await runOnce(deleteOldMails)).toEqual([])
  expect(await countOf(tickets)).toBe(count)
})

test('unpaid checkouts are deleted, and nothing that was paid or may still be', async () => {
  const open = await holdTickets(sale, { entry: zenobia })
  const key = { 'idempotency-key': 'left' }
  const left = await holdTickets(sale, { headers: key })
  const inSession = await holdTickets(sale)
  for (const { payment_id } of [left, inSession]) await cancelPayment(sale, payment_id)
  await sale.db
    .update(payments)
    .set({ sessionOpen: true, sessionId: 'cs_1' })
    .where(eq(payments.id, inSession.payment_id))
  await sale.db.insert(providerEvents).values({
    organizationId: 'org_1',
    provider: 'stripe',
    id: 'evt_left',
    type: 'expired',
    paymentId: left.payment_id,
  })
  const before = [await countOf(payments), await countOf(tickets)]
  const counters = await countersOf(sale)
  await age(31)
  expect(await runOnce(applyRetention)).toEqual([{ organization: 'org_1', unpaid: 2, attendees: 0 }])
  expect([await countOf(payments), await countOf(tickets)]).toEqual(before.map((count) => count - 2))
  expect(await ticketRow(sale, ticketOf(sale.walk.unpaid))).toBeUndefined()
  expect(await ticketRow(sale, ticketOf(left))).toBeUndefined()
  expect((await ticketRow(sale, ticketOf(open)))?.status).toBe('held')
  expect((await ticketRow(sale, ticketOf(inSession)))?.status).toBe('expired')
  const keys = await sale.db
    .select()
    .from(idempotencyKeys)
    .where(eq(idempotencyKeys.paymentId, left.payment_id))
  expect(keys).toEqual([])
  expect(await countersOf(sale)).toEqual(counters)
  await sale.db.update(payments).set({ sessionOpen: false }).where(eq(payments.id, inSession.payment_id))
  await cancelPayment(sale, open.payment_id)
  expect(await brokenInvariants(sale.db)).toEqual([])
  const page = await sale.rest('GET', new URL(left.payment_url).pathname)
  expect(page.statusCode).toBe(404)
})

test('an unpaid checkout that was scanned is anonymized and kept', async () => {
  const scanned = await holdTickets(sale, { entry: zenobia })
  await cancelPayment(sale, scanned.payment_id)
  await scanTicket(sale, { ticketId: ticketOf(scanned), force: true }, sale.integration.v2)
  await age(31)
  expect(await runOnce(applyRetention)).toMatchObject([{ attendees: 1 }])
  expect(await ticketRow(sale, ticketOf(scanned))).toMatchObject({ email: 'anonymized', status: 'expired' })
  // Another turn has nothing left to do.
  await sale.db.update(retentionTurns).set({ dueAt: sql`now()` })
  expect(await runOnce(applyRetention)).toEqual([])
})

test('attendees are anonymized two years after the event, once', async () => {
  await endEvent(sale, 23)
  expect(await runOnce(applyRetention)).toEqual([])
  await endEvent(sale, 25)
  expect(await runOnce(applyRetention, { retainPersonalMonths: null })).toEqual([])
  await sale.db.update(retentionTurns).set({ dueAt: sql`now()` })
  const { length } = await sale.db.select().from(tickets).where(sql`email <> 'anonymized'`)
  expect(length).toBeGreaterThan(7)
  expect(await runOnce(applyRetention)).toEqual([{ organization: 'org_1', unpaid: 0, attendees: length }])
  await sale.db.execute(sql`analyze`)
  expect(await tablesWith(sale, [...traces, 'berta', 'núñez'])).toEqual([])
  expect(await mailsWith(sale.folder, traces)).toEqual([])
  expect(await brokenInvariants(sale.db)).toEqual([])
  expect(await sale.db.select().from(anonymizedEvents)).toMatchObject([{ eventId: 'evt_1' }])
  // The next turn doesn't read its tickets.
  await sale.db.update(retentionTurns).set({ dueAt: sql`now()` })
  sale.statements.reset()
  expect(await runOnce(applyRetention, { retainUnpaidDays: null })).toEqual([])
  expect(sale.statements.filter((text) => text.includes('"tickets"'))).toEqual([])
})

test('an event that was moved to a later date is looked at again', async () => {
  await endEvent(sale, 24.5)
  await sale.db
    .update(tickets)
    .set({ email: zenobia.email })
    .where(eq(tickets.id, ticketOf(sale.walk.full)))
  expect(await runOnce(applyRetention)).toMatchObject([{ attendees: 1 }])
})

test('a turn is taken by one process, and the next comes an hour later', async () => {
  await runOnce(applyRetention)
  sale.statements.reset()
  await runOnce(applyRetention)
  expect(sale.statements).toHaveLength(2)
  const [turn] = await sale.db
    .select({ isLater: sql<boolean>`due_at > now() + interval '59 minutes'` })
    .from(retentionTurns)
  expect(turn).toEqual({ isLater: true })
  // Claimed before the clock was set back.
  await sale.db.update(retentionTurns).set({ dueAt: sql`now() + interval '5 hours'` })
  sale.statements.reset()
  await runOnce(applyRetention)
  expect(sale.statements.length).toBeGreaterThan(2)
})

test('the job looks each minute, and deletes old mails each hour', async () => {
  const clock = mockClock({ isFrozen: true })
  const mail = 'dlv_01arz3ndektsv4rrffq69g5fav.eml'
  const job = createRetention({ db: sale.db, settings: byDefault, mailFolder: sale.folder })
  const statementsAfter = async (seconds: number) => {
    clock.advance(seconds * 1000)
    await sale.db.update(retentionTurns).set({ dueAt: sql`now() + interval '1 hour'` })
    sale.statements.reset()
    await writeOldMail(mail)
    await job(new AbortController().signal)
    return (await readdir(sale.folder)).includes(mail) ? sale.statements.length : 'both'
  }
  expect(await statementsAfter(59)).toBe(0)
  expect(await statementsAfter(2)).toBe('both')
  expect(await statementsAfter(2)).toBe(0)
  expect(await statementsAfter(60)).toBe(2)
  expect(await statementsAfter(3600)).toBe('both')
  clock.restore()
})

test('a process that leaves stops and gives its turn back', async () => {
  const stopping = AbortSignal.abort()
  sale.statements.reset()
  await applyRetention({ db: sale.db, settings: byDefault, mailFolder: sale.folder, stopping })
  expect(sale.statements.filter((text) => text.startsWith('update'))).toEqual([])
})

test('old mails are deleted', async () => {
  const files = ['dlv_01arz3ndektsv4rrffq69g5fav.eml', 'dlv_01arz3ndektsv4rrffq69g5faw.eml.part', 'notes.eml']
  for (const file of files) await writeOldMail(file)
  expect(await runOnce(deleteOldMails, { retainMailDays: null })).toEqual([])
  expect(await runOnce(deleteOldMails)).toEqual([{ mails: 2 }])
  expect(await readdir(sale.folder)).toContain('notes.eml')
  expect(await runOnce(deleteOldMails)).toEqual([])
})
