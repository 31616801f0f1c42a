// Runs in: pglite, postgres, citus, slow-forms

import { asc, eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { invoices } from '../../../src/domain/invoice/table.ts'
import { anEntry, countersOf, mustCheckOut } from '../../support/checkouts.ts'
import { amountsOf, money, withNumbers } from '../../support/contract-input.ts'
import {
  aCatalogue,
  anEvent,
  anOrganization,
  aRateNamed,
  aRateOf,
  integrationHeaders,
} from '../../support/factories.ts'
import * as refunds from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { stubProvider } from '../../support/stub-provider.ts'
import { aHeldTicket, aPaidTicket, buyTickets, holdTickets, payFor, ticketOf } from '../../support/tickets.ts'

// Refunds by an organization through its integration. The ticket keeps its status.

const free = aRateNamed('free', {}, { price: 0 })
const catalogue = aCatalogue({
  organizations: [anOrganization(), anOrganization({ _id: 'org_2', currency: 'JPY' })],
  events: [
    anEvent({ ticket_rates: [aRateOf(100), free] }),
    anEvent({
      organization_id: 'org_2',
      location_id: null,
      ticket_rates: [aRateNamed('yen', {}, { price: 1000 })],
    }),
  ],
})

let providerCalls: unknown[] = []
const provider = stubProvider({
  refund: async (refund) => {
    providerCalls.push(refund)
    return { kind: 'succeeded', reference: `re_${refund.id}` }
  },
})

const sale = sharedSale(catalogue, { provider })

const correctiveOf = async (paymentId: string) =>
  (
    await sale.db
      .select()
      .from(invoices)
      .where(eq(invoices.paymentId, paymentId))
      .orderBy(asc(invoices.number))
  )
    .filter(({ kind }) => kind === 'corrective')
    .map(({ reference, amount, refundId }) => ({ reference, amount, refundId }))

test('refund of a whole ticket shows on the ticket, the payment and its invoice, and the place stays sold', async () => {
  const { id, checkout } = await aPaidTicket(sale)
  const counters = await countersOf(sale)
  providerCalls = []
  const { refund } = await refunds.refundTicket(sale, id)
  expect(refund).toEqual({
    id: expect.stringMatching(/^ref_/),
    amount: 22,
    reason: 'REQUESTED',
    status: 'SUCCEEDED',
    createdAt: expect.any(String),
    succeededAt: expect.any(String),
    ticket: { id, status: 'ACTIVATED', settlement: { refunded: 22 } },
  })
  const charge = `test_${checkout.payment_id}`
  expect(providerCalls).toEqual([
    { id: refund?.id, organizationId: 'org_1', charge, amount: 2200, currency: 'EUR' },
  ])
  expect(await countersOf(sale)).toEqual(counters)
  expect(await refunds.changeTypesOf(sale, checkout.payment_id)).toEqual(['payment.paid', 'payment.refunded'])
  expect(await refunds.changeTypesOf(sale, id)).toEqual(['ticket.activated'])
  const [corrective] = await correctiveOf(checkout.payment_id)
  expect(corrective).toEqual({
    reference: expect.stringMatching(/^R\d{4}-\d{6}$/),
    amount: 2200,
    refundId: refund?.id,
  })

  // Both kinds of caller read the same; the lookup over REST is below.
  const query = `query ($id: ID!) { ticket(id: $id) { status channel { id } invoiceReference correctiveInvoiceReferences
    settlement { ${amountsOf('refunded', 'net', 'paid', 'commission')} }
    refunds { id status amount { amount currency } succeededAt }
    payment { status refunded { amount currency } invoiceReference
      refunds { id amount { amount currency } reason ticket { id } } } } }`
  for (const headers of [sale.channel, sale.integration.v2]) {
    const { data } = await sale.graphql<{ ticket: Record<string, unknown> }>(query, { id }, headers)
    const ticket = withNumbers(data?.ticket)
    const { invoiceReference } = ticket ?? {}
    expect(invoiceReference).toMatch(/^F\d{4}-\d{6}$/)
    expect(ticket).toEqual({
      status: 'ACTIVATED',
      channel: { id: expect.stringMatching(/^chn_/) },
      settlement: { refunded: 22, net: 0, paid: 22, commission: 0 },
      refunds: [{ id: refund?.id, status: 'SUCCEEDED', amount: 22, succeededAt: refund?.succeededAt }],
      invoiceReference,
      correctiveInvoiceReferences: [corrective?.reference],
      payment: {
        status: 'REFUNDED',
        refunded: 22,
        invoiceReference,
        refunds: [{ id: refund?.id, amount: 22, reason: 'REQUESTED', ticket: { id } }],
      },
    })
  }
  const lookup = await sale.rest('GET', `/integrations/tickets/${id}`, { headers: sale.integration.v2 })
  expect(lookup.json().data).toMatchObject({
    status: 'activated',
    refunded: 22,
    raised: 0,
    total_paid: 22,
    corrective_invoice_references: [corrective?.reference],
  })
})

test('refunds show in a replayed checkout', async () => {
  const body = { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] }
  const again = () => mustCheckOut(sale, body, { 'idempotency-key': 'view' })
  const checkout = await again()
  expect(checkout.tickets[0]).toMatchObject({ refunded: 0, refunded_at: null, refunds: [] })
  await payFor(sale, checkout)
  const id = ticketOf(checkout)
  const first = await refunds.refundTicket(sale, id, { amount: 1.5 })
  const second = await refunds.refundTicket(sale, id, { amount: 2 })
  const [at, last] = [first.refund?.succeededAt, second.refund?.succeededAt]
  const channel_id = checkout.tickets[0]?.channel_id
  expect((await again()).tickets[0]).toMatchObject({
    status: 'active',
    refunded: 3.5,
    refunded_at: last,
    refunds: [
      { channel_id, amount: 1.5, at },
      { channel_id, amount: 2, at: last },
    ],
  })
})

