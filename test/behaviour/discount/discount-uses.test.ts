// Runs in: postgres, slow-forms

import { sql } from 'drizzle-orm'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { processDueRefunds } from '../../../src/domain/sale/refund/request-provider-refund.ts'
import { expireHolds } from '../../../src/domain/sale/release/expire-holds.ts'
import { mustCheckOut } from '../../support/checkouts.ts'
import { amountsOf, withNumbers } from '../../support/contract-input.ts'
import {
  aDiscount,
  importDiscounts,
  lapseAll,
  refusedOnBoth,
  times,
  usesOf,
  withCode,
} from '../../support/discounts.ts'
import { aCatalogue, anEvent, anOrganization, aRateNamed } from '../../support/factories.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import {
  cancelPayment,
  cancelTicket,
  paymentRow,
  refundRows,
  refundTicket,
  refusalCodes,
  ticketRow,
} from '../../support/refunds.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { settlePaymentById } from '../../support/settle-payment.ts'
import { endedOutcome, stubProvider } from '../../support/stub-provider.ts'
import { payFor, ticketOf } from '../../support/tickets.ts'

// Uses of a discount are counted as places are: held, sold and freed with the tickets.

const catalogue = aCatalogue({
  organizations: [
    anOrganization({
      discounts: [
        aDiscount({ code: 'half', percentage: 50, quantity: 2 }),
        aDiscount({ code: 'all', percentage: 100, quantity: 1 }),
      ],
    }),
  ],
  events: [
    anEvent({
      ticket_rates: [1, 2].map((number) => aRateNamed(number, {}, { price: 20, fee_quantity: 10 })),
    }),
  ],
})

const provider = stubProvider()
const open: Sale[] = []
let sale: Sale
beforeEach(async () => {
  sale = await openSale(catalogue, { provider })
  open.push(sale)
})
afterAll(() => Promise.all(open.map((sale) => sale.close())))

const half = (count = 1, rate = 'rate_1') =>
  withCode('half', rate, times(count, rate.replace('rate', 'price')))

async function pay(body: ReturnType<typeof half>) {
  const checkout = await mustCheckOut(sale, body)
  expect(await payFor(sale, checkout)).toBe('paid')
  return checkout
}

const usedUp = ['DISCOUNT_USED_UP discount_code']

test('a checkout holds uses, and a payment sells them', async () => {
  const checkout = await mustCheckOut(sale, half(2))
  expect(await usesOf(sale, 'dsc_half')).toEqual({ held: 2, sold: 0 })
  await payFor(sale, checkout)
  expect(await usesOf(sale, 'dsc_half')).toEqual({ held: 0, sold: 2 })
  expect(await brokenInvariants(sale.db)).toEqual([])
})

test.each(['failed', 'cancelled'] as const)('a payment that is %s frees its uses', async (status) => {
  const { payment_id } = await mustCheckOut(sale, half(2))
  expect((await refusedOnBoth(sale, half())).problems).toEqual(usedUp)
  expect(await settlePaymentById(sale.db, payment_id, endedOutcome(status))).toBe(status)
  expect(await usesOf(sale, 'dsc_half')).toEqual({ held: 0, sold: 0 })
  await mustCheckOut(sale, half(2))
})

test('a cancelled checkout frees its uses', async () => {
  const { payment_id } = await mustCheckOut(sale, half(2))
  await cancelPayment(sale, payment_id)
  expect(await usesOf(sale, 'dsc_half')).toEqual({ held: 0, sold: 0 })
})

test('the job frees the uses of overdue holds', async () => {
  await mustCheckOut(sale, half(2))
  await lapseAll(sale)
  expect(await expireHolds(sale.db, 10)).toBe(1)
  expect(await usesOf(sale, 'dsc_half')).toEqual({ held: 0, sold: 0 })
})

test.each(['rate_1', 'rate_2'])(
  'a checkout that finds a discount used up expires overdue holds of %s at once',
  async (rate) => {
    const overdue = await mustCheckOut(sale, half(2, rate))
    expect((await refusedOnBoth(sale, half())).problems).toEqual(usedUp)
    await lapseAll(sale)
    await mustCheckOut(sale, half(2))
    expect(await paymentRow(sale, overdue)).toMatchObject({ status: 'expired' })
    expect(await usesOf(sale, 'dsc_half')).toEqual({ held: 2, sold: 0 })
  },
)

