import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { parseConfig } from '../../src/app/settings.ts'
import { openProvider } from '../../src/domain/payment/open-provider.ts'
import type { PaymentProvider } from '../../src/domain/payment/provider.ts'
import { fromStripeAmount, toStripeAmount } from '../../src/domain/payment/stripe/outcome.ts'
import { isoDecimals } from '../../src/engine/base/money.ts'
import { type StubStripe, startStubStripe, stripeSettings } from '../support/stub-stripe.ts'

// The Stripe provider without a database: amounts, refunds, failures.

let fake: StubStripe
let provider: PaymentProvider
beforeAll(async () => {
  fake = await startStubStripe()
  provider = await openProvider(parseConfig(stripeSettings(fake.url)))
})
afterAll(() => fake.close())
afterEach(() => {
  fake.setFault(null)
  fake.setRefundStatus('succeeded')
})

let number = 0
const anOrder = (more = {}) => ({
  id: `pay_${++number}`,
  totalAmount: 2200,
  currency: 'EUR',
  expiresAt: new Date(Date.now() + 15 * 60_000),
  name: 'Noche · Entrance',
  organizationId: 'org_1',
  pageUrl: 'https://tickets.example/pay/token',
  ...more,
})

async function paidOrder(more = {}) {
  const session = await provider.charge(anOrder(more))
  if (session.kind !== 'session') throw new Error('Stripe has sessions')
  fake.pay(session.id)
  const outcome = await provider.getSession(session.id)
  if (outcome?.kind !== 'paid') throw new Error('it is paid')
  return outcome.money
}
const refundOf = (charge: string, more = {}) => ({
  organizationId: 'org_1',
  id: `ref_${++number}`,
  charge,
  amount: 1000,
  currency: 'EUR',
  ...more,
})

test.each([
  ['EUR', 1050, 1050],
  ['JPY', 1050, 1050],
  ['KWD', 1050, 1050],
  ['LYD', 1050, 1050],
  ['MGA', 105_000, 1050],
  // Stripe treats these as two-decimal currencies whose decimals are always 00.
  ['ISK', 1050, 105_000],
  ['UGX', 1050, 105_000],
  ['HUF', 1050, 1050],
  ['CLP', 1050, 1050],
])('%s %i converts to %i at Stripe and back', async (currency, ours, theirs) => {
  expect(toStripeAmount(ours, currency)).toBe(theirs)
  expect(fromStripeAmount(theirs, currency)).toBe(ours)
  expect(await paidOrder({ totalAmount: ours, currency })).toMatchObject({ amount: ours, currency })
})

test('every currency has the decimals that Stripe lists', () => {
  // docs.stripe.com/currencies. ISK and UGX have two for compatibility; HUF and TWD are without for payouts alone.
  const zero = 'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' ')
  const three = 'BHD JOD KWD OMR TND'.split(' ')
  // Not Stripe's: as many as they are stored with, so that no digit is lost.
  const others = new Map([
    ['IQD', 3],
    ['LYD', 3],
    ['UYI', 0],
    ['CLF', 4],
    ['UYW', 4],
  ])
  const wrong = [...isoDecimals].filter(([currency, decimals]) => {
    const expected = zero.includes(currency) ? 0 : three.includes(currency) ? 3 : (others.get(currency) ?? 2)
    return toStripeAmount(10 ** decimals, currency) !== 10 ** expected
  })
  expect(wrong).toEqual([])
})

test('an amount that Stripe never takes fails the payment, and it is not asked', async () => {
  const asked = fake.asked.length
  expect(await provider.charge(anOrder({ totalAmount: 7355, currency: 'KWD' }))).toEqual({
    kind: 'ended',
    status: 'failed',
    code: 'amount_has_too_many_decimals',
  })
  expect(fake.asked).toHaveLength(asked)
})

test('a fraction of a minor unit is rounded down', () => {
  expect(fromStripeAmount(104_999, 'ISK')).toBe(1049)
  expect(fromStripeAmount(99, 'ISK')).toBe(0)
  expect(fromStripeAmount(2199, 'EUR')).toBe(2199)
})

