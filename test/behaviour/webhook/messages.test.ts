import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changeType } from '../../../src/domain/change/table.ts'
import { payments } from '../../../src/domain/payment/table.ts'
import { expireHolds } from '../../../src/domain/sale/release/expire-holds.ts'
import { transferTicket, updateAttendee } from '../../support/attendees.ts'
import { openDoors, redeem, scanTicket } from '../../support/door.ts'
import { aCatalogue, anEvent, aPrice, aRate, aRateNamed, aSupplement } from '../../support/factories.ts'
import { mistakeIn } from '../../support/openapi/answer-checker.ts'
import { type Document, readDocument } from '../../support/openapi/document.ts'
import { movePayments } from '../../support/queued-payments.ts'
import { cancelTicket, refundTicket } from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { settlePaymentById } from '../../support/settle-payment.ts'
import { endedOutcome, stubProvider } from '../../support/stub-provider.ts'
import { aPaidTicket, holdTickets } from '../../support/tickets.ts'
import { sendDueWebhooks, startReceiver, webhooksOf } from '../../support/webhooks.ts'

// Messages that webhooks receive, as the OpenAPI document describes them.

const drinks = aSupplement({ _id: 'sup_drinks', product_quantity: 3 })
const last = { _id: 'rate_2', availability: { sold: 0, available: 1 }, prices: [aPrice({ _id: 'price_2' })] }
const rates = [aRateNamed('1', { supplements: [drinks] }), aRate(last)]

let document: Document
let receiver: Awaited<ReturnType<typeof startReceiver>>
const catalogue = aCatalogue({ events: [anEvent({ ticket_rates: rates })] })
const settings = { ...openDoors, WEBHOOKS_TO_PRIVATE_ADDRESSES: 'true' }
const sale = sharedSale(catalogue, { settings, provider: stubProvider() })
beforeAll(async () => {
  document = await readDocument(sale.app)
  receiver = await startReceiver()
  await webhooksOf(sale, sale.integration.v2).register(`${receiver.url}/hook`)
})
afterAll(async () => receiver?.close())

const hold = () => holdTickets(sale)

/** Makes at least one change of each type. */
async function changeEverything(): Promise<void> {
  const supplements = { supplements: [{ supplement_id: 'sup_drinks' }] }
  const { id: one } = await aPaidTicket(sale, { entry: supplements })
  await updateAttendee(sale, one, { fullName: 'Ana Núñez Gil' })
  await transferTicket(sale, one)
  await scanTicket(sale, { ticketId: one })
  await redeem(sale, { ticketId: one, supplementId: 'sup_drinks' })
  await refundTicket(sale, one, { amount: 1 })
  await cancelTicket(sale, (await aPaidTicket(sale, { rate: '2' })).id)
  await settlePaymentById(sale.db, (await hold()).payment_id, endedOutcome('failed'))
  await hold()
  await movePayments(sale.db, sql`${payments.status} = 'pending'`, {
    expiresAt: sql`now() - interval '1 second'`,
  })
  await expireHolds(sale.db, 10)
}

test('each type is documented, and its messages and headers are as documented', async () => {
  expect(Object.keys(document.webhooks)).toEqual(changeType.enumValues)
  await changeEverything()
  await sendDueWebhooks(sale)
  const received = receiver.take()
  const bodies = received.map(({ body }) => JSON.parse(body) as { type: string })
  expect([...new Set(bodies.map(({ type }) => type))].toSorted()).toEqual(
    [...changeType.enumValues].toSorted(),
  )
  for (const [index, body] of bodies.entries()) {
    const { requestBody, parameters = [] } = document.webhooks[body.type]?.post ?? {}
    const schema = requestBody?.content['application/json']?.schema ?? {}
    expect(mistakeIn(schema, body), JSON.stringify(body)).toBeNull()
    expect(Object.keys(received[index]?.headers ?? {})).toEqual(
      expect.arrayContaining(parameters.map(({ name }) => name)),
    )
  }
})

test('the examples are messages of their types', () => {
  for (const [type, { post }] of Object.entries(document.webhooks)) {
    const { schema = {}, example } = post.requestBody?.content['application/json'] ?? {}
    expect(example).toMatchObject({ type })
    expect(mistakeIn(schema, example)).toBeNull()
  }
})

test('control: a message of another type, or with a field more, is found', () => {
  const { schema = {}, example } =
    document.webhooks['payment.paid']?.post.requestBody?.content['application/json'] ?? {}
  const message = example as { data: object }
  expect(mistakeIn(schema, { ...message, type: 'payment.failed' })).toMatch(/type/)
  expect(mistakeIn(schema, { ...message, data: { ...message.data, email: 'ana@example.com' } })).toMatch(
    /additional properties/,
  )
})
