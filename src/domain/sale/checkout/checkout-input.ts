import { z } from 'zod'
import * as scalars from '../../../engine/base/input-types.ts'
import { metadata } from '../../../engine/base/metadata.ts'
import type { Money } from '../../../engine/base/money.ts'

/** Answer to a question of the rate. */
export const answerInput = z
  .strictObject({
    questionId: scalars.identifier.describe('Question identifier.'),
    answer: scalars
      .multilineText(500, scalars.composed)
      .describe(
        'Answer: an item of a dropdown, `true` or `false` for a checkbox, else text of at most 500 characters.',
      ),
  })
  .meta({ id: 'CheckoutAnswer', description: 'Answer to a question of the ticket rate.' })

/** Supplement to buy with a ticket. */
export const supplementInput = z
  .strictObject({ supplementId: scalars.identifier.describe('Supplement identifier.') })
  .meta({ id: 'CheckoutSupplement', description: 'Supplement to buy with a ticket.' })

/** Ticket to buy, and its attendee. */
export const ticketInput = z
  .strictObject({
    priceId: scalars.identifier.describe('Price identifier; the price is one of the rate.'),
    qrCode: scalars.qrCode
      .nullish()
      .describe(
        'Code to put on the ticket, stored as given: 1 to 64 visible ASCII characters, unused within the event. Generated if omitted.',
      ),
    fullName: scalars.personName.describe('Full name of the attendee.'),
    phone: scalars.phone
      .nullish()
      .describe(
        'Phone number in international format, with a leading plus sign. Kept without spaces and dashes.',
      ),
    email: scalars.email.describe('E-mail address.'),
    gender: scalars.gender.nullish().describe('Gender, as one digit. The service attaches no meaning to it.'),
    birthday: scalars.birthday.nullish().describe('Date of birth, YYYY-MM-DD.'),
    address: scalars.multilineText(500).nullish().describe('Street and number.'),
    postalCode: scalars.text(20).nullish().describe('Postal code.'),
    countryCode: scalars.countryCode.nullish().describe('Two-letter ISO 3166 country code.'),
    personalDocumentType: scalars.personalDocumentType
      .nullish()
      .describe(
        'Type of identity document: `dni`, `nie`, `passport` or `other`; in REST any other name too, whatever its case.',
      ),
    personalDocumentNumber: scalars.text(50).nullish().describe('Identity document number.'),
    answers: z
      .array(answerInput)
      .nullish()
      .describe("Answers to the rate's questions; required ones must be answered."),
    supplements: z.array(supplementInput).nullish().describe('Supplements to buy, each at most once.'),
    warranty: z.boolean().nullish().describe('True to buy the warranty; refused if the rate offers none.'),
  })
  .meta({ id: 'CheckoutTicketEntry', description: 'One ticket to buy, and who it is for.' })

/** Input of a checkout that REST and GraphQL share (INTERFACE, POST /tickets/checkout; DECISIONS, checkout). */
export const checkoutBody = z
  .strictObject({
    ticketRateId: scalars.identifier.describe('Ticket rate identifier.'),
    tickets: z.array(ticketInput).describe('Tickets to buy, one entry per attendee; at most 50.'),
    redirectUrl: scalars.httpUrl
      .nullish()
      .describe(
        'URL that the buyer is sent to after paying. With a publishable key, a page of one of its origins.',
      ),
    errorUrl: scalars.httpUrl
      .nullish()
      .describe(
        'URL that the buyer is sent to if the payment fails, expires or is cancelled. With a publishable key, a page of one of its origins.',
      ),
    sendTickets: z
      .boolean()
      .nullish()
      .describe('True to send the tickets to the attendees once they are paid. Defaults to false.'),
    language: scalars.personLanguage
      .nullish()
      .describe(
        'Language that the buyer is addressed in, as a BCP 47 tag; that of the organization if omitted.',
      ),
    referralId: scalars.reference
      .nullish()
      .describe('Identifier of whoever referred the buyer: 1 to 100 characters on one line.'),
    discountCode: scalars
      .text(64)
      .nullish()
      .describe('Code of a discount of the organization. Its case does not matter.'),
    expectedTotal: z
      .number()
      .min(0, 'must be at least 0')
      .nullish()
      .describe(
        'Total that the buyer was shown, in major units, such as 10.5 for €10.50. A higher total is refused, and nothing is held; a lower one sets `conditions_changed`.',
      ),
    metadata: metadata.nullish().describe('JSON object stored on each ticket; at most 1024 bytes.'),
  })
  .meta({ id: 'CheckoutRequest', description: 'Tickets of one rate to buy together.' })

/** Answer as it is given: by text in REST, by the kind of its question in GraphQL. */
export type GivenAnswer = string | { text?: string; checked?: boolean; optionId?: string }
/** A ticket to buy, flat as REST sends it. Attendees of GraphQL have languages of their own. */
export type CheckoutEntry = Omit<z.output<typeof ticketInput>, 'answers'> & {
  answers?: { questionId: string; answer: GivenAnswer }[] | null | undefined
  language?: string | null | undefined
}
/** Total that a buyer was shown: a number in major units in REST, an amount in GraphQL. */
export type ExpectedTotal = number | Money | null | undefined
/** A checkout, as REST sends it. */
export type CheckoutInput = Omit<z.output<typeof checkoutBody>, 'expectedTotal' | 'tickets'> & {
  tickets: CheckoutEntry[]
  expectedTotal?: ExpectedTotal
  idempotencyKey?: string | null | undefined
}

const given = (fields: Record<string, unknown>, names: string[]) =>
  Object.fromEntries(names.filter((name) => fields[name] != null).map((name) => [name, fields[name]]))

const requestFields = Object.keys(checkoutBody.shape)
const ticketFields = [...Object.keys(ticketInput.shape), 'language' satisfies keyof CheckoutEntry]

/** A checkout in one form, whichever surface took it, so that equal requests have equal hashes: the fields of REST in
 *  their order, and none that is null. Answers stay as each surface gives them. */
export function inOneForm({ expectedTotal, tickets, ...request }: CheckoutInput): object {
  const total =
    typeof expectedTotal === 'object' ? expectedTotal && Number(expectedTotal.amount) : expectedTotal
  const entries = tickets.map((ticket) => given(ticket, ticketFields))
  return given({ ...request, tickets: entries, expectedTotal: total }, requestFields)
}