test('a charge is identified by its payment intent, from any source', async () => {
  const { provider: name, reference } = await paidOrder()
  expect(name).toBe('stripe')
  expect(reference).toMatch(/^pi_/)
})

test('the longest permitted hold gets a session', async () => {
  const expiresAt = new Date(Date.now() + 23 * 3600_000)
  expect(await provider.charge(anOrder({ expiresAt }))).toMatchObject({ kind: 'session' })
})

test('an amount below the minimum of Stripe fails the payment', async () => {
  const order = anOrder({ totalAmount: 49 })
  expect(await provider.charge(order)).toEqual({ kind: 'ended', status: 'failed', code: 'amount_too_small' })
})

test('the least amounts are those that Stripe lists, in our minor units', () => {
  const least = (currency: string) => provider.leastCharge?.(currency)
  // docs.stripe.com/currencies#minimum-and-maximum-charge-amounts
  expect([least('EUR'), least('GBP'), least('JPY'), least('HUF'), least('CZK')]).toEqual([
    50, 30, 50, 17_500, 1_500,
  ])
  expect([least('KWD'), least('ISK')]).toEqual([0, 0])
})

test('a repeated refund request refunds once', async () => {
  const { reference } = await paidOrder()
  const refund = refundOf(reference)
  const first = await provider.refund(refund)
  expect(first).toMatchObject({ kind: 'succeeded', reference: expect.stringMatching(/^re_/) })
  expect(await Promise.all([provider.refund(refund), provider.refund(refund)])).toEqual([first, first])
  expect(fake.refunds.filter(({ payment_intent }) => payment_intent === reference)).toHaveLength(1)
})

test('a pending refund is updated with its outcome', async () => {
  const { reference } = await paidOrder()
  const refund = refundOf(reference)
  fake.setRefundStatus('pending')
  expect(await provider.refund(refund)).toMatchObject({ kind: 'pending' })
  const [made] = fake.refunds.slice(-1)
  if (!made) throw new Error('it was made')
  made.status = 'failed'
  expect(await provider.refund(refund)).toEqual({ kind: 'failed', code: 'failed' })
})

test('an impossible refund fails with the reason', async () => {
  const { reference } = await paidOrder()
  await provider.refund(refundOf(reference, { amount: 2000 }))
  expect(await provider.refund(refundOf(reference))).toEqual({
    kind: 'failed',
    code: 'StripeInvalidRequestError',
  })
  expect(await provider.refund(refundOf('pi_of_nobody'))).toEqual({
    kind: 'failed',
    code: 'resource_missing',
  })
})

test('a refund of a charge that was refunded elsewhere counts as done', async () => {
  const { reference } = await paidOrder()
  fake.refundInDashboard(reference)
  const [made] = fake.refunds.slice(-1)
  expect(await provider.refund(refundOf(reference))).toEqual({ kind: 'succeeded', reference: made?.id })
})

test('a failed refund can be retried although Stripe stores the error under its idempotency key', async () => {
  const { reference } = await paidOrder()
  const refund = refundOf(reference)
  fake.setFault(({ method, path }) => (method === 'POST' && path === '/v1/refunds' ? 500 : null))
  await expect(provider.refund(refund)).rejects.toThrow('Stripe call failed')
  fake.setFault(null)
  expect(await provider.refund(refund)).toMatchObject({ kind: 'succeeded' })
})

test.each([
  ['cut', 'StripeConnectionError', 'ECONNRESET'],
  [401, 'StripeAuthenticationError', 'HTTP_401'],
  [429, 'StripeRateLimitError', 'rate_limit'],
  [503, 'StripeAPIError', 'api_error'],
] as const)(
  'a failure of %s is reported with its name and code, without status or secrets',
  async (fault, name, code) => {
    fake.setFault(fault)
    const failure: unknown = await provider.charge(anOrder()).catch((error: unknown) => error)
    expect(failure).toMatchObject({ name, code })
    expect(failure).not.toHaveProperty('statusCode')
    expect(JSON.stringify([failure, String(failure)])).not.toMatch(/sk_test|127\.0\.0\.1/)
  },
)
