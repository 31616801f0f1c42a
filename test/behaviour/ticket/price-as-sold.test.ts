import { expect, test } from 'vitest'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import { anEntry, checkOut, checkOutOverGraphql, countersOf, mustCheckOut } from '../../support/checkouts.ts'
import { money, withNumbers } from '../../support/contract-input.ts'
import { aCatalogue, anEvent, aRateNamed } from '../../support/factories.ts'
import { refundTicket } from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { buyTickets, ticketOf } from '../../support/tickets.ts'

// Amounts that a buyer was shown, beside those of a catalogue that changes meanwhile, and of clients that compute in
// floating point.

const catalogue = (price: object) =>
  aCatalogue({
    events: [
      anEvent({
        _id: 'evt_1',
        ticket_rates: [
          aRateNamed('1', {}, { price: 20, fee_quantity: 10, ...price }),
          aRateNamed('2', {}, { price: 21.49, fee_quantity: 0 }),
        ],
      }),
    ],
  })

const sale = sharedSale(catalogue({}))

const one = { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] }
const five = { ticket_rate_id: 'rate_2', tickets: Array.from({ length: 5 }, () => anEntry('price_2')) }
const heldOf = async (id: string) => (await countersOf(sale))[id]?.held

const amount = '{ amount currency }'
const ticketPrice = async (id: string) => {
  const query = `{ ticket(id: "${id}") { price { id price ${amount} fee ${amount} total ${amount} }
    amounts { fees ${amount} total ${amount} } } }`
  return withNumbers((await sale.graphql<{ ticket: unknown }>(query, {}, sale.channel)).data?.ticket)
}

test('a ticket shows the price that it was sold at, whatever an import makes of it', async () => {
  const key = { 'idempotency-key': 'as-sold' }
  const bought = await mustCheckOut(sale, one, key)
  const shown = await ticketPrice(ticketOf(bought))
  expect(bought.tickets[0]?.price).toMatchObject({ price: 20, fee_type: 'percentage', fee_quantity: 10 })
  expect(shown).toMatchObject({ price: { price: 20, fee: 2, total: 22 }, amounts: { fees: 2, total: 22 } })

  await importCatalogue(sale.db, catalogue({ price: 35 }))
  expect(await ticketPrice(ticketOf(bought))).toEqual(shown)
  expect((await mustCheckOut(sale, one, key)).tickets).toEqual(bought.tickets)
  // Control: the next buyer pays more.
  const dearer = await mustCheckOut(sale, one)
  expect(dearer.tickets[0]?.price).toMatchObject({ _id: 'price_1', price: 35, fee_quantity: 10 })

  await importCatalogue(sale.db, catalogue({ fee_type: 'fixed', fee_quantity: 7 }))
  expect((await mustCheckOut(sale, one, key)).tickets[0]?.price).toMatchObject({
    ...{ _id: 'price_1', price: 20, fee_type: 'fixed', fee_quantity: 2 },
  })
  expect(await ticketPrice(ticketOf(dearer))).toMatchObject({
    ...{ price: { price: 35, fee: 3.5, total: 38.5 }, amounts: { fees: 3.5, total: 38.5 } },
  })
  await importCatalogue(sale.db, catalogue({}))
})

test('REST refuses a total that is higher than the expected one, and holds nothing', async () => {
  const held = await heldOf('rate_1')
  const answer = await checkOut(sale, { ...one, expected_total: 21.99 })
  expect([answer.statusCode, answer.json()]).toMatchObject([
    409,
    { code: 'TOTAL_INCREASED', errors: [{ path: 'expected_total', total_amount: 22 }] },
  ])
  expect(await heldOf('rate_1')).toBe(held)
  expect((await checkOut(sale, { ...one, expected_total: -1 })).json()).toMatchObject({ code: 'INVALID' })
})

test('a total that is lower than the expected one is a changed condition, on both surfaces', async () => {
  for (const [expected, isChanged] of [
    [22, false],
    [22.01, true],
    [38.5, true],
  ] as const) {
    expect(await mustCheckOut(sale, { ...one, expected_total: expected })).toMatchObject({
      ...{ conditions_changed: isChanged, total_amount: 22 },
    })
    expect(await checkOutOverGraphql(sale, one, { expectedTotal: money(expected) })).toMatchObject({
      ...{ conditionsChanged: isChanged, payment: { totalAmount: 22 } },
    })
  }
})

test('an expected total that a client computed in floating point is taken over REST, and over GraphQL by its decimals', async () => {
  const expected = 21.49 * 5
  expect(expected).toBeLessThan(107.45)
  expect(await mustCheckOut(sale, { ...five, expected_total: expected })).toMatchObject({
    ...{ total_amount: 107.45, conditions_changed: false },
  })
  for (const amount of ['107.45', 107.45, expected.toFixed(2)])
    expect(
      await checkOutOverGraphql(sale, five, { expectedTotal: { amount, currency: 'EUR' } }),
    ).toMatchObject({
      ...{ payment: { totalAmount: 107.45 }, conditionsChanged: false },
    })
  const computed = { expectedTotal: { amount: expected, currency: 'EUR' } }
  expect(await checkOutOverGraphql(sale, five, computed)).toMatchObject({
    errors: [{ code: 'INVALID', path: 'expectedTotal.amount' }],
  })
  // Control: a cent less is refused.
  expect((await checkOut(sale, { ...five, expected_total: expected - 0.01 })).json().code).toBe(
    'TOTAL_INCREASED',
  )
  const bought = await buyTickets(sale)
  expect(await refundTicket(sale, ticketOf(bought), { amount: money(0.1 + 0.2) })).toMatchObject({
    refund: { amount: 0.3 },
  })
  expect(await refundTicket(sale, ticketOf(bought), { amount: money(0.305, 'EUR', 3) })).toMatchObject({
    errors: [{ code: 'INVALID', path: 'amount.amount' }],
  })
})
