import { asc, eq } from 'drizzle-orm'
import { expect } from 'vitest'
import { deliveries } from '../../src/domain/delivery/table.ts'
import { retiredDocuments } from '../../src/domain/ticket/table.ts'
import type { Sale } from './sale.ts'

// GraphQL mutations on the holder of a ticket, and the rows they leave.

type Headers = Record<string, string>
type Problem = { __typename: string; code: string; path: string | null; message: string } & Record<
  string,
  unknown
>
type HeldTicket = {
  id: string
  status: string
  qrCode: string
  documentUrl: string | null
  fullName: string
  email: string
  phone: string | null
  gender: string | null
  birthday: string | null
  address: string | null
  postalCode: string | null
  countryCode: string | null
  personalDocumentType: string | null
  personalDocumentNumber: string | null
  language: string | null
  answers: { questionId: string; answer: string }[]
}
type Result = { ticket?: HeldTicket; tickets?: HeldTicket[]; deliveries?: number; errors?: Problem[] }

const ticketFields = `id status qrCode documentUrl fullName email phone gender birthday address postalCode countryCode
  personalDocumentType personalDocumentNumber language answers { questionId answer }`
const refused = `... on Refused { errors { __typename code message path ... on TransitionError { from to }
  ... on UnderAgeError { minimumAge } ... on ResendLimitError { limit retryAfter } } }`
const mutation = (
  name: string,
  payload: string,
) => `mutation ($input: ${name[0]?.toUpperCase()}${name.slice(1)}Input!) {
  ${name}(input: $input) { ... on ${name[0]?.toUpperCase()}${name.slice(1)}Payload { ${payload} } ${refused} } }`
const documents = {
  updateAttendee: mutation('updateAttendee', `ticket { ${ticketFields} }`),
  updateAttendees: mutation('updateAttendees', `tickets { ${ticketFields} }`),
  transferTicket: mutation('transferTicket', `ticket { ${ticketFields} }`),
  resendTickets: mutation('resendTickets', `deliveries tickets { ${ticketFields} }`),
}

/** Sends a mutation and returns the whole response, including errors. */
export const callHolderMutation = (
  sale: Sale,
  name: keyof typeof documents,
  input: Record<string, unknown>,
  headers: Headers,
) => sale.graphql<{ [name: string]: Result }>(documents[name], { input }, headers)

async function answerOf(...given: Parameters<typeof callHolderMutation>): Promise<Result> {
  const { data, errors } = await callHolderMutation(...given)
  expect(errors).toBeUndefined()
  const result = data?.[given[1]]
  if (!result) throw new Error('the mutation returned no data')
  return result
}

export const berta = { fullName: 'Berta Öz', email: 'berta@example.com' }

export const updateAttendee = (sale: Sale, ticketId: string, more: object, headers = sale.channel) =>
  answerOf(sale, 'updateAttendee', { ticketId, ...more }, headers)
export const updateAttendees = (sale: Sale, attendees: object[], headers = sale.channel) =>
  answerOf(sale, 'updateAttendees', { attendees }, headers)
/** Gives a ticket to Berta, or to somebody else. */
export const transferTicket = (sale: Sale, ticketId: string, more: object = {}, headers = sale.channel) =>
  answerOf(sale, 'transferTicket', { ticketId, ...berta, ...more }, headers)
export const resendTickets = (sale: Sale, input: Record<string, unknown>, headers = sale.channel) =>
  answerOf(sale, 'resendTickets', input, headers)

/** Scans a code, or a ticket by its identifier, and returns the result. */
export async function scanCode(sale: Sale, given: { qrCode?: string; ticketId?: string }): Promise<string> {
  const { data } = await sale.graphql<{ checkInTicket: { result: string } }>(
    `mutation ($input: CheckInTicketInput!) { checkInTicket(input: $input) { ... on CheckIn { result } } }`,
    { input: { ticket: given, nonce: crypto.randomUUID() } },
    sale.integration.v2,
  )
  return data?.checkInTicket.result ?? ''
}

/** Path of a document from its URL. */
export const pathOf = (url: string | null | undefined): string => new URL(url ?? '').pathname

export const deliveriesOf = async (sale: Sale, ticketId: string) => {
  const rows = await sale.db
    .select()
    .from(deliveries)
    .where(eq(deliveries.ticketId, ticketId))
    .orderBy(asc(deliveries.createdAt), asc(deliveries.id))
  return rows
    .map(({ notice, medium, recipient }) => `${notice?.about ?? 'tickets'} ${medium} ${recipient}`)
    .toSorted()
}

export const retiredOf = async (sale: Sale, ticketId: string): Promise<string[]> => {
  const rows = await sale.db.select().from(retiredDocuments).where(eq(retiredDocuments.ticketId, ticketId))
  return rows.map(({ token }) => token)
}
