// Runs in: postgres, slow-forms, citus

import { and, eq, inArray, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { expiries, isOfExpiry } from '../../../src/domain/payment/queue/table.ts'
import { payments } from '../../../src/domain/payment/table.ts'
import { sweepHolds } from '../../../src/domain/sale/release/expire-holds.ts'
import { anEntry, checkOut, mustCheckOut } from '../../support/checkouts.ts'
import { aDiscount } from '../../support/discounts.ts'
import { aCatalogue, anEvent, anOrganization, aPrice, aRate } from '../../support/factories.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import { inTestMode } from '../../support/modes.ts'
import { endHolds } from '../../support/queued-payments.ts'
import { restProblems, type Sale, sharedSale } from '../../support/sale.ts'
import { settlePaymentById } from '../../support/settle-payment.ts'

// Holds that ended, and that nobody has swept: a checkout ends as many as it needs.

const draws = 14
// The first is left to another test.
const numbers = Array.from({ length: draws + 1 }, (_, index) => index)

/** A rate of six places, with two prices of few, one of many, and a discount of few uses for it and another rate. */
const catalogue = aCatalogue({
  organizations: [
    anOrganization({
      discounts: numbers.map((n) => aDiscount({ code: `code_${n}`, percentage: 50, quantity: 3 })),
    }),
  ],
  events: [
    anEvent({
      ticket_rates: numbers.flatMap((n) => [
        aRate({
          _id: `rate_${n}`,
          slug: `rate-${n}`,
          availability: { sold: 0, available: 6 },
          max: 50,
          prices: [
            aPrice({ _id: `first_${n}`, price: 10, quantity: 3 }),
            aPrice({ _id: `second_${n}`, price: 20, quantity: 2 }),
            aPrice({ _id: `third_${n}`, price: 30 }),
          ],
        }),
        aRate({ _id: `other_${n}`, slug: `other-${n}`, prices: [aPrice({ _id: `price_${n}` })] }),
      ]),
    }),
    anEvent({
      ticket_rates: [
        aRate({
          _id: 'rate_many',
          availability: { sold: 0, available: 40 },
          max: 50,
          prices: [aPrice({ _id: 'price_many' }), aPrice({ _id: 'price_few', quantity: 1 })],
        }),
      ],
    }),
  ],
})

let inTest: Sale
const sale = sharedSale(catalogue)
beforeAll(async () => {
  inTest = await inTestMode(sale)
})

const body = (rate: string, prices: string[], code: string | null = null) => ({
  ticket_rate_id: rate,
  tickets: prices.map((price) => anEntry(price)),
  discount_code: code,
})
const countExpired = () => sale.db.$count(payments, eq(payments.status, 'expired'))

const aRequest = fc.record({
  isOther: fc.boolean(),
  prices: fc.array(fc.constantFrom('first', 'second', 'third'), { minLength: 1, maxLength: 4 }),
  withCode: fc.boolean(),
})
type Request = typeof aRequest extends fc.Arbitrary<infer Value> ? Value : never
const aState = fc.record({
  earlier: fc.array(
    fc.record({
      request: aRequest,
      isTest: fc.boolean(),
      end: fc.constantFrom('overdue', 'overdue', 'held'),
    }),
    { minLength: 2, maxLength: 6 },
  ),
  request: aRequest,
})

type State = typeof aState extends fc.Arbitrary<infer Value> ? Value : never

type Prices = Request['prices']
const request = (prices: Prices, more: Partial<Request> = {}): Request => ({
  isOther: false,
  withCode: false,
  ...more,
  prices,
})
const earlier = (end: 'overdue' | 'held', prices: Prices, more: Partial<Request> = {}) => ({
  request: request(prices, more),
  isTest: false,
  end,
})
const aFullRate = (end: 'overdue' | 'held'): State => ({
  earlier: [earlier(end, ['third', 'third', 'third']), earlier(end, ['third', 'third', 'third'])],
  request: request(['third', 'third']),
})
// Whoever asks for two of a price that has one left is refused, and not sold another one.
const aUsedUpPrice: State = {
  earlier: [earlier('overdue', ['third']), earlier('overdue', ['second'])],
  request: request(['second', 'second']),
}
const aUsedUpDiscount: State = {
  earlier: [
    earlier('overdue', ['third', 'third'], { withCode: true }),
    earlier('overdue', ['third'], { isOther: true, withCode: true }),
  ],
  request: request(['first', 'first'], { withCode: true }),
}

test('a checkout is refused only if it would be refused after a sweep', async () => {
  let n = 0
  const seen = { sold: 0, refused: 0, afterExpiry: 0 }
  const toBody = ({ isOther, prices, withCode }: Request) =>
    body(
      isOther ? `other_${n}` : `rate_${n}`,
      prices.map((price) => (isOther ? `price_${n}` : `${price}_${n}`)),
      withCode ? `code_${n}` : null,
    )
  await fc.assert(
    fc.asyncProperty(aState, async ({ earlier, request }) => {
      n += 1
      const overdue: string[] = []
      for (const { request, isTest, end } of earlier) {
        const answer = await checkOut(isTest ? inTest : sale, toBody(request))
        if (answer.statusCode === 200 && end === 'overdue') overdue.push(answer.json().data.payment_id)
      }
      if (overdue.length > 0) await endHolds(sale.db, inArray(payments.id, overdue))
      const before = await countExpired()
      const answer = await checkOut(sale, toBody(request))
      const hasSold = answer.statusCode === 200
      seen[hasSold ? 'sold' : 'refused']++
      if (hasSold && (await countExpired()) > before) seen.afterExpiry++
      await sweepHolds(sale.db)
      if (!hasSold) expect(restProblems(await checkOut(sale, toBody(request)))).toEqual(restProblems(answer))
    }),
    {
      numRuns: draws,
      endOnFailure: true,
      examples: [[aFullRate('overdue')], [aFullRate('held')], [aUsedUpPrice], [aUsedUpDiscount]],
    },
  )
  expect(await brokenInvariants(sale.db)).toEqual([])
  // Control: there were both, and some sold what overdue holds had taken up.
  expect(Math.min(seen.sold, seen.refused, seen.afterExpiry)).toBeGreaterThan(0)
})

test('a checkout ends as many overdue holds as it needs, and a few more, of what it lacks', async () => {
  const many = (count: number, price = 'price_many') =>
    body(
      'rate_many',
      Array.from({ length: count }, () => price),
    )
  const few = await mustCheckOut(sale, many(1, 'price_few'))
  await Promise.all(Array.from({ length: 39 }, () => mustCheckOut(sale, many(1))))
  expect(restProblems(await checkOut(sale, many(1)))).toEqual(['SOLD_OUT tickets'])
  const ofRate = sql`id in (select payment_id from tickets where ticket_rate_id = 'rate_many')`
  await endHolds(sale.db, and(eq(payments.status, 'pending'), ofRate) ?? sql`false`)
  const before = await countExpired()
  // Those at the price that is used up, too, however many others are overdue.
  await sale.db.execute(
    sql`update payments set expires_at = now() - interval '1 hour' where ${ofRate} and id <> ${few.payment_id}`,
  )
  await sale.db.execute(sql`update expiries set expires_at = payments.expires_at from payments
    where payments.organization_id = expiries.organization_id and payments.id = expiries.payment_id
      and expiries.expires_at <> payments.expires_at`)
  await mustCheckOut(sale, many(1, 'price_few'))
  expect((await countExpired()) - before).toBe(6)
  // Five places that those have left, and seven more.
  await mustCheckOut(sale, many(5))
  expect((await countExpired()) - before).toBe(6)
  await mustCheckOut(sale, many(7))
  expect((await countExpired()) - before).toBe(13)
  expect(await brokenInvariants(sale.db)).toEqual([])
})

test('a bank that takes a payment over keeps its places at all of its prices', async () => {
  const { payment_id } = await mustCheckOut(sale, body('rate_0', ['first_0', 'second_0', 'third_0']))
  await endHolds(sale.db, eq(payments.id, payment_id))
  await settlePaymentById(sale.db, payment_id, { kind: 'processing' })
  await sweepHolds(sale.db)
  const queued = await sale.db
    .select({ priceId: expiries.priceId, moved: sql<boolean>`${expiries.expiresAt} = ${payments.expiresAt}` })
    .from(payments)
    .innerJoin(expiries, isOfExpiry)
    .where(and(eq(payments.id, payment_id), eq(payments.status, 'processing')))
    .orderBy(expiries.priceId)
  expect(queued).toEqual(['first_0', 'second_0', 'third_0'].map((priceId) => ({ priceId, moved: true })))
})
