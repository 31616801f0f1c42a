// Runs in: postgres, slow-forms

import { createHmac } from 'node:crypto'
import { Stripe } from 'stripe'
import { expect, test } from 'vitest'
import { readSigned } from '../../../src/domain/payment/stripe/events.ts'
import { providerEvents } from '../../../src/domain/payment/table.ts'
import { shared } from '../../support/harness.ts'
import { inTestMode } from '../../support/modes.ts'
import { refusal } from '../../support/refusals.ts'
import { openStripeSale } from '../../support/stripe-sale.ts'
import { type StubEvent, signBody, signEvent, webhookSecret } from '../../support/stub-stripe.ts'
import { holdTickets } from '../../support/tickets.ts'

// Events that Stripe never sends, with valid signatures and without.

const sale = shared(openStripeSale)

const type = 'application/json'
const header = (signature: string, body: string) => ({
  body,
  headers: { 'content-type': type, 'stripe-signature': signature },
})
const seconds = () => Math.floor(Date.now() / 1000)
const hmac = (text: string) => createHmac('sha256', webhookSecret).update(text).digest('hex')

const beginPayment = async () => {
  const checkout = await sale.checkOut()
  return { checkout, session: await sale.goToStripe(checkout) }
}
const paidEvent = async () => {
  const { checkout, session } = await beginPayment()
  return { checkout, event: sale.fake.pay(session.id) }
}

const good = (body: string) => `v1=${hmac(`${seconds()}.${body}`)}`
test.each([
  ['empty', () => ''],
  ['an empty time and signature', () => 't=,v1='],
  ['an empty time', (body: string) => `t=,${good(body)}`],
  ['no time', (body: string) => good(body)],
  ['a time that is not a number', (body: string) => `t=x,v1=${hmac(`NaN.${body}`)}`],
  ['a negative time', (body: string) => `t=-1,v1=${hmac(`-1.${body}`)}`],
  ['two times', (body: string) => `t=${seconds()},t=${seconds()},${good(body)}`],
  ['no signature', () => `t=${seconds()}`],
  ['a signature without a value', () => `t=${seconds()},v1`],
  ['an empty signature', () => `t=${seconds()},v1=`],
  ['half a signature', () => `t=${seconds()},v1=${'a'.repeat(32)}`],
  ['a signature of another scheme', (body: string) => `t=${seconds()},${good(body).replace('v1', 'v0')}`],
  ['commas', () => ',,,,'],
  ['another scheme', () => 'Bearer x'],
  ['8 kB long', () => `t=${seconds()},v1=${'a'.repeat(8000)}`],
])('stripe signature that is %s is refused without SQL', async (_what, signatureOf) => {
  const { checkout, event } = await paidEvent()
  const body = JSON.stringify(event)
  sale.statements.reset()
  const answer = await sale.send(header(signatureOf(body), body))
  expect(refusal(answer)).toBe('400 BAD_REQUEST')
  expect(answer.json().message).toBe('The signature is missing, wrong or too old.')
  expect(sale.statements).toHaveLength(0)
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['pending', 'held'])
})

test('stripe signature is accepted among invalid ones and unknown schemes', async () => {
  const { checkout, event } = await paidEvent()
  const body = JSON.stringify(event)
  const signature = `t=${seconds()},v1=${'0'.repeat(64)},${good(body)},v0=abc`
  expect((await sale.send(header(signature, body))).statusCode).toBe(200)
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
})

// Leaves a second between the clock of the test and that of the reader.
test.each([
  [-302, false],
  [-299, true],
  [299, true],
  [302, false],
])('stripe signature %i seconds from now is valid: %s', (from, isGood) => {
  const { body, headers } = signBody('{}', webhookSecret, -from)
  const { webhooks } = new Stripe('sk_test_fake')
  const read = readSigned({ webhooks }, [webhookSecret], Buffer.from(body), headers['stripe-signature'])
  expect(read !== null).toBe(isGood)
})

test('stripe event signed for the future is refused and changes nothing', async () => {
  const { checkout, event } = await paidEvent()
  expect(refusal(await sale.send(signEvent(event, webhookSecret, -400)))).toBe('400 BAD_REQUEST')
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['pending', 'held'])
})

