import { expect, test } from 'vitest'
import type { Answer, Ask } from '../../bench/http-client.ts'
import { buyOne } from '../../bench/whole-sale.ts'
import { money } from '../../support/contract-input.ts'

// One whole sale of a ticket, with each response wrong once.

const life = {
  key: 'channel',
  integrationKey: 'integration',
  target: { rateId: 'rate_1', priceId: 'price_1' },
}

type Answers = Record<'list' | 'quote' | 'checkout' | 'payment' | 'lookup', Answer>

const json = (body: object): Answer => ({ status: 200, length: 0, body: JSON.stringify(body) })
const good: Answers = {
  list: json({ data: [] }),
  quote: json({ data: { quoteCheckout: { __typename: 'CheckoutQuote', amounts: { total: money(19.44) } } } }),
  checkout: json({
    data: {
      payment_url: 'http://127.0.0.1:4000/pay/token',
      total_amount: 19.44,
      tickets: [{ _id: 'tkt_1' }],
    },
  }),
  payment: { status: 303, length: 0, head: 'HTTP/1.1 303 See Other\r\nlocation: https://shop.example/done' },
  lookup: json({ data: { status: 'activated', total_paid: 19.44, invoice_reference: 'F2026-000001' } }),
}

const stepOf = ({ path }: Ask): keyof Answers => {
  if (path === '/graphql') return 'quote'
  if (path.startsWith('/events')) return 'list'
  if (path === '/tickets/checkout') return 'checkout'
  return path === '/pay/token' ? 'payment' : 'lookup'
}

/** Buys a ticket with some good responses replaced. Returns each step with its caller. */
async function live(answers: Partial<Answers> = {}): Promise<string[]> {
  const asked: string[] = []
  const send = async (ask: Ask) => {
    asked.push(`${stepOf(ask)} ${ask.headers['x-api-key'] ?? 'nobody'}`)
    return { ...good, ...answers }[stepOf(ask)]
  }
  await buyOne(send, life)
  return asked
}

test('a ticket is listed, quoted, checked out, paid and looked up', async () => {
  expect(await live()).toEqual([
    ...['list channel', 'quote channel', 'checkout channel', 'payment nobody', 'lookup integration'],
  ])
})

test.each([
  ['list', { ...good.list, status: 503 }, 'the list was answered with 503'],
  ['quote', json({ data: { quoteCheckout: { __typename: 'Refused' } } }), 'quoted at undefined'],
  [
    'quote',
    json({ data: { quoteCheckout: { amounts: { total: money(20) } } } }),
    'quoted at 20, checked out at 19.44',
  ],
  ['checkout', { ...good.checkout, status: 409 }, 'the checkout was answered with 409'],
  [
    'checkout',
    json({ data: { ...JSON.parse(good.checkout.body ?? '').data, tickets: [] } }),
    'checked out at',
  ],
  // A 200 shows the payment page again, and a redirect to error_url is a failed payment.
  ['payment', { ...good.payment, status: 200 }, 'the payment was answered with 200'],
  [
    'payment',
    { status: 303, length: 0, head: 'HTTP/1.1 303\r\nlocation: https://shop.example/failed' },
    'sent elsewhere',
  ],
  ['lookup', { ...good.lookup, status: 404 }, 'the lookup was answered with 404'],
  ['lookup', json({ data: { status: 'pending', total_paid: 0, invoice_reference: null } }), 'looked up as'],
  [
    'lookup',
    json({ data: { status: 'activated', total_paid: 19.44, invoice_reference: null } }),
    'looked up as',
  ],
] satisfies [keyof Answers, Answer, string][])(
  'a wrong response to %s ends the sale with an error',
  async (step, answer, error) => {
    await expect(live({ [step]: answer })).rejects.toThrow(error)
  },
)
