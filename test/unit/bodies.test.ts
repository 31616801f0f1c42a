import { expect, test } from 'vitest'
import { z } from 'zod'
import { isTest } from '../../src/domain/caller/mode.ts'
import { eventBody } from '../../src/domain/listing/event-body.ts'
import { paymentBody, paymentChangeBody } from '../../src/domain/payment/body.ts'
import { issuedTicketBody } from '../../src/domain/sale/checkout/issued-body.ts'
import { listedTicketBody, ticketBody, ticketChangeBody } from '../../src/domain/ticket/body.ts'
import { rateChangeBody, ticketRateBody } from '../../src/domain/ticket-rate/body.ts'
import { sentMessages } from '../../src/domain/webhook/messages-rest.ts'
import * as field from '../../src/engine/rest/body.ts'
import { body } from '../../src/engine/rest/body.ts'

/** Lists the columns that a body reads of a row. */
function columnsOf({ of }: { of: (row: never) => unknown }): unknown[] {
  const columns = new Set<unknown>()
  const get = (_row: object, column: unknown) => {
    columns.add(column)
    return null
  }
  of(new Proxy({}, { get }) as never)
  return [...columns]
}

// A column or a name that is added here must tell nothing of a person, nor the code of a ticket.
test('changes contain nothing of a person and no code', () => {
  const ofTicket = ['id', 'paymentId', 'eventId', 'ticketRateId', 'status', 'admits', 'entered']
  expect(columnsOf(ticketChangeBody)).toEqual(ofTicket)
  const ofPayment = ['id', 'ticketRateIds', 'status', 'totalAmount', 'currency', 'refundedAmount']
  expect(columnsOf(paymentChangeBody)).toEqual(ofPayment)
  expect(columnsOf(rateChangeBody)).toEqual(['id', 'eventId'])
  const names = sentMessages.flatMap(({ body }) => Object.keys((body as z.ZodObject).shape))
  expect(new Set(names)).toEqual(
    new Set([
      ...['ticket_id', 'payment_id', 'event_id', 'ticket_rate_id', 'status', 'for', 'enter', 'people'],
      ...['ticket_rate_ids', 'supplement_id', 'redeemed', 'left', 'total_amount', 'refunded', 'currency'],
    ]),
  )
})

test('control: a body that names a person is found', () => {
  const leaking = body('Leaking', 'State of a ticket.', {
    ticket_id: field.text('id', 'Ticket identifier.', 'tkt_1'),
    name: field.text('fullName', 'Full name of the attendee.', 'Ada Lovelace'),
  })
  expect(columnsOf(leaking)).toEqual(['id', 'fullName'])
})

test.each(
  Object.entries({
    ...{ ticketBody, listedTicketBody, ticketChangeBody, issuedTicketBody, paymentBody, paymentChangeBody },
    ...{ ticketRateBody, eventBody },
  }),
)('the example of %s is what its schema says', (_name, { schema, example }) => {
  expect(z.strictObject(schema.shape).parse(example)).toEqual(example)
})

test('a body has the values of its fields, in their order', () => {
  const item = body('Item', 'Item.', {
    label: field.text('label', 'Display name.', 'Drink'),
    price: field.amount('price', 'Price in major units, in the currency of the sale.', 5),
    before: field.optionalAmount('priceBefore', 'Former price; null if there is none.', null),
  })
  const sale = body('Sale', 'Sale.', {
    _id: field.text('id', 'Identifier.', 'sale_1'),
    total: field.amount('totalAmount', 'Total in major units.', 10.5),
    paid_at: field.optionalTime('paidAt', 'Time of payment; null if unpaid.', null),
    items: field.list('items', item, 'Items.', [item.example]),
    test: isTest('True of a test sale; absent from any other.'),
  })
  const row = {
    ...{ id: 'sale_2', totalAmount: 1050, currency: 'EUR', mode: 'test' as const, secret: 'never shown' },
    ...{ paidAt: new Date(0), items: [{ label: 'Beer', price: 400, priceBefore: null }] },
  }
  const shown =
    '{"_id":"sale_2","total":10.5,"paid_at":"1970-01-01T00:00:00.000Z","items":[{"label":"Beer","price":4,"before":null}]'
  expect(JSON.stringify(sale.of(row))).toBe(`${shown},"test":true}`)
  expect(JSON.stringify(sale.of({ ...row, mode: 'live' }))).toBe(`${shown}}`)
  expect(sale.of({ ...row, paidAt: null }).paid_at).toBe(null)
  expect(sale.example).toEqual({
    _id: 'sale_1',
    total: 10.5,
    paid_at: null,
    items: [{ label: 'Drink', price: 5, before: null }],
  })
})