const withObject = (event: StubEvent, fields: Record<string, unknown>) => ({
  ...event,
  data: { object: { ...event.data.object, ...fields } },
})
const nul = '\u0000'
const odd: [string, (event: StubEvent) => unknown][] = [
  ['null', () => null],
  ['a number', () => 7],
  ['a list', () => []],
  ['an empty object', () => ({})],
  ['a thin event', (event) => ({ ...event, object: 'v2.core.event' })],
  ['without data', ({ data, ...event }) => event],
  ['with data of null', (event) => ({ ...event, data: null })],
  ['without an object', (event) => ({ ...event, data: {} })],
  ['with an object of null', (event) => ({ ...event, data: { object: null } })],
  ['with a string as object', (event) => ({ ...event, data: { object: 'cs_1' } })],
  ['with a list as object', (event) => ({ ...event, data: { object: [] } })],
  ['without an id', ({ id, ...event }) => event],
  ['with a number as id', (event) => ({ ...event, id: 7 })],
  ['with an empty id', (event) => ({ ...event, id: '' })],
  ['with an email address as id', (event) => ({ ...event, id: 'ana@example.com' })],
  ['with a sentence as type', (event) => ({ ...event, type: 'Ana Núñez paid' })],
  ['with NUL in its id', (event) => ({ ...event, id: `evt${nul}` })],
  ['with an id of 100 kB', (event) => ({ ...event, id: 'e'.repeat(100_000) })],
  ['with an object as type', (event) => ({ ...event, type: {} })],
  ['with NUL in its type', (event) => ({ ...event, type: `checkout${nul}` })],
  ['with NUL in the session', (event) => withObject(event, { id: `cs${nul}` })],
  ['with a session of 100 kB', (event) => withObject(event, { id: 'c'.repeat(100_000) })],
  ['with NUL in the payment', (event) => withObject(event, { metadata: { payment_id: `pay${nul}` } })],
  ['with a list as payment', (event) => withObject(event, { metadata: { payment_id: ['pay_1'] } })],
  ['with a string as metadata', (event) => withObject(event, { metadata: 'pay_1' })],
  ['with NUL in the reference', (event) => withObject(event, { payment_intent: `pi${nul}` })],
  ['without a reference', (event) => withObject(event, { payment_intent: null })],
  ['with a number as reference', (event) => withObject(event, { payment_intent: 7 })],
  ['with a reference of 100 kB', (event) => withObject(event, { payment_intent: 'p'.repeat(100_000) })],
  ['with an amount of 0', (event) => withObject(event, { amount_total: 0 })],
  ['with a negative amount', (event) => withObject(event, { amount_total: -2200 })],
  ['with half a cent', (event) => withObject(event, { amount_total: 2200.5 })],
  ['with an amount of 1e300', (event) => withObject(event, { amount_total: 1e300 })],
  ['with an amount of 2 ** 60', (event) => withObject(event, { amount_total: 2 ** 60 })],
  ['with a string as amount', (event) => withObject(event, { amount_total: '2200' })],
  ['without an amount', (event) => withObject(event, { amount_total: undefined })],
  [
    'with less than the minimum of its currency',
    (event) => withObject(event, { amount_total: 1, currency: 'isk' }),
  ],
  ['without a currency', (event) => withObject(event, { currency: null })],
  ['with an unknown currency', (event) => withObject(event, { currency: 'euro' })],
  ['with a number as currency', (event) => withObject(event, { currency: 978 })],
  ['with a number as status', (event) => withObject(event, { status: 1 })],
  ['with an object as payment status', (event) => withObject(event, { payment_status: {} })],
]

test.each(odd)('stripe event, signed, %s is 400 and changes nothing', async (_what, change) => {
  const { checkout, event } = await paidEvent()
  const before = await sale.db.$count(providerEvents)
  const answer = await sale.send(signBody(JSON.stringify(change(event))))
  expect(refusal(answer)).toBe('400 BAD_REQUEST')
  expect(answer.json().message).toContain('The event is malformed')
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['pending', 'held'])
  expect(await sale.chargesOf(checkout)).toBe(0)
  expect(await sale.db.$count(providerEvents)).toBe(before)
})

test.each([
  ['not JSON', '{'],
  ['HTML', '<html>'],
  ['deeply nested and cut off', '['.repeat(100_000)],
  ['deeply nested', `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
])('stripe event with a signed body that is %s is 400', async (_what, body) => {
  expect(refusal(await sale.send(signBody(body)))).toBe('400 BAD_REQUEST')
})

test.each([
  ['a number as id', { id: 7 }],
  ['NUL in the refund', { metadata: { refund_id: `ref${nul}` } }],
  ['NUL in the reason of a failure', { status: 'failed', failure_reason: `x${nul}` }],
  ['a list as status', { status: [] }],
])('stripe event of a refund with %s is 400', async (_what, fields) => {
  const event = sale.fake.emitEvent('refund.updated', {
    ...{ id: 're_1', status: 'succeeded', metadata: { refund_id: 'ref_1', organization_id: 'org_1' } },
    ...fields,
  })
  expect(refusal(await sale.send(signEvent(event)))).toBe('400 BAD_REQUEST')
})

test.each([
  ['an amount of 0', { amount_total: 0 }],
  ['no currency', { currency: null }],
  ['a new status', { status: 'postponed' }],
])('stripe event of a foreign session with %s is accepted and ignored', async (_what, fields) => {
  const { event } = await paidEvent()
  const other = withObject(event, { metadata: {}, ...fields })
  expect(await sale.deliver(other)).toEqual(['ignored'])
})

test('stripe event about a test payment pays nothing, for its session is not at Stripe', async () => {
  const { event } = await paidEvent()
  const tested = await holdTickets(await inTestMode(sale))
  const forged = structuredClone(event)
  Object.assign(forged.data.object, { metadata: { payment_id: tested.payment_id, organization_id: 'org_1' } })
  Object.assign(forged, { id: 'evt_forged' })
  expect(await sale.deliver(forged)).toEqual(['unknown'])
  expect(await sale.buyer.statusesOf(tested)).toEqual(['pending', 'held'])
})

test('control: the same stripe event unchanged is paid', async () => {
  const { checkout, event } = await paidEvent()
  expect((await sale.send(signBody(JSON.stringify(event)))).statusCode).toBe(200)
  expect(await sale.buyer.statusesOf(checkout)).toEqual(['paid', 'active'])
})
