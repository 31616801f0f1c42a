import { z } from 'zod'
import * as scalars from '../../../shared/input-types.ts'

const entry = z.strictObject({
  priceId: scalars.identifier.meta({ description: 'Identifier of a price of the rate.' }),
  qrCode: scalars.qrCode.nullish().meta({
    description:
      'Code to put on the ticket, stored as given: 1 to 64 visible ASCII characters, unused within the event. Generated if omitted.',
  }),
  fullName: scalars.text(200).meta({ description: 'Full name of the attendee.' }),
  phone: scalars.phone
    .nullish()
    .meta({ description: 'Phone number in international format, with a leading plus sign.' }),
  email: scalars.email.meta({ description: 'E-mail address.' }),
  gender: scalars.gender
    .nullish()
    .meta({ description: 'Gender, as one digit. The service attaches no meaning to it.' }),
  birthday: scalars.birthday.nullish().meta({ description: 'Date of birth, YYYY-MM-DD.' }),
  address: scalars.text(500).nullish().meta({ description: 'Street and number.' }),
  postalCode: scalars.text(20).nullish().meta({ description: 'Postal code.' }),
  countryCode: scalars.countryCode.nullish().meta({ description: 'Two-letter country code (ISO 3166).' }),
  personalDocumentType: scalars.documentType
    .nullish()
    .meta({ description: 'Type of identity document: `dni`, `nie`, `passport` or `other`.' }),
  personalDocumentNumber: scalars.text(50).nullish().meta({ description: 'Identity document number.' }),
  answers: z
    .array(
      z.strictObject({
        questionId: scalars.identifier.meta({ description: 'Question identifier.' }),
        answer: scalars.text(1000).meta({ description: 'Answer; for a dropdown, one of its items.' }),
      }),
    )
    .nullish()
    .meta({ description: "Answers to the rate's questions; required ones must be answered." }),
  supplements: z
    .array(
      z.strictObject({ supplementId: scalars.identifier.meta({ description: 'Supplement identifier.' }) }),
    )
    .nullish()
    .meta({ description: 'Supplements to buy, each at most once.' }),
  warranty: z
    .boolean()
    .nullish()
    .meta({ description: 'True to buy the warranty; refused if the rate offers none.' }),
})

/** Input of a checkout that REST and GraphQL share (INTERFACE, POST /tickets/checkout; DECISIONS 4). */
export const checkoutBody = z.strictObject({
  ticketRateId: scalars.identifier.meta({ description: 'Ticket rate identifier.' }),
  tickets: z.array(entry).meta({ description: 'Tickets to buy, one entry per attendee; at most 50.' }),
  redirectUrl: scalars.httpUrl.nullish().meta({ description: 'URL that the buyer is sent to after paying.' }),
  errorUrl: scalars.httpUrl
    .nullish()
    .meta({ description: 'URL that the buyer is sent to if the payment fails, expires or is cancelled.' }),
  sendResourcers: z
    .boolean()
    .nullish()
    .meta({ description: 'True to send the tickets to the attendees once they are paid.' }),
  metadata: scalars.metadata
    .nullish()
    .meta({ description: 'JSON object stored on each ticket; at most 1024 bytes.' }),
})

/** Input of a checkout over GraphQL. REST takes the idempotency key in a header and has no expected total. */
export const checkoutInput = checkoutBody.extend({
  idempotencyKey: scalars.idempotencyKey.nullish(),
  /** Major units. */
  expectedTotal: z.number().min(0, 'must be at least 0').nullish(),
})

export type CheckoutEntry = z.output<typeof entry>
export type CheckoutInput = z.output<typeof checkoutInput>
