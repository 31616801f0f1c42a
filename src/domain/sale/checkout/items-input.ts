import { z } from 'zod'
import { type Problem, Refusal, refusalOf } from '../../../engine/base/errors.ts'
import * as scalars from '../../../engine/base/input-types.ts'
import { refusal } from '../../contract/problem-codes.ts'
import { paymentMethod } from '../../payment/table.ts'
import { maxInvitations, type Ticket } from '../../ticket/table.ts'
import { answerInput, type CheckoutEntry, checkoutBody, ticketInput } from './checkout-input.ts'

// Input of GraphQL's checkouts: items, each of a rate, whose tickets have an attendee. REST takes one rate and flat
// tickets.

const flat = ticketInput.shape
const common = checkoutBody.shape

export const address = z
  .strictObject({ street: flat.address, postalCode: flat.postalCode, countryCode: flat.countryCode })
  .describe('Postal address.')

export const identityDocument = z
  .strictObject({
    type: scalars.personalDocumentType.nullish().describe('Kind of document.'),
    number: flat.personalDocumentNumber.describe('Number of the document.'),
  })
  .describe('Identity document.')

/** Person that a ticket is for. */
export const attendee = z
  .strictObject({
    fullName: flat.fullName.describe('Full name.'),
    email: flat.email,
    phone: flat.phone,
    language: common.language.describe(
      'Language that the attendee is addressed in, as a BCP 47 tag; that of the checkout or the organization if omitted.',
    ),
    birthDate: flat.birthday.describe('Date of birth, as `YYYY-MM-DD`.'),
    address: address.nullish().describe('Postal address.'),
    identityDocument: identityDocument.nullish().describe('Identity document.'),
  })
  .describe('Person that a ticket is for.')

type Attendee = z.output<typeof attendee>

type PlaceIn<Whole> = {
  [Field in keyof Whole & string]-?: NonNullable<Whole[Field]> extends object
    ? `${Field}.${keyof NonNullable<Whole[Field]> & string}`
    : Field
}[keyof Whole & string]

// Columns of a ticket for all that an attendee has: refusals of flat tickets, corrections and transfers follow from it.
const columns = {
  ...({ fullName: 'fullName', email: 'email', phone: 'phone', language: 'language' } as const),
  birthDate: 'birthday',
  'address.street': 'address',
  'address.postalCode': 'postalCode',
  'address.countryCode': 'countryCode',
  'identityDocument.type': 'personalDocumentType',
  'identityDocument.number': 'personalDocumentNumber',
} as const satisfies Record<PlaceIn<Attendee>, keyof CheckoutEntry & keyof Ticket>

export type AttendeeColumn = (typeof columns)[keyof typeof columns]

/** Places of these columns in an attendee: a field, and where it has parts, one of them. */
export const attendeePlaces = new Map(
  Object.entries(columns).map(([place, column]): [AttendeeColumn, string[]] => [column, place.split('.')]),
)

/** Columns of a ticket for an attendee. Spelled out for speed, because a checkout makes them for each ticket. */
export function attendeeColumns(attendee: Attendee) {
  const { fullName, email, phone, language, birthDate, address, identityDocument } = attendee
  return {
    ...{ fullName, email, phone, language },
    birthday: birthDate ?? null,
    address: address?.street ?? null,
    postalCode: address?.postalCode ?? null,
    countryCode: address?.countryCode ?? null,
    personalDocumentType: identityDocument?.type ?? null,
    personalDocumentNumber: identityDocument?.number ?? null,
  } satisfies Record<AttendeeColumn, string | null | undefined>
}

const { priceId, qrCode, supplements, warranty } = flat
const given = answerInput.shape

/** Answer to a question. GraphQL makes it one of the three. */
export const answerValue = z
  .strictObject({
    text: given.answer.optional().describe('Text, at most 500 characters.'),
    checked: z.boolean().optional().describe('True if the checkbox is ticked.'),
    optionId: scalars.identifier.optional().describe('Identifier of the chosen option of a dropdown.'),
  })
  .describe('Answer to a question, in the field for its `type`.')

export const answer = z
  .strictObject({
    questionId: given.questionId,
    answer: answerValue.describe("Answer, in the field for the question's `type`."),
  })
  .describe('Answer to a question of the ticket rate.')

export const answers = z
  .array(answer)
  .nullish()
  .describe(flat.answers.description ?? '')

/** Ticket to buy. */
export const ticket = z
  .strictObject({
    priceId,
    attendee: attendee.describe('Person that the ticket is for.'),
    answers,
    supplements,
    warranty,
    qrCode,
  })
  .describe('Ticket to buy.')

/** Ticket to quote, which is nobody's yet. */
export const quotedTicket = z.strictObject({ priceId, supplements, warranty }).describe('Ticket to quote.')

// A later release takes several.
const oneItem = <Ticket extends z.ZodType>(one: Ticket) =>
  z
    .strictObject({
      ticketRateId: common.ticketRateId,
      tickets: z.array(one).describe('Tickets of the rate, at most 50.'),
    })
    .describe('Tickets of one rate.')

