import { builder } from '../../../graphql/builder.ts'
import { DocumentTypeRef } from '../../ticket/parts-graphql.ts'

const AnswerInputRef = builder.inputType('AnswerInput', {
  description: 'Answer to a question of the rate.',
  fields: (t) => ({
    questionId: t.id({ required: true, description: 'Question identifier.' }),
    answer: t.string({
      required: true,
      description:
        'Answer: an item of a dropdown, `true` or `false` for a checkbox, else text of at most 500 characters.',
    }),
  }),
})

const SupplementInputRef = builder.inputType('SupplementInput', {
  description: 'Supplement to buy with a ticket.',
  fields: (t) => ({ supplementId: t.id({ required: true, description: 'Supplement identifier.' }) }),
})

export const CheckoutTicketInputRef = builder.inputType('CheckoutTicketInput', {
  description: 'Ticket for one attendee.',
  fields: (t) => ({
    priceId: t.id({ required: true, description: 'Identifier of a price of the rate.' }),
    qrCode: t.string({
      description:
        'Code to put on the ticket, stored as given: 1 to 64 visible ASCII characters, unused within the event. Generated if omitted.',
    }),
    fullName: t.string({ required: true, description: 'Full name.' }),
    phone: t.string({ description: 'Phone number in international format, with a leading plus sign.' }),
    email: t.string({ required: true, description: 'E-mail address.' }),
    gender: t.string({ description: 'Gender, as one digit. The service attaches no meaning to it.' }),
    birthday: t.string({ description: 'Date of birth, YYYY-MM-DD.' }),
    address: t.string({ description: 'Street and number.' }),
    postalCode: t.string({ description: 'Postal code.' }),
    countryCode: t.string({ description: 'Two-letter country code (ISO 3166).' }),
    personalDocumentType: t.field({ type: DocumentTypeRef, description: 'Kind of identity document.' }),
    personalDocumentNumber: t.string({ description: 'Identity document number.' }),
    answers: t.field({
      type: [AnswerInputRef],
      description: "Answers to the rate's questions; required ones must be answered.",
    }),
    supplements: t.field({
      type: [SupplementInputRef],
      description: 'Supplements to buy, each at most once.',
    }),
    warranty: t.boolean({ description: 'True to buy the warranty; refused if the rate offers none.' }),
  }),
})

export const CheckoutInputRef = builder.inputType('CheckoutInput', {
  description: 'Checkout of tickets of one rate.',
  fields: (t) => ({
    ticketRateId: t.id({ required: true, description: 'Ticket rate identifier.' }),
    tickets: t.field({
      type: [CheckoutTicketInputRef],
      required: true,
      description: 'Tickets to buy, one entry per attendee; at most 50.',
    }),
    redirectUrl: t.string({ description: 'URL that the buyer is sent to after paying.' }),
    errorUrl: t.string({
      description: 'URL that the buyer is sent to if the payment fails, expires or is cancelled.',
    }),
    sendResourcers: t.boolean({
      description: 'True to send the tickets to the attendees once they are paid.',
    }),
    language: t.string({
      description:
        'Language that the buyer is addressed in, as a BCP 47 tag; that of the organization if omitted.',
    }),
    referralId: t.string({
      description: 'Identifier of whoever referred the buyer: 1 to 100 visible ASCII characters.',
    }),
    discountCode: t.string({
      description: 'Code of a discount of the organization. Its case does not matter.',
    }),
    metadata: t.field({
      type: 'JSON',
      description: 'JSON object stored on each ticket; at most 1024 bytes.',
    }),
    idempotencyKey: t.string({
      description:
        'Key that makes retries safe: the same key and input return the first result for 24 hours.',
    }),
    expectedTotal: t.float({
      description:
        'Total that the buyer was shown, in major units, such as 10.5 for €10.50. A higher total is refused, and nothing is held; a lower one sets `conditionsChanged`.',
    }),
  }),
})