test('a cancelled ticket frees its use, and a refunded one does not', async () => {
  const { tickets } = await pay(half(2))
  const [first = '', second = ''] = tickets.map(({ _id }) => _id)
  expect(refusalCodes(await refundTicket(sale, first))).toEqual([])
  expect(await usesOf(sale, 'dsc_half')).toEqual({ held: 0, sold: 2 })
  expect(refusalCodes(await cancelTicket(sale, second))).toEqual([])
  expect(await usesOf(sale, 'dsc_half')).toEqual({ held: 0, sold: 1 })
  await mustCheckOut(sale, half())
  expect(await brokenInvariants(sale.db)).toEqual([])
})

test('a refund, and what the organization keeps, come from the discounted total', async () => {
  const checkout = await pay(half())
  const id = ticketOf(checkout)
  const query = `query ($id: ID!) { ticket(id: $id) { amounts { ${amountsOf('discount')} }
    settlement { ${amountsOf('net', 'refunded', 'paid', 'commission')} } } }`
  const read = async () =>
    withNumbers((await sale.graphql<{ ticket: object }>(query, { id }, sale.integration.v2)).data?.ticket)
  // 10 of 20, a fee of 1, and a commission of 0.50.
  expect(await read()).toEqual({
    amounts: { discount: 10 },
    settlement: { net: 10.5, refunded: 0, paid: 11, commission: 0.5 },
  })
  expect(refusalCodes(await refundTicket(sale, id, { amount: 11.01 }))).toEqual(['REFUND_TOO_HIGH amount 11'])
  expect(refusalCodes(await refundTicket(sale, id))).toEqual([])
  expect(await read()).toEqual({
    amounts: { discount: 10 },
    settlement: { net: 0, refunded: 11, paid: 11, commission: 0 },
  })
  const invoices = await sale.db.execute(sql`select amount from invoices order by kind desc`)
  expect(JSON.stringify(invoices)).toMatch(/1100.*1100/)
})

test('late money takes the uses again', async () => {
  const late = await mustCheckOut(sale, half(2))
  await lapseAll(sale)
  await expireHolds(sale.db, 10)
  expect(await payFor(sale, late)).toBe('paid')
  expect(await usesOf(sale, 'dsc_half')).toEqual({ held: 0, sold: 2 })
  expect((await refusedOnBoth(sale, half())).problems).toEqual(usedUp)
})

test('late money is refunded if the uses are taken, and takes no place either', async () => {
  const late = await mustCheckOut(sale, half(2))
  await lapseAll(sale)
  await expireHolds(sale.db, 10)
  const faster = await pay(half(1, 'rate_2'))
  await payFor(sale, late)
  expect(await refundRows(sale, late)).toMatchObject([{ reason: 'LATE_NO_CAPACITY', amount: 2200 }])
  await processDueRefunds(sale.db, provider)
  expect(await paymentRow(sale, late)).toMatchObject({ status: 'refunded' })
  expect(await ticketRow(sale, ticketOf(late))).toMatchObject({ status: 'expired' })
  expect(await ticketRow(sale, ticketOf(faster))).toMatchObject({ status: 'active' })
  expect(await usesOf(sale, 'dsc_half')).toEqual({ held: 0, sold: 1 })
  expect(await usesOf(sale, 'rate_1')).toEqual({ held: 0, sold: 0 })
  expect(await brokenInvariants(sale.db)).toEqual([])
})

test('the last use of a discount of everything is sold once', async () => {
  const all = withCode('all')
  const answers = await Promise.all(
    Array.from({ length: 5 }, () =>
      sale.rest('POST', '/tickets/checkout', { headers: sale.channel, body: all }),
    ),
  )
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409, 409, 409, 409])
  expect(await usesOf(sale, 'dsc_all')).toEqual({ held: 0, sold: 1 })
})

test('a use is freed for others while a discount is taken out of the catalogue', async () => {
  const held = await mustCheckOut(sale, half())
  await importDiscounts(sale, [])
  expect((await refusedOnBoth(sale, half())).problems).toEqual(['DISCOUNT_UNKNOWN discount_code'])
  // A place that is held at that price may still be paid.
  expect(await payFor(sale, held)).toBe('paid')
  expect(await usesOf(sale, 'dsc_half')).toEqual({ held: 0, sold: 1 })
  await importDiscounts(sale, [aDiscount({ code: 'half', percentage: 50, quantity: 2 })])
  await mustCheckOut(sale, half())
  expect((await refusedOnBoth(sale, half())).problems).toEqual(usedUp)
})
