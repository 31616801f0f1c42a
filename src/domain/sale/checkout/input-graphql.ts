import { builder } from '../../../graphql/builder.ts'

const AnswerInputRef = builder.inputType('AnswerInput', {
  description: 'An answer to a question of the rate.',
  fields: (t) => ({
    questionId: t.id({ required: true, description: 'The question.' }),
    answer: t.string({ required: true, description: 'The answer; for a dropdown one of its items.' }),
  }),
})

const SupplementInputRef = builder.inputType('SupplementInput', {
  description: 'A supplement that is bought.',
  fields: (t) => ({ supplementId: t.id({ required: true, description: 'The supplement.' }) }),
})

const CheckoutTicketInputRef = builder.inputType('CheckoutTicketInput', {
  description: 'One attendee.',
  fields: (t) => ({
    priceId: t.id({ required: true, description: 'A price of the rate.' }),
    qrCode: t.string({
      description: 'Kept as it is, and unused within the event; generated where it is absent.',
    }),
    fullName: t.string({ required: true, description: 'Name.' }),
    phone: t.string({ description: 'International number, with its plus sign.' }),
    email: t.string({ required: true, description: 'E-mail address.' }),
    gender: t.string({ description: 'Digit as text.' }),
    birthday: t.string({ description: 'YYYY-MM-DD.' }),
    address: t.string({ description: 'Street and number.' }),
    postalCode: t.string({ description: 'Postal code.' }),
    countryCode: t.string({ description: 'ISO 3166 two-letter code.' }),
    personalDocumentType: t.string({ description: '`dni`, `nie`, `passport` or `other`.' }),
    personalDocumentNumber: t.string({ description: 'Number of the document.' }),
    answers: t.field({ type: [AnswerInputRef], description: 'Answers to the rate’s questions.' }),
    supplements: t.field({ type: [SupplementInputRef], description: 'Supplements, each at most once.' }),
    warranty: t.boolean({ description: 'Whether the warranty is bought, where the rate offers it.' }),
  }),
})

export const CheckoutInputRef = builder.inputType('CheckoutInput', {
  description: 'What is bought, and for whom.',
  fields: (t) => ({
    ticketRateId: t.id({ required: true, description: 'The ticket rate.' }),
    tickets: t.field({
      type: [CheckoutTicketInputRef],
      required: true,
      description: 'One entry per attendee.',
    }),
    redirectUrl: t.string({ description: 'Where the buyer is sent once it is paid.' }),
    errorUrl: t.string({ description: 'Where the buyer is sent if it fails.' }),
    sendResourcers: t.boolean({ description: 'Whether the tickets are sent to the buyer.' }),
    metadata: t.field({ type: 'JSON', description: 'Stored on each ticket; at most 1024 bytes as JSON.' }),
    idempotencyKey: t.string({
      description: 'The same key and input give the first answer again, for 24 hours.',
    }),
    expectedTotal: t.float({
      description:
        'What the buyer was shown, in major units: a dearer total is refused, and nothing is held.',
    }),
  }),
})
