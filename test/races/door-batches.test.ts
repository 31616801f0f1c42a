import { asc, eq, inArray } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changes } from '../../src/domain/change/table.ts'
import { tickets } from '../../src/domain/ticket/table.ts'
import { aLargeRate, openTwoDoors, scanTicket, uploadScans } from '../support/door.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { waitForBlockedStatement } from '../support/lock-waits.ts'
import { cancelTicket } from '../support/refunds.ts'
import type { Sale } from '../support/sale.ts'
import { buyTickets, ticketOf } from '../support/tickets.ts'

// Batches of late scans against single ones, of two gateways, on a database with many connections.

const admits = 3

const rate = aLargeRate('1', {
  admits,
})
let doors: Awaited<ReturnType<typeof openTwoDoors>>
let sale: Sale
beforeAll(async () => {
  doors = await openTwoDoors(rate)
  sale = doors.sale
})
afterAll(() => doors?.close())

const deskOf = (index: number) => doors.deskOf(index)

const buy = async (count: number) => {
  const checkout = await buyTickets(sale, { count })
  return checkout.tickets.map((_, index) => ticketOf(checkout, index))
}
const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
const shuffled = <T>(items: T[], seed: number): T[] =>
  items
    .map((item, index): [number, T] => [(index * 7919 + seed * 104_729) % 1009, item])
    .sort(([one], [two]) => one - two)
    .map(([, item]) => item)

/** Checks that the changes of each ticket tell of no more people than it admits, one entry after another. */
async function expectRunning(ids: string[], admittedPeople: number) {
  const rows = await sale.db.select().from(tickets).where(inArray(tickets.id, ids))
  expect(rows.map(({ entered }) => entered)).toEqual(ids.map(() => admits))
  let people = 0
  for (const id of ids) {
    const recorded = await sale.db
      .select()
      .from(changes)
      .where(eq(changes.subjectId, id))
      .orderBy(asc(changes.sequence))
    const entries = recorded.filter(({ type }) => type === 'ticket.entered').map(({ data }) => data)
    let running = 0
    for (const data of entries) {
      running += Number(data.people)
      expect(data.enter).toBe(running)
    }
    expect(running).toBe(admits)
    people += running
  }
  expect(people).toBe(admittedPeople)
}

test('batches in opposite orders and single scans at once never let in more than the tickets admit', async () => {
  const ids = await buy(40)
  const batch = (seed: number) =>
    uploadScans(
      deskOf(seed),
      shuffled(ids, seed).map((ticketId, index) => ({ ticketId, scannedAt: ago(index % 7) })),
    )
  const batches = Array.from({ length: 6 }, (_, seed) => batch(seed))
  const singles = shuffled([...ids, ...ids, ...ids], 3).map((ticketId, index) =>
    scanTicket(deskOf(index), { ticketId }),
  )
  const answers = [...(await Promise.all(batches)).flat(), ...(await Promise.all(singles))]
  expect([...new Set(answers.map(({ outcome }) => outcome))].sort()).toEqual(['NO_ENTRIES_LEFT', 'OK'])
  const admitted = answers.filter(({ outcome }) => outcome === 'OK').length
  expect(admitted).toBe(ids.length * admits)
  await expectRunning(ids, admitted)
})

test('one batch that is sent many times at once, in pieces too, counts once', async () => {
  const ids = await buy(30)
  const scans = ids.map((ticketId) => ({ ticketId, idempotencyKey: `once-${ticketId}`, scannedAt: ago(3) }))
  const whole = Array.from({ length: 5 }, (_, seed) => uploadScans(deskOf(seed), shuffled(scans, seed)))
  const pieces = scans.map((scan, index) => scanTicket(deskOf(index), scan))
  const batches = await Promise.all(whole)
  const answers = [...batches.flat(), ...(await Promise.all(pieces))]
  expect(answers.map(({ outcome }) => outcome)).toEqual(answers.map(() => 'OK'))
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(ids.length)
  const rows = await sale.db.select().from(tickets).where(inArray(tickets.id, ids))
  expect(rows.map(({ entered }) => entered)).toEqual(ids.map(() => 1))
})

test('keys that several batches use for other tickets count one ticket each', async () => {
  const [ones, twos] = [await buy(20), await buy(20)]
  const batchOf = (ids: string[], seed: number) =>
    uploadScans(
      deskOf(seed),
      shuffled(
        ids.map((ticketId, index) => ({ ticketId, idempotencyKey: `shared-${index}` })),
        seed,
      ),
    )
  const answers = (
    await Promise.all([1, 2, 3, 4].map((seed) => batchOf(seed % 2 ? ones : twos, seed)))
  ).flat()
  const refused = answers.filter(({ errors }) => errors)
  for (const { errors } of refused) expect(errors).toMatchObject([{ code: 'IDEMPOTENCY_KEY_REUSED' }])
  const rows = await sale.db
    .select()
    .from(tickets)
    .where(inArray(tickets.id, [...ones, ...twos]))
  expect(rows.reduce((sum, { entered }) => sum + entered, 0)).toBe(20)
})

test('a late scan that waits for others of its ticket is decided after them', async () => {
  const [ticketId = ''] = await buy(1)
  const all = { ticketId, people: admits }
  const sent = await sale.db.transaction(async (tx) => {
    await tx.select().from(tickets).where(eq(tickets.id, ticketId)).for('update')
    const first = uploadScans(deskOf(0), [
      { ...all, scannedAt: ago(30) },
      { ...all, scannedAt: ago(10), direction: 'OUT' },
    ])
    await waitForBlockedStatement(sale.db)
    const second = uploadScans(deskOf(1), [{ ticketId, scannedAt: ago(20) }])
    await waitForBlockedStatement(sale.db, 2)
    return [first, second]
  })
  const answers = (await Promise.all(sent)).flat()
  expect(answers.map(({ outcome }) => outcome)).toEqual(['OK', 'OK', 'NO_ENTRIES_LEFT'])
})

test('a batch and cancellations at once do one or the other for each ticket', async () => {
  const ids = await buy(24)
  const cancelling = ids.map((id) => cancelTicket(sale, id))
  const answers = await uploadScans(
    deskOf(1),
    ids.toReversed().map((ticketId) => ({ ticketId })),
  )
  const outcomes = new Map(answers.map(({ ticket, outcome }) => [ticket?.id, outcome]))
  for (const [index, cancelled] of (await Promise.all(cancelling)).entries())
    expect(outcomes.get(ids[index])).toBe(cancelled.errors ? 'OK' : 'CANCELLED')
})

test('tickets, check-ins and counters agree after all of it', async () => {
  expect(await brokenInvariants(sale.db)).toEqual([])
})
