import { z } from 'zod'
import * as scalars from '../../../shared/input-types.ts'

const entry = z.strictObject({
  priceId: scalars.identifier.meta({ description: 'Id of a price of the rate.' }),
  qrCode: scalars.qrCode.nullish().meta({ description: 'Kept as it is; generated where it is absent.' }),
  fullName: scalars.text(200).meta({ description: 'Name of the attendee.' }),
  phone: scalars.phone.nullish().meta({ description: 'International format with leading plus sign.' }),
  email: scalars.email.meta({ description: 'E-mail address.' }),
  gender: scalars.gender.nullish().meta({ description: 'Digit as text.' }),
  birthday: scalars.birthday.nullish().meta({ description: 'Date, YYYY-MM-DD.' }),
  address: scalars.text(500).nullish().meta({ description: 'Street and number.' }),
  postalCode: scalars.text(20).nullish().meta({ description: 'Postal code.' }),
  countryCode: scalars.countryCode.nullish().meta({ description: 'Two-letter country code.' }),
  personalDocumentType: scalars.documentType.nullish().meta({ description: 'Kind of document.' }),
  personalDocumentNumber: scalars.text(50).nullish().meta({ description: 'Number of the document.' }),
  answers: z
    .array(z.strictObject({ questionId: scalars.identifier, answer: scalars.text(1000) }))
    .nullish()
    .meta({ description: 'Answers to questions of the rate.' }),
  supplements: z
    .array(z.strictObject({ supplementId: scalars.identifier }))
    .nullish()
    .meta({ description: 'Supplements of the rate, each at most once.' }),
  warranty: z
    .boolean()
    .nullish()
    .meta({ description: 'Whether the warranty is bought, where the rate offers it.' }),
})

/** What is asked for in a checkout, as both surfaces take it (INTERFACE, POST /tickets/checkout; DECISIONS 4). */
export const checkoutBody = z.strictObject({
  ticketRateId: scalars.identifier.meta({ description: 'Id of the ticket rate.' }),
  tickets: z.array(entry).meta({ description: 'One entry per attendee.' }),
  redirectUrl: scalars.httpUrl
    .nullish()
    .meta({ description: 'Where the buyer is sent once the checkout is paid.' }),
  errorUrl: scalars.httpUrl.nullish().meta({ description: 'Where the buyer is sent if the checkout fails.' }),
  sendResourcers: z.boolean().nullish().meta({ description: 'Whether the tickets are sent to the buyer.' }),
  metadata: scalars.metadata
    .nullish()
    .meta({ description: 'Stored on each ticket; at most 1024 bytes as JSON.' }),
})

/** What GraphQL takes beside it; REST has a header for the key. */
export const checkoutInput = checkoutBody.extend({
  idempotencyKey: scalars.idempotencyKey.nullish(),
  /** Major units. */
  expectedTotal: z.number().min(0, 'must be at least 0').nullish(),
})

export type CheckoutEntry = z.output<typeof entry>
export type CheckoutInput = z.output<typeof checkoutInput>