test('refunds of all tickets and payments of a query take one statement each', async () => {
  const checkout = await buyTickets(sale, { count: 4 })
  for (const { _id } of checkout.tickets) await refunds.refundTicket(sale, _id, { amount: 1 })
  const query = `query ($id: ID!) { payment(id: $id) { refunds { id }
    tickets { refunds { id ticket { id payment { refunds { id } } } } } } }`
  sale.statements.reset()
  const { data } = await sale.graphql<{ payment: { refunds: object[]; tickets: object[] } }>(
    query,
    { id: checkout.payment_id },
    sale.channel,
  )
  expect(data?.payment.refunds).toHaveLength(4)
  expect(data?.payment.tickets.map(({ refunds }: { refunds?: object[] }) => refunds?.length)).toEqual([
    1, 1, 1, 1,
  ])
  expect(sale.statements.filter((text) => text.includes('from "refunds"'))).toHaveLength(2)
})

test('refund in parts until nothing is left', async () => {
  const { id, checkout } = await aPaidTicket(sale, { count: 2 })
  const stateOf = async () => {
    const payment = await refunds.paymentRow(sale, checkout)
    const ticket = await refunds.ticketRow(sale, id)
    return [payment?.status, payment?.refundedAmount, ticket?.refundedAmount]
  }
  await refunds.refundTicket(sale, id, { amount: 10.01 })
  expect(await stateOf()).toEqual(['partially_refunded', 1001, 1001])
  expect(refunds.refusalCodes(await refunds.refundTicket(sale, id, { amount: 12 }))).toEqual([
    'REFUND_TOO_HIGH amount 11.99',
  ])
  expect((await refunds.refundTicket(sale, id)).refund?.amount).toBe(11.99)
  expect(await stateOf()).toEqual(['partially_refunded', 2200, 2200])
  for (const [amount, place] of [
    [null, 'of'],
    [0.01, 'amount'],
  ] as const)
    expect(refunds.refusalCodes(await refunds.refundTicket(sale, id, { amount }))).toEqual([
      `REFUND_TOO_HIGH ${place} 0`,
    ])
  await refunds.refundTicket(sale, ticketOf(checkout, 1))
  expect(await stateOf()).toEqual(['refunded', 4400, 2200])

  const ticket = await refunds.ticketRow(sale, id)
  expect(ticket?.refunds.map(({ amount }) => amount)).toEqual([1001, 1199])
  const corrective = await correctiveOf(checkout.payment_id)
  expect(corrective.map(({ amount }) => amount)).toEqual([1001, 1199, 2200])
  expect(ticket?.correctiveInvoiceReferences).toEqual(
    corrective.slice(0, 2).map(({ reference }) => reference),
  )
  expect((await refunds.changeTypesOf(sale, checkout.payment_id)).slice(1)).toEqual(
    Array(3).fill('payment.refunded'),
  )
})

