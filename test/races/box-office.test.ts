import { eq, sql } from 'drizzle-orm'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { invoices } from '../../src/domain/invoice/table.ts'
import { charges, payments } from '../../src/domain/payment/table.ts'
import { refunds } from '../../src/domain/refund/table.ts'
import { tickets } from '../../src/domain/ticket/table.ts'
import {
  aBuyer,
  aGuest,
  issueInvitations,
  mustSell,
  type OwnSale,
  problemsOf,
  sellAtBoxOffice,
} from '../support/box-office.ts'
import { anEntry, checkOut, countersOf } from '../support/checkouts.ts'
import { aCatalogue, anEvent, anOrganization, aPrice, aRate, aRateOf } from '../support/factories.ts'
import { createTestDatabase, startGateway } from '../support/harness.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { refundTicket, refusalCodes } from '../support/refunds.ts'
import { openSale, restProblems, type Sale } from '../support/sale.ts'
import { payFor } from '../support/tickets.ts'

// The door and the channels sell the same places at once, in two processes.

const places = 40

const catalogue = aCatalogue({
  organizations: [
    anOrganization({ discounts: [{ _id: 'dsc_1', code: 'FEW', name: 'Few', percentage: 50, quantity: 10 }] }),
  ],
  events: [
    anEvent({
      ticket_rates: [
        aRateOf(places),
        aRate({
          _id: 'rate_steps',
          prices: [
            aPrice({ _id: 'price_first', price: 10, quantity: 10 }),
            aPrice({ _id: 'price_then', price: 20 }),
          ],
          // Enough for all, so that guests never leave uses of the discount over.
          availability: { sold: 0, available: 100 },
        }),
      ],
    }),
  ],
})

let sale: Sale
let other: Sale
afterEach(async () => {
  expect(await brokenInvariants(sale.db)).toEqual([])
  await sale.close()
})

/** Opens two processes on one database. */
async function openTwo() {
  const database = await createTestDatabase()
  sale = await openSale(catalogue, { database })
  other = { ...sale, ...(await startGateway({ database })) }
  onTestFinished(async () => {
    await other.close()
    await database.drop()
  })
}

const at = (index: number) => (index % 2 ? other : sale)
const times = <T>(count: number, run: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)))

const rowsOf = (rate: string) =>
  sale.db.$count(tickets, sql`${tickets.ticketRateId} = ${rate} and ${tickets.status} in ('held', 'active')`)

const outcomeOf = (own: OwnSale) => problemsOf(own).join() || `sold ${own.tickets.length}`

test('buyers online, at the door and on the guest list take the last places, and none is sold twice', async () => {
  await openTwo()
  // No two ways of selling can take all places, and the three want more than there are.
  const buyers = 3 * 19
  const sellOnline = async (from: Sale) => {
    const answer = await checkOut(from, { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] })
    if (answer.statusCode !== 200) return restProblems(answer).join()
    const checkout = answer.json().data
    await payFor(from, checkout)
    return 'sold 1'
  }
  const ways = [
    sellOnline,
    async (from: Sale) =>
      outcomeOf(await sellAtBoxOffice(from, { ticketRateId: 'rate_1', tickets: [aBuyer('price_1')] })),
    async (from: Sale) =>
      outcomeOf(await issueInvitations(from, { ticketRateId: 'rate_1', guests: [aGuest()] })),
  ]
  const outcomes = await times(buyers, async (index) => ways[index % 3]?.(at(index)))
  expect(outcomes.filter((outcome) => outcome === 'sold 1')).toHaveLength(places)
  expect(
    outcomes.filter((outcome) =>
      /^SOLD_OUT (tickets|items\.0\.tickets|guests) 0$|^SOLD_OUT tickets$/.test(outcome ?? ''),
    ),
  ).toHaveLength(buyers - places)
  expect((await countersOf(sale)).rate_1).toEqual({ sold: places, held: 0 })
  expect(await rowsOf('rate_1')).toBe(places)
  const types = await sale.db.selectDistinct({ type: tickets.saleType }).from(tickets)
  expect(types.map(({ type }) => type).sort()).toEqual(['box_office', 'invitation', 'online'])
})

test('a price step and a discount are used up exactly, whoever sells', async () => {
  await openTwo()
  const outcomes = await times(90, async (index) =>
    index % 3 === 0
      ? (
          await checkOut(at(index), {
            ticket_rate_id: 'rate_steps',
            tickets: [anEntry('price_first')],
            discount_code: 'FEW',
          })
        ).statusCode === 200
      : index % 3 === 1
        ? !(
            await sellAtBoxOffice(at(index), {
              ticketRateId: 'rate_steps',
              tickets: [aBuyer('price_first')],
              discountCode: 'FEW',
            })
          ).errors
        : !(await issueInvitations(at(index), { ticketRateId: 'rate_steps', guests: [aGuest()] })).errors,
  )
  const counters = await countersOf(sale)
  const taken = (id: string) => (counters[id]?.sold ?? 0) + (counters[id]?.held ?? 0)
  expect(taken('dsc_1')).toBe(10)
  expect(taken('price_first')).toBe(10)
  expect(taken('rate_steps')).toBe(outcomes.filter(Boolean).length)
  expect(taken('rate_steps')).toBeLessThanOrEqual(40)
})

test('concurrent sales under one idempotency key in two processes sell once', async () => {
  await openTwo()
  const input = { ticketRateId: 'rate_1', tickets: [aBuyer('price_1')], idempotencyKey: 'till-1' }
  const answers = await times(30, (index) => sellAtBoxOffice(at(index), input))
  const inUse = answers.filter(
    (answer) => problemsOf(answer).join() === 'IDEMPOTENCY_KEY_IN_USE idempotencyKey',
  )
  const sold = answers.filter(({ errors }) => !errors)
  expect(inUse.length + sold.length).toBe(30)
  expect(sold.filter(({ replayed }) => !replayed)).toHaveLength(1)
  expect(new Set(sold.map(({ payment }) => payment.id)).size).toBe(1)
  expect([
    await sale.db.$count(payments),
    await sale.db.$count(charges),
    await sale.db.$count(invoices),
  ]).toEqual([1, 1, 1])
})

test('refunds by hand at once never give back more than was taken', async () => {
  await openTwo()
  const sold = await mustSell(sale)
  const id = sold.tickets[0]?.id ?? ''
  const answers = await times(20, (index) => refundTicket(at(index), id, { amount: 3 }))
  const refused = answers.filter(({ errors }) => errors)
  expect(answers.filter(({ refund }) => refund?.status === 'SUCCEEDED')).toHaveLength(7)
  expect(refused.flatMap(refusalCodes)).toEqual(Array.from({ length: 13 }, () => 'REFUND_TOO_HIGH amount 1'))
  const [sum] = await sale.db
    .select({ amount: sql<number>`sum(${refunds.amount})::integer` })
    .from(refunds)
    .where(eq(refunds.status, 'succeeded'))
  expect(sum?.amount).toBe(2100)
})
