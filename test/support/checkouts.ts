import { expect } from 'vitest'
import { stock } from '../../src/domain/stock/table.ts'
import { questions } from '../../src/domain/ticket-rate/table.ts'
import { money, toItems, withNumbers } from './contract-input.ts'
import type { Sale } from './sale.ts'

/** One ticket of a checkout request, in REST's field names. */
export const anEntry = (price_id: string, more: Record<string, unknown> = {}) => ({
  price_id,
  full_name: 'Ana Núñez',
  email: 'ana@example.com',
  ...more,
})

type Entry = Record<string, unknown>
type Body = { ticket_rate_id: string; tickets: Entry[] } & Record<string, unknown>

export type IssuedTicket = {
  _id: string
  qr_code: string
  status: string
  price: { _id: string; price: number }
  total_price: number
}
export type Checkout = {
  payment_id: string
  payment_url: string
  total_amount: number
  tickets: (IssuedTicket & Record<string, unknown>)[]
  conditions_changed: boolean
}

export const checkOut = (sale: Sale, body: Body, headers: Record<string, string> = {}) =>
  sale.rest('POST', '/tickets/checkout', { headers: { ...sale.channel, ...headers }, body })

/** Checks out, and fails the test if that is refused. */
export async function mustCheckOut(
  sale: Sale,
  body: Body,
  headers: Record<string, string> = {},
): Promise<Checkout> {
  const answer = await checkOut(sale, body, headers)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<{ data: Checkout }>().data
}

/** Turns a body of REST into an input of GraphQL: names in camel case, and the one enum in upper case. */
export const toCamelCase = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(toCamelCase)
  if (typeof value !== 'object' || value === null) return value
  const name = (key: string) => key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      name(key),
      key === 'personal_document_type' && typeof field === 'string'
        ? field.toUpperCase()
        : toCamelCase(field),
    ]),
  )
}

export type Refused = { __typename: string; code: string; path: string | null; message: string } & Record<
  string,
  unknown
>

const checkoutMutation = `mutation ($input: CheckoutInput!) { checkout(input: $input) {
  __typename
  ... on CheckoutPayload { conditionsChanged replayed payment { id status totalAmount { amount currency } }
    ticketRates { id }
    tickets { id status qrCode amounts { total { amount currency } } price { id } } }
  ... on Refused { errors { __typename code message path
    ... on AvailabilityError { available } ... on LimitError { min max }
    ... on SaleTimeError { startsAt endedAt } ... on UnderAgeError { minimumAge }
    ... on AmountError { amount { amount currency } } } } } }`

export type CheckoutResult = {
  __typename: 'CheckoutPayload' | 'Refused'
  conditionsChanged: boolean
  replayed: boolean
  payment: { id: string; status: string; totalAmount: number }
  ticketRates: { id: string }[]
  tickets: { id: string; status: string; qrCode: string; amounts: { total: number }; price: { id: string } }[]
  errors: Refused[]
}

/** A body of REST with answers as GraphQL takes them, by the type of their question. */
export async function byKind(sale: Sale, { tickets, ...rest }: Body): Promise<Body> {
  const isAsked = tickets.some(({ answers }) => answers)
  const found = isAsked ? await sale.db.select().from(questions) : []
  const toAnswer = ({ question_id, answer }: { question_id: string; answer: string }) => {
    const { type = 'text', options = [] } = found.find(({ id }) => id === question_id) ?? {}
    const optionId = options.find(({ label }) => label === answer)?.id ?? 'opt_none'
    const isTick = type === 'checkbox' && /^(true|false)$/.test(answer)
    const value =
      type === 'dropdown' ? { optionId } : isTick ? { checked: answer === 'true' } : { text: answer }
    return { question_id, answer: value }
  }
  const toEntry = ({ answers, ...entry }: Entry) => ({
    ...entry,
    ...(answers ? { answers: (answers as Parameters<typeof toAnswer>[0][]).map(toAnswer) } : {}),
  })
  return { ...rest, tickets: tickets.map(toEntry) } as Body
}

/** Input of `checkout` from a REST body. */
export function toCheckoutInput(body: Body): Record<string, unknown> {
  const { ticketRateId, tickets, sendResourcers, expectedTotal, ...rest } = toCamelCase(body) as Record<
    string,
    unknown
  >
  return {
    ...rest,
    items: toItems(ticketRateId, tickets as Entry[]),
    ...(sendResourcers !== undefined && { sendTickets: sendResourcers }),
    ...(typeof expectedTotal === 'number' && { expectedTotal: money(expectedTotal) }),
    ...(body.metadata ? { metadata: body.metadata } : {}),
  }
}

/** Checks out over GraphQL with a REST body, converted to GraphQL's input. `more` adds GraphQL-only input
 *  fields. Amounts of the answer are numbers. */
export async function checkOutOverGraphql(sale: Sale, body: Body, more: Record<string, unknown> = {}) {
  const { data, errors } = await sale.graphql<{ checkout: CheckoutResult }>(
    checkoutMutation,
    { input: { idempotencyKey: crypto.randomUUID(), ...toCheckoutInput(await byKind(sale, body)), ...more } },
    sale.channel,
  )
  expect(errors).toBeUndefined()
  if (!data) throw new Error('the checkout returned no data')
  return withNumbers(data.checkout)
}

/** Reads the sold and held counters of rates, prices and discounts, by identifier; those of test mode after `test/`. */
export async function countersOf(sale: Sale) {
  const rows = await sale.db.select().from(stock)
  return Object.fromEntries(
    rows.map(({ id, mode, sold, held }) => [mode === 'test' ? `test/${id}` : id, { sold, held }]),
  )
}
