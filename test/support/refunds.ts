import { asc, eq } from 'drizzle-orm'
import { expect } from 'vitest'
import { changes } from '../../src/domain/change/table.ts'
import { payments } from '../../src/domain/payment/table.ts'
import { refunds } from '../../src/domain/refund/table.ts'
import { tickets } from '../../src/domain/ticket/table.ts'
import type { Checkout } from './checkouts.ts'
import { type Amount, money, withNumbers } from './contract-input.ts'
import type { Sale } from './sale.ts'

// GraphQL mutations of a channel and an integration on a paid checkout, and the rows they leave.

type Headers = Record<string, string>

type Problem = { __typename: string; code: string; path: string | null; message: string } & Record<
  string,
  unknown
>
export type Refund = {
  id: string
  amount: number
  reason: string
  status: string
  createdAt: string
  succeededAt: string | null
  ticket: { id: string; status: string } | null
}
type HeldTicket = { id: string; status: string; settlement: { net: number } }
type Result = {
  payment?: { id: string; status: string; tickets: { status: string }[] }
  ticket?: HeldTicket
  tickets?: HeldTicket[]
  refund?: Refund
  refunds?: Refund[]
  replayed?: boolean
  errors?: Problem[]
}

export const refundFields =
  'id amount { amount currency } reason status createdAt succeededAt ticket { id status settlement { refunded { amount currency } } }'
const refused = `... on Refused { errors { __typename code message path ... on TransitionError { ticket { status } payment { status } }
  ... on AmountError { amount { amount currency } } ... on WarrantyError { endedAt } } }`
const documents = {
  cancelPayment: `mutation ($input: CancelPaymentInput!) { cancelPayment(input: $input) {
    ... on CancelPaymentPayload { payment { id status tickets { status } } } ${refused} } }`,
  cancelTickets: `mutation ($input: CancelTicketsInput!) { cancelTickets(input: $input) {
    ... on CancelTicketsPayload { tickets { id status settlement { net { amount currency } } } } ${refused} } }`,
  refundTickets: `mutation ($input: RefundTicketsInput!) {
    refundTickets(input: $input) {
      ... on RefundTicketsPayload { replayed refunds { ${refundFields} } } ${refused} } }`,
  returnTicket: `mutation ($input: ReturnTicketInput!) { returnTicket(input: $input) {
    ... on ReturnTicketPayload { refund { ${refundFields} } } ${refused} } }`,
}

/** Sends a mutation and returns the whole response, including errors. */
export const callMutation = (
  sale: Sale,
  name: keyof typeof documents,
  input: Record<string, unknown>,
  headers: Headers,
) => sale.graphql<{ [name: string]: Result }>(documents[name], { input }, headers)

async function answerOf(...given: Parameters<typeof callMutation>): Promise<Result> {
  const { data, errors } = await callMutation(...given)
  expect(errors).toBeUndefined()
  const result = data?.[given[1]]
  if (!result) throw new Error('the mutation returned no data')
  return withNumbers(result)
}

export const cancelPayment = (sale: Sale, paymentId: string) =>
  answerOf(sale, 'cancelPayment', { paymentId }, sale.channel)

/** A ticket, or the tickets of a payment. */
type Of = { ticketId: string } | { paymentId: string }

export const cancelTickets = (sale: Sale, of: Of, headers = sale.channel) =>
  answerOf(sale, 'cancelTickets', { of }, headers)
/** Cancels one ticket, and returns it. */
export async function cancelTicket(sale: Sale, ticketId: string, headers = sale.channel) {
  const { tickets, ...answer } = await cancelTickets(sale, { ticketId }, headers)
  return { ...answer, ...(tickets?.[0] && { ticket: tickets[0] }) }
}

type Refunding = { amount?: number | Amount | null } & Record<string, unknown>
/** Refunds tickets, under a key of their own unless one is given. `amount` is a number in EUR, or an amount. */
export const refundTickets = (sale: Sale, of: Of, { amount, ...more }: Refunding = {}) =>
  answerOf(
    sale,
    'refundTickets',
    {
      of,
      idempotencyKey: crypto.randomUUID(),
      amount: typeof amount === 'number' ? money(amount) : amount,
      ...more,
    },
    sale.integration.v2,
  )
/** Refunds one ticket, and returns its refund. */
export async function refundTicket(sale: Sale, ticketId: string, more?: Refunding) {
  const { refunds, ...answer } = await refundTickets(sale, { ticketId }, more)
  return { ...answer, ...(refunds?.[0] && { refund: refunds[0] }) }
}
export const returnTicket = (sale: Sale, ticketId: string) =>
  answerOf(sale, 'returnTicket', { ticketId }, sale.channel)

// A ticket or a payment is told by its status.
const factOf = (fact: unknown): unknown[] =>
  fact === null ? [] : typeof fact === 'object' ? Object.values(fact as object) : [fact]

/** Code and facts of each problem, one string per problem. */
export const refusalCodes = ({ errors = [] }: Pick<Result, 'errors'>) =>
  errors.map(({ __typename, code, message, path, ...facts }) =>
    [code, ...(path ? [path] : []), ...Object.values(facts).flatMap(factOf)].join(' '),
  )

export const paymentRow = async (sale: Sale, { payment_id }: Checkout) =>
  (await sale.db.select().from(payments).where(eq(payments.id, payment_id)))[0]
export const ticketRow = async (sale: Sale, id: string) =>
  (await sale.db.select().from(tickets).where(eq(tickets.id, id)))[0]
export const refundRows = (sale: Sale, { payment_id }: Checkout) =>
  sale.db.select().from(refunds).where(eq(refunds.paymentId, payment_id)).orderBy(asc(refunds.id))

/** Types of the changes of a payment, ticket or rate, in order. */
export async function changeTypesOf(sale: Sale, subjectId: string) {
  const rows = await sale.db
    .select()
    .from(changes)
    .where(eq(changes.subjectId, subjectId))
    .orderBy(asc(changes.sequence))
  return rows.map(({ type }) => type)
}
