import { expect } from 'vitest'
import { anEntry, type Checkout } from '../checkouts.ts'
import { money } from '../contract-input.ts'
import type { StripeSale } from '../stripe-sale.ts'
import type { Caller } from './callers.ts'

// Webhooks and sales of the callers of the matrix.

type Answer<Data> = { data: Data | null | undefined; errors: unknown }
/** The data of an answer without errors. */
export const dataOf = <Data>({ data, errors }: Answer<Data>): Data => {
  expect(errors).toBeUndefined()
  if (!data) throw new Error('the response has no data')
  return data
}

/** Registers a webhook for a caller and returns its ID. */
export async function register(sale: Pick<StripeSale, 'graphql'>, caller: Caller): Promise<string> {
  const mutation = `mutation ($url: String!) { registerWebhook(input: { url: $url, idempotencyKey: $url }) {
    ... on RegisterWebhookPayload { webhook { id } } ... on Refused { errors { message } } } }`
  const url = `https://hooks.example/mk-hook-${caller.name}`
  const answer = await sale.graphql<{ registerWebhook: { webhook: { id: string } } }>(
    mutation,
    { url },
    caller.headers,
  )
  return dataOf(answer).registerWebhook.webhook.id
}

/** Checks out one ticket with a supplement, an answer and a warranty as this caller. */
async function checkOutAs(sale: StripeSale, caller: Caller, organization: number): Promise<Checkout> {
  const part = (prefix: string) => `${prefix}_${organization}_a`
  const mark = `mk-sale-${caller.name}`
  const entry = anEntry(part('price'), {
    full_name: mark,
    email: `${mark}@example.com`,
    phone: '+34600123123',
    address: mark,
    birthday: '1990-01-02',
    personal_document_type: 'dni',
    personal_document_number: mark,
    supplements: [{ supplement_id: part('sup') }],
    answers: [
      { question_id: part('que'), answer: mark },
      { question_id: part('size'), answer: 'A friend' },
    ],
    warranty: true,
  })
  const discount_code = `code-${organization}`
  const body = { ticket_rate_id: part('rate'), tickets: [entry], metadata: { mark }, discount_code }
  const answer = await sale.rest('POST', '/tickets/checkout', { headers: caller.headers, body })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<{ data: Checkout }>().data
}

// Test tickets are paid in the sandbox, which needs no event of Stripe.
async function pay(sale: StripeSale, { mode }: Caller, checkout: Checkout): Promise<Checkout> {
  if (mode === 'test') {
    await sale.buyer.pay(checkout)
    return checkout
  }
  const session = await sale.goToStripe(checkout)
  await sale.deliver(sale.fake.pay(session.id))
  return checkout
}

/** Buys and pays a ticket as this caller. Returns its ID. */
export async function buyAs(sale: StripeSale, caller: Caller, organization: number): Promise<string> {
  const { tickets } = await pay(sale, caller, await checkOutAs(sale, caller, organization))
  return tickets[0]?._id ?? ''
}

async function refundPart(sale: StripeSale, door: Caller, { tickets }: Checkout) {
  const mutation = 'mutation ($input: RefundTicketsInput!) { refundTickets(input: $input) { __typename } }'
  const ticketId = tickets[0]?._id
  const answer = await sale.graphql<{ refundTickets: { __typename: string } }>(
    mutation,
    { input: { of: { ticketId }, amount: money(1), idempotencyKey: `part-${ticketId}` } },
    door.headers,
  )
  expect(dataOf(answer).refundTickets.__typename).toBe('RefundTicketsPayload')
}

/** Leaves a pending checkout, and a paid and partly refunded one. */
export async function sellAs(sale: StripeSale, caller: Caller, organization: number, door: Caller) {
  const pending = await checkOutAs(sale, caller, organization)
  const paid = await pay(sale, caller, await checkOutAs(sale, caller, organization))
  await refundPart(sale, door, paid)
  return [pending, paid]
}