export const item = oneItem(ticket)
export const quotedItem = oneItem(quotedTicket)

const itemsOf = <Item extends z.ZodType>(one: Item) =>
  z
    .array(one)
    .min(1, 'must not be empty')
    .max(1, 'must be of one ticket rate: several in one checkout are not possible yet')
    .describe('Rates and their tickets. Several rates are not possible yet: give one item.')

/** Items of a checkout, and of a quote. */
export const items = itemsOf(item)
export const quotedItems = itemsOf(quotedItem)

type Item = z.output<typeof item>

// Returns the rate and the flat tickets of items. Tickets are spelled out, because the rest of an object takes long to copy.
function readItems([first]: (Item | z.output<typeof quotedItem>)[]) {
  if (!first) throw refusal('REQUIRED', 'items must not be empty.', ['items'])
  const tickets = first.tickets.map((ticket): CheckoutEntry => {
    if (!('attendee' in ticket)) return ticket as CheckoutEntry
    const { priceId, answers, supplements, warranty, qrCode, attendee } = ticket
    const entry = { priceId, answers, supplements, warranty, qrCode, ...attendeeColumns(attendee) }
    // Attendees of GraphQL have no gender; all else that REST takes is given.
    return entry satisfies Record<keyof Omit<CheckoutEntry, 'gender'>, unknown>
  })
  return { ticketRateId: first.ticketRateId, tickets }
}

// Translates a path of a flat checkout to one in its items.
function toItems([field, index, ...rest]: (string | number)[] = []): (string | number)[] | undefined {
  if (field === undefined) return undefined
  if (field === 'ticketRateId') return ['items', 0, 'ticketRateId']
  if (field !== 'tickets') return [field, ...(index === undefined ? [] : [index]), ...rest]
  const place = attendeePlaces.get(rest[0] as AttendeeColumn)
  const below = place ? ['attendee', ...place] : rest
  return ['items', 0, 'tickets', ...(index === undefined ? [] : [index, ...below])]
}

/** Sells or quotes tickets of a rate, and returns it beside them. A refusal tells of the rate as it is now, and has the
 *  path that `place` makes of its own. */
export async function ofRate<Sold extends object>(
  ticketRateId: string,
  sell: () => Promise<Sold>,
  place = (path: Problem['path']) => path,
): Promise<Sold & { ticketRateId: string }> {
  try {
    return { ...(await sell()), ticketRateId }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const toProblem = (problem: Problem): Problem => ({
      ...problem,
      path: place(problem.path),
      about: { ticketRateId, ...problem.about },
    })
    throw refusalOf(error.problems.map(toProblem))
  }
}

/** Sells or quotes items as `ofRate` does. A refusal names places in them. */
export function sellItems<Sold extends object>(
  items: Parameters<typeof readItems>[0],
  sell: (asked: ReturnType<typeof readItems>) => Promise<Sold>,
): Promise<Sold & { ticketRateId: string }> {
  const asked = readItems(items)
  return ofRate(asked.ticketRateId, () => sell(asked), toItems)
}

const key = scalars.idempotencyKey.describe(
  'Key of the request, chosen by the client, which makes retries safe: the same key and input return the first result for 24 hours, and the same key with another input is refused.',
)

const discountCode = common.discountCode

/** Input of `checkout`. */
export const checkoutInput = z
  .strictObject({
    items,
    discountCode,
    expectedTotal: scalars.money
      .nullish()
      .describe(
        'Total that the buyer was shown. A higher total is refused, and nothing is held; a lower one sets `conditionsChanged`.',
      ),
    sendTickets: common.sendTickets,
    redirectUrl: common.redirectUrl,
    errorUrl: common.errorUrl,
    language: common.language,
    referralId: common.referralId,
    metadata: common.metadata,
    idempotencyKey: key,
  })
  .describe('Tickets to buy together.')

/** Input of `quoteCheckout`. */
export const quoteInput = z.strictObject({ items: quotedItems, discountCode }).describe('Tickets to quote.')

/** Input of `sellAtBoxOffice`: the fields of a checkout that a buyer at the door needs, and how the money was taken. */
export const boxOfficeInput = z
  .strictObject({
    items,
    discountCode,
    expectedTotal: scalars.money
      .nullish()
      .describe('Total that the buyer was told. A higher total is refused, and nothing is sold.'),
    language: common.language,
    method: z.enum(paymentMethod.enumValues).describe('Means by which the buyer has paid.'),
    reference: scalars
      .text(100)
      .nullish()
      .describe(
        'Reference of the payment, such as the number of a receipt: 1 to 100 characters. Not meant for personal data.',
      ),
    idempotencyKey: key,
  })
  .describe('Tickets that are sold at the box office.')

/** Input of `issueInvitations`: tickets of one rate, each for a guest. */
export const invitationsInput = z
  .strictObject({
    ticketRateId: common.ticketRateId,
    guests: z.array(attendee).describe(`Guests, one ticket for each; at most ${maxInvitations}.`),
    sendTickets: common.sendTickets.describe('True to send the tickets to the guests. Defaults to false.'),
    idempotencyKey: key,
  })
  .describe('Tickets of one rate that are given away.')
