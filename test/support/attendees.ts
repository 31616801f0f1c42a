import { asc, eq } from 'drizzle-orm'
import { expect } from 'vitest'
import { deliveries } from '../../src/domain/delivery/table.ts'
import { retiredDocuments, tickets } from '../../src/domain/ticket/table.ts'
import { attendeeFields, fromAttendee, toAttendee } from './contract-input.ts'
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
  birthday: string | null
  address: string | null
  postalCode: string | null
  countryCode: string | null
  personalDocumentType: string | null
  personalDocumentNumber: string | null
  language: string | null
  answers: { text: string | null }[]
}
type Result = {
  ticket?: HeldTicket
  tickets?: HeldTicket[]
  queued?: number
  replayed?: boolean
  errors?: Problem[]
}

const ticketFields = `id status qrCode documentUrl ${attendeeFields} answers { text }`
const refused = `... on Refused { errors { __typename code message path
  ... on TransitionError { ticket { status } payment { status } }
  ... on UnderAgeError { minimumAge } ... on LimitError { max retryAfter } } }`
const mutation = (
  name: string,
  payload: string,
) => `mutation ($input: ${name[0]?.toUpperCase()}${name.slice(1)}Input!) {
  ${name}(input: $input) { ... on ${name[0]?.toUpperCase()}${name.slice(1)}Payload { ${payload} } ${refused} } }`
const documents = {
  updateAttendees: mutation('updateAttendees', `tickets { ${ticketFields} }`),
  transferTicket: mutation('transferTicket', `ticket { ${ticketFields} }`),
  resendTickets: mutation('resendTickets', `replayed queued tickets { ${ticketFields} }`),
}

/** Sends a mutation and returns the whole response, including errors. */
export const callHolderMutation = (
  sale: Sale,
  name: keyof typeof documents,
  input: Record<string, unknown>,
  headers: Headers,
) => sale.graphql<{ [name: string]: Result }>(documents[name], { input }, headers)

type ShownTicket = { attendee: Parameters<typeof fromAttendee>[0] | null }

// A ticket with the fields of its attendee beside its own.
const flatten = ({ attendee, ...ticket }: ShownTicket) =>
  ({ ...ticket, ...(attendee && fromAttendee(attendee)) }) as unknown as HeldTicket

async function answerOf(...given: Parameters<typeof callHolderMutation>): Promise<Result> {
  const { data, errors } = await callHolderMutation(...given)
  expect(errors).toBeUndefined()
  const result = data?.[given[1]]
  if (!result) throw new Error('the mutation returned no data')
  const { ticket, tickets } = result as { ticket?: ShownTicket; tickets?: ShownTicket[] }
  return {
    ...result,
    ...(ticket && { ticket: flatten(ticket) }),
    ...(tickets && { tickets: tickets.map(flatten) }),
  }
}

export const berta = { fullName: 'Berta Öz', email: 'berta@example.com' }

// A correction, from flat fields.
const toCorrection = (flat: object) => {
  const { attendee, rest } = toAttendee(flat as Record<string, unknown>)
  return { ...rest, ...attendee }
}

/** Corrects one attendee. Returns its ticket. */
export async function updateAttendee(sale: Sale, ticketId: string, more: object, headers = sale.channel) {
  const { tickets, ...result } = await updateAttendees(sale, [{ ticketId, ...more }], headers)
  return { ...result, ...(tickets?.[0] && { ticket: tickets[0] }) }
}
export const updateAttendees = (sale: Sale, attendees: object[], headers = sale.channel) =>
  answerOf(sale, 'updateAttendees', { attendees: attendees.map(toCorrection) }, headers)
/** Gives a ticket to Berta, or to somebody else. */
export const transferTicket = (sale: Sale, ticketId: string, more: object = {}, headers = sale.channel) =>
  answerOf(
    sale,
    'transferTicket',
    { ticketId, attendee: toAttendee({ ...berta, ...more }).attendee },
    headers,
  )
export const resendTickets = (sale: Sale, of: object, headers = sale.channel, idempotencyKey?: string) =>
  answerOf(sale, 'resendTickets', { of, idempotencyKey }, headers)

/** Scans a code, or a ticket by its identifier, at the event of the ticket, and returns the outcome. */
export async function scanCode(sale: Sale, given: { qrCode?: string; ticketId?: string }): Promise<string> {
  const isGiven = given.ticketId ? eq(tickets.id, given.ticketId) : eq(tickets.qrCode, given.qrCode ?? '')
  const [found] = await sale.db.select({ eventId: tickets.eventId }).from(tickets).where(isGiven)
  const { data } = await sale.graphql<{ checkInTicket: { checkIn: { outcome: string } } }>(
    `mutation ($input: CheckInTicketInput!) { checkInTicket(input: $input) {
      ... on CheckInTicketPayload { checkIn { outcome } } } }`,
    { input: { ticket: given, eventId: found?.eventId ?? 'evt_none', idempotencyKey: crypto.randomUUID() } },
    sale.integration.v2,
  )
  return data?.checkInTicket.checkIn.outcome ?? ''
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