test('refunds never make the organization’s share negative: the platform fee comes out of the rest', async () => {
  const { id } = await aPaidTicket(sale)
  const query = `query ($id: ID!) { ticket(id: $id) { settlement { ${amountsOf('net', 'commission')} } } }`
  const kept = async () => {
    const { data } = await sale.graphql<{ ticket: { settlement: object } }>(query, { id }, sale.channel)
    return withNumbers(data?.ticket.settlement)
  }
  expect(await kept()).toEqual({ net: 21, commission: 1 })
  for (const [amount, net, commission] of [
    [0.5, 20.5, 1],
    [20.5, 0, 1],
    [0.6, 0, 0.4],
    [0.4, 0, 0],
  ]) {
    await refunds.refundTicket(sale, id, { amount })
    expect(await kept()).toEqual({ net, commission })
  }
})

test('cancelling and refunding a ticket are independent, in either order', async () => {
  const checkout = await buyTickets(sale, { count: 2 })
  const [first, second] = [ticketOf(checkout), ticketOf(checkout, 1)]
  await refunds.cancelTicket(sale, first)
  expect((await refunds.refundTicket(sale, first)).refund?.ticket?.status).toBe('CANCELLED')
  await refunds.refundTicket(sale, second)
  expect((await refunds.cancelTicket(sale, second)).ticket).toMatchObject({
    status: 'CANCELLED',
    settlement: { net: 0 },
  })
})

test.each([...['0', '0.00', '-1', '-0.01', '0.001', '10.005', '22.000', '9'.repeat(15)]])(
  'refund of %s EUR is refused',
  async (amount) => {
    const { id } = await aPaidTicket(sale)
    const refused = await refunds.refundTicket(sale, id, { amount: { amount, currency: 'EUR' } })
    expect(refunds.refusalCodes(refused)).toEqual(['INVALID amount.amount'])
  },
)

test('refund amounts have the decimals of their currency', async () => {
  const door = { ...sale, integration: await integrationHeaders(sale.db, 'org_2') }
  const { id, checkout } = await aPaidTicket(sale, { rate: 'yen' })
  for (const amount of ['0.5', '100.0'])
    expect(
      refunds.refusalCodes(await refunds.refundTicket(door, id, { amount: { amount, currency: 'JPY' } })),
    ).toEqual(['INVALID amount.amount'])
  const input = { of: { ticketId: id }, amount: money(100, 'JPY', 0), idempotencyKey: 'yen' }
  const { data } = await refunds.callMutation(door, 'refundTickets', input, door.integration.v2)
  expect(data?.refundTickets?.refunds?.[0]).toMatchObject({ amount: { amount: '100', currency: 'JPY' } })
  expect((await refunds.refundRows(sale, checkout)).map(({ amount }) => amount)).toEqual([100])
})

test('refund of an unpaid or free ticket is refused', async () => {
  const { id, checkout } = await aHeldTicket(sale)
  expect(refunds.refusalCodes(await refunds.refundTicket(sale, id))).toEqual(['ILLEGAL_TRANSITION PENDING'])
  await refunds.cancelPayment(sale, checkout.payment_id)
  expect(refunds.refusalCodes(await refunds.refundTicket(sale, id))).toEqual(['ILLEGAL_TRANSITION CANCELLED'])
  const gift = await holdTickets(sale, { rate: 'free' })
  expect(refunds.refusalCodes(await refunds.refundTicket(sale, ticketOf(gift)))).toEqual([
    'REFUND_TOO_HIGH of 0',
  ])
})

test('refund with a used idempotency key repeats the refund, or is refused for another request', async () => {
  const { id, checkout } = await aPaidTicket(sale, { count: 2 })
  const asked = { amount: 5, idempotencyKey: 'once' }
  providerCalls = []
  const first = await refunds.refundTicket(sale, id, asked)
  expect(first.replayed).toBe(false)
  expect(await refunds.refundTicket(sale, id, asked)).toEqual({ ...first, replayed: true })
  expect(providerCalls).toHaveLength(1)
  for (const [ticketId, other] of [
    [id, { amount: 6 }],
    [id, { amount: undefined }],
    [ticketOf(checkout, 1), {}],
    [(await aPaidTicket(sale)).id, {}],
  ] as const)
    expect(refunds.refusalCodes(await refunds.refundTicket(sale, ticketId, { ...asked, ...other }))).toEqual([
      'IDEMPOTENCY_KEY_REUSED idempotencyKey',
    ])
  expect(await refunds.refundRows(sale, checkout)).toHaveLength(1)
  // Keys are scoped to the caller.
  const other = { ...sale, integration: await integrationHeaders(sale.db) }
  expect((await refunds.refundTicket(other, id, asked)).refund?.id).not.toBe(first.refund?.id)
  // A replay still works once nothing is left to refund.
  await refunds.refundTicket(sale, id, { idempotencyKey: 'rest' })
  expect((await refunds.refundTicket(sale, id, { idempotencyKey: 'rest' })).refund?.amount).toBe(12)
  const malformed = await refunds.refundTicket(sale, id, { idempotencyKey: 'a b' })
  expect(refunds.refusalCodes(malformed)).toEqual(['INVALID idempotencyKey'])
})

