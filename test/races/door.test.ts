import { asc, eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changes } from '../../src/domain/change/table.ts'
import { aLargeRate, openTwoDoors, type Redemption, redeem, type Scan, scanTicket } from '../support/door.ts'
import { aSupplement } from '../support/factories.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { cancelTicket, refusalCodes, ticketRow } from '../support/refunds.ts'
import type { Sale } from '../support/sale.ts'
import { buyTickets, ticketOf } from '../support/tickets.ts'

// Scanners and bars of two gateways, on a database with many connections.

const admits = 5
const drinks = 7

const rate = aLargeRate('1', {
  admits,
  supplements: [aSupplement({ _id: 'sup_1', product_quantity: drinks })],
})
let doors: Awaited<ReturnType<typeof openTwoDoors>>
let sale: Sale
beforeAll(async () => {
  doors = await openTwoDoors(rate)
  sale = doors.sale
})
afterAll(() => doors?.close())

const deskOf = (index: number) => doors.deskOf(index)

const times = <T>(count: number, run: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)))

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)
const okOf = <Result extends { outcome: string }>(answers: Result[]) =>
  answers.filter(({ outcome }) => outcome === 'OK')
const outcomesOf = (answers: { outcome: string }[]) =>
  [...new Set(answers.map(({ outcome }) => outcome))].sort()

const buy = async (count = 1) => {
  const checkout = await buyTickets(sale, { count, entry: { supplements: [{ supplement_id: 'sup_1' }] } })
  return checkout.tickets.map((_, index) => ticketOf(checkout, index))
}

async function changesOf(id: string, type: string) {
  const rows = await sale.db
    .select()
    .from(changes)
    .where(eq(changes.subjectId, id))
    .orderBy(asc(changes.sequence))
  expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map((_, index) => index + 1))
  return rows.filter((row) => row.type === type).map(({ data }) => data)
}

test('two scanners that let groups in at once never let in more than a ticket admits', async () => {
  for (const ticketId of await buy(4)) {
    const people = [1, 3, 2, 1, 2, 1, 3, 1, 1, 1, 6]
    const answers = await times(people.length, (index) =>
      scanTicket(deskOf(index), { ticketId, people: people[index] ?? 1 }),
    )
    const admitted = okOf(answers)
    expect(outcomesOf(answers)).toEqual(['NO_ENTRIES_LEFT', 'OK'])
    // Single people fill what groups leave.
    expect(sum(admitted.map((scan) => scan.people))).toBe(admits)
    expect((await ticketRow(sale, ticketId))?.entered).toBe(admits)
    const running = await changesOf(ticketId, 'ticket.entered')
    expect(running).toHaveLength(admitted.length)
    expect(running.map(({ enter }) => enter)).toEqual(
      running.map((_, index) => sum(running.slice(0, index + 1).map((change) => Number(change.people)))),
    )
    expect(admitted.map(({ inside }) => inside).sort()).toEqual(running.map(({ enter }) => enter))
  }
})

test('people who come and go at once are counted one by one', async () => {
  const [ticketId = ''] = await buy()
  await scanTicket(sale, { ticketId, people: 3 })
  const answers = await times(24, (index) =>
    scanTicket(deskOf(index >> 1), {
      ticketId,
      people: 1 + (index % 3),
      direction: index % 2 ? 'IN' : 'OUT',
      force: index % 8 === 7,
    }),
  )
  for (const { inside } of answers) {
    expect(inside).toBeGreaterThanOrEqual(0)
    expect(inside).toBeLessThanOrEqual(admits)
  }
  const entered = (await ticketRow(sale, ticketId))?.entered ?? -1
  expect(entered).toBeGreaterThanOrEqual(0)
  expect(entered).toBeLessThanOrEqual(admits)
})

test('one scan of a group that is sent many times at once counts once', async () => {
  const [ticketId = ''] = await buy()
  const scan = { ticketId, people: 2, idempotencyKey: 'group' }
  const answers: Scan[] = await times(12, (index) => scanTicket(deskOf(index), scan))
  expect(outcomesOf(answers)).toEqual(['OK'])
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1)
  expect((await ticketRow(sale, ticketId))?.entered).toBe(2)
})

test('many bars that hand out the last drinks at once never hand out more than were bought', async () => {
  for (const ticketId of await buy(4)) {
    const counts = [2, 1, 3, 1, 2, 1, 1, 4, 1, 1, 1, 1, 2, 1, 8]
    const answers: Redemption[] = await times(counts.length, (index) =>
      redeem(deskOf(index), { ticketId, supplementId: 'sup_1', count: counts[index] }),
    )
    expect(outcomesOf(answers)).toEqual(['OK', 'USED_UP'])
    const handedOut = okOf(answers)
    expect(sum(handedOut.map(({ redeemed }) => redeemed))).toBe(drinks)
    expect((await ticketRow(sale, ticketId))?.supplements[0]?.used).toBe(drinks)
    for (const [index, { outcome, redeemed, left }] of answers.entries())
      if (outcome === 'USED_UP') {
        expect(redeemed).toBe(0)
        expect(left).toBeLessThan(counts[index] ?? 0)
      }
    const running = await changesOf(ticketId, 'ticket.supplement_redeemed')
    expect(running.map(({ left }) => left)).toEqual(
      running.map(
        (_, index) => drinks - sum(running.slice(0, index + 1).map((change) => Number(change.redeemed))),
      ),
    )
  }
})

test('one redemption that is sent many times at once counts once, for either ticket', async () => {
  const [one = '', two = ''] = await buy(2)
  const round = { supplementId: 'sup_1', idempotencyKey: 'round', count: 2 }
  const answers = await times(12, (index) =>
    redeem(deskOf(index), { ...round, ticketId: index % 3 ? one : two }),
  )
  const refused = answers.filter(({ errors }) => errors)
  for (const { errors } of refused)
    expect(errors).toEqual([{ code: 'IDEMPOTENCY_KEY_REUSED', path: 'idempotencyKey' }])
  expect([4, 8]).toContain(refused.length)
  const fresh = answers.filter(({ errors, replayed }) => !errors && !replayed)
  expect(fresh).toHaveLength(1)
  const rows = await Promise.all([one, two].map((id) => ticketRow(sale, id)))
  expect(sum(rows.map((row) => row?.supplements[0]?.used ?? 0))).toBe(2)
})

test('a cancellation and a redemption at once do one or the other', async () => {
  const ids = await buy(12)
  await times(ids.length, async (index) => {
    const ticketId = ids[index] ?? ''
    const bar = () => redeem(deskOf(index), { ticketId, supplementId: 'sup_1' })
    const first = index % 2 ? bar() : null
    const cancelling = cancelTicket(sale, ticketId)
    const { outcome } = await (first ?? bar())
    const isServed = outcome === 'OK'
    expect(refusalCodes(await cancelling)).toEqual(isServed ? ['SUPPLEMENT_REDEEMED'] : [])
    expect(outcome).toBe(isServed ? 'OK' : 'CANCELLED')
    const { status, supplements } = (await ticketRow(sale, ticketId)) ?? {}
    expect([status, supplements?.[0]?.used]).toEqual(isServed ? ['active', 1] : ['cancelled', 0])
  })
})

test('tickets, redemptions and counters agree after all of it', async () => {
  expect(await brokenInvariants(sale.db)).toEqual([])
})
