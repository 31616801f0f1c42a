// Runs in: pglite, postgres, first

import { expect, test } from 'vitest'
import { expireHolds } from '../../../src/domain/sale/release/expire-holds.ts'
import type { Checkout } from '../../support/checkouts.ts'
import { lapseAll } from '../../support/discounts.ts'
import { aCatalogue, anEvent, aRateOf, channelHeaders } from '../../support/factories.ts'
import { openStream, subscribe } from '../../support/live.ts'
import { inTestMode, publishableHeaders } from '../../support/modes.ts'
import { cancelPayment, refundTicket } from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { settlePaymentById } from '../../support/settle-payment.ts'
import { stubProvider } from '../../support/stub-provider.ts'
import { fullPaymentOf, holdTickets } from '../../support/tickets.ts'

const catalogue = aCatalogue({ events: [anEvent({ ticket_rates: [aRateOf(100)] })] })
const sale = sharedSale(catalogue, { listen: true, provider: stubProvider() })

type State = { payment: { id: string; status: string; refunded: { amount: string } } }
const query = 'subscription ($url: String!) { payment(url: $url) { id status refunded { amount } } }'
const watch = (url: string, headers = sale.channel) =>
  subscribe<State>(sale.url, headers, { query, variables: { url } })

const buy = () => holdTickets(sale, { count: 2 })
const settle = async (checkout: Checkout, outcome: Parameters<typeof settlePaymentById>[2]) =>
  settlePaymentById(sale.db, checkout.payment_id, outcome)

async function watched(headers?: Record<string, string>) {
  const checkout = await buy()
  const watching = watch(checkout.payment_url, headers)
  const statusIs = (status: string) => watching.until(({ payment }) => payment.status === status)
  expect((await statusIs('PENDING')).payment.id).toBe(checkout.payment_id)
  return { checkout, watching, statusIs }
}

test('a page sees its payment at once, undecided, paid, and refunded in parts', async () => {
  const { checkout, watching, statusIs } = await watched(await publishableHeaders(sale))
  await settle(checkout, { kind: 'processing' })
  await statusIs('PROCESSING')
  await settle(checkout, await fullPaymentOf(sale, checkout))
  await statusIs('PAID')
  const [ticket = ''] = checkout.tickets.map(({ _id }) => _id)
  await refundTicket(sale, ticket, { amount: 1 })
  await watching.until(({ payment }) => payment.refunded.amount === '1.00')
  await refundTicket(sale, ticket, { amount: 2 })
  await watching.until(({ payment }) => payment.refunded.amount === '3.00')
  expect(watching.received.map(({ payment }) => payment.status)).toEqual([
    ...['PENDING', 'PROCESSING', 'PAID', 'PARTIALLY_REFUNDED', 'PARTIALLY_REFUNDED'],
  ])
  expect(watching.isComplete()).toBe(false)
})

test('a channel sees how its payments end without a charge, and late money', async () => {
  const failed = await watched()
  await settle(failed.checkout, { kind: 'ended', status: 'failed' })
  await failed.statusIs('FAILED')
  const cancelled = await watched()
  await cancelPayment(sale, cancelled.checkout.payment_id)
  await cancelled.statusIs('CANCELLED')
  const expired = await watched()
  await lapseAll(sale)
  await expireHolds(sale.db, 10)
  await expired.statusIs('EXPIRED')
  await settle(expired.checkout, await fullPaymentOf(sale, expired.checkout))
  await expired.statusIs('PAID')
  // Nothing is told of a payment that stayed as it was.
  expect(cancelled.watching.received).toHaveLength(2)
})

test('two tabs of the same page see the same', async () => {
  const page = await publishableHeaders(sale)
  const { checkout, statusIs } = await watched(page)
  const other = watch(checkout.payment_url, page)
  await other.until(({ payment }) => payment.status === 'PENDING')
  await settle(checkout, await fullPaymentOf(sale, checkout))
  await statusIs('PAID')
  await other.until(({ payment }) => payment.status === 'PAID')
})

test('a change that nobody announced is found within seconds', { timeout: 30_000 }, async () => {
  const { checkout, watching } = await watched()
  await sale.db.execute(`update payments set status = 'failed' where id = '${checkout.payment_id}'`)
  await expect
    .poll(() => watching.received.at(-1)?.payment.status, { timeout: 15_000, interval: 200 })
    .toBe('FAILED')
})

test('an address of another channel, another mode or nothing is refused alike', async () => {
  const { payment_url: url } = await buy()
  const changed = url.replace(/\/pay\/./, (start) => (start.endsWith('a') ? '/pay/b' : '/pay/a'))
  const asked: [url: string, headers: Record<string, string>][] = [
    [url, await channelHeaders(sale.db, 'org_1')],
    [url, (await inTestMode(sale)).channel],
    [changed, sale.channel],
    ['https://shop.example/', sale.channel],
  ]
  const answers = asked.map(async ([url, headers]) => {
    const stream = await openStream(sale.url, headers, { query, variables: { url } })
    await expect.poll(stream.isOver).toBe(true)
    return stream.text().replace(/"request_id":"[^"]*"/, '')
  })
  const [first, ...others] = await Promise.all(answers)
  expect(first).toMatch(/"code":"NOT_FOUND","path":"url"/)
  for (const other of others) expect(other).toBe(first)
})

test('an integration, and nobody, watch no payment', async () => {
  const { payment_url: url } = await buy()
  const refused = watch(url, sale.integration.v2)
  await expect.poll(refused.isComplete).toBe(true)
  expect(refused.errors).toEqual([{ code: 'FORBIDDEN' }])
  const { response } = await openStream(sale.url, {}, { query, variables: { url } })
  expect(response.status).toBe(401)
})