test('refund of a payment refunds what is left of each ticket, and of a cancelled one too', async () => {
  const checkout = await buyTickets(sale, { count: 4 })
  const [whole, part, cancelled, untouched] = checkout.tickets.map(({ _id }) => _id)
  await refunds.refundTicket(sale, whole ?? '')
  await refunds.refundTicket(sale, part ?? '', { amount: 1.5 })
  await refunds.cancelTicket(sale, cancelled ?? '')
  const of = { paymentId: checkout.payment_id }
  const asked = { idempotencyKey: `all-${checkout.payment_id}` }
  providerCalls = []
  const answer = await refunds.refundTickets(sale, of, asked)
  const shown = answer.refunds?.map(({ ticket, amount, status }) => [ticket?.id, amount, status])
  expect(shown).toEqual([
    [part, 20.5, 'SUCCEEDED'],
    [cancelled, 22, 'SUCCEEDED'],
    [untouched, 22, 'SUCCEEDED'],
  ])
  expect(providerCalls).toHaveLength(3)
  expect(await refunds.paymentRow(sale, checkout)).toMatchObject({ status: 'refunded', refundedAmount: 8800 })
  expect(await correctiveOf(checkout.payment_id)).toHaveLength(5)
  // The same request returns them all, and no other.
  expect(await refunds.refundTickets(sale, of, asked)).toEqual({ ...answer, replayed: true })
  expect(providerCalls).toHaveLength(3)
  for (const other of [{ ticketId: untouched ?? '' }, { paymentId: (await buyTickets(sale)).payment_id }])
    expect(refunds.refusalCodes(await refunds.refundTickets(sale, other, asked))).toEqual([
      'IDEMPOTENCY_KEY_REUSED idempotencyKey',
    ])
  expect(refunds.refusalCodes(await refunds.refundTickets(sale, of))).toEqual(['REFUND_TOO_HIGH of 0'])
})

test('refund of a payment takes no amount, and none of an unpaid or foreign one', async () => {
  const { payment_id: paymentId } = await buyTickets(sale, { count: 2 })
  expect(refunds.refusalCodes(await refunds.refundTickets(sale, { paymentId }, { amount: 1 }))).toEqual([
    'INVALID amount',
  ])
  const unpaid = await holdTickets(sale)
  expect(refunds.refusalCodes(await refunds.refundTickets(sale, { paymentId: unpaid.payment_id }))).toEqual([
    'ILLEGAL_TRANSITION PENDING',
  ])
  const other = { ...sale, integration: await integrationHeaders(sale.db, 'org_2') }
  for (const answer of [
    await refunds.refundTickets(other, { paymentId }),
    await refunds.refundTickets(sale, { paymentId: 'pay_none' }),
  ])
    expect(refunds.refusalCodes(answer)).toEqual(['NOT_FOUND of.paymentId'])
})

test.each([[{}], [{ ticketId: null }], [{ ticketId: 'tkt_1', paymentId: 'pay_1' }]])(
  'refunding and cancelling %j is refused: exactly one is to be named',
  async (of) => {
    for (const [name, more] of [
      ['refundTickets', { idempotencyKey: 'none' }],
      ['cancelTickets', {}],
    ] as const) {
      const { data, errors } = await refunds.callMutation(sale, name, { of, ...more }, sale.integration.v2)
      expect([data, errors?.[0]?.extensions?.code]).toEqual([undefined, 'BAD_REQUEST'])
    }
  },
)

test('refund of a foreign ticket is 404, and channels may not call it', async () => {
  const { id: ticketId } = await aPaidTicket(sale)
  const other = { ...sale, integration: await integrationHeaders(sale.db, 'org_2') }
  expect(refunds.refusalCodes(await refunds.refundTicket(other, ticketId))).toEqual(['NOT_FOUND of.ticketId'])
  for (const [headers, code] of [
    [sale.channel, 'FORBIDDEN'],
    [{}, 'UNAUTHENTICATED'],
  ] as const) {
    const input = { of: { ticketId }, idempotencyKey: 'foreign' }
    const { data, errors } = await refunds.callMutation(sale, 'refundTickets', input, headers)
    expect([data, errors?.[0]?.extensions?.code]).toEqual([{ refundTickets: null }, code])
  }
})
