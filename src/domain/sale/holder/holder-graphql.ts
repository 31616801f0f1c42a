import { builder } from '../../../graphql/builder.ts'
import {
  errorType,
  mutation,
  objectResult,
  RefusalErrorRef,
  resultUnion,
} from '../../../graphql/mutation-result.ts'
import { requireConfidential } from '../../../request/context.ts'
import * as scalars from '../../../shared/input-types.ts'
import { TicketRef } from '../../ticket/graphql.ts'
import { DocumentTypeRef } from '../../ticket/parts-graphql.ts'
import { maxTickets, type Ticket } from '../../ticket/table.ts'
import {
  attendeeChanges,
  attendeesChanges,
  maxCorrections,
  ticketResending,
  ticketTransfer,
} from './holder-input.ts'
import { type Resent, resendTickets } from './resend-tickets.ts'
import { transferTicket } from './transfer-ticket.ts'
import { updateAttendees } from './update-attendee.ts'

errorType(
  'ResendLimitError',
  ['TOO_MANY_RESENDS'],
  [RefusalErrorRef],
  'The ticket was sent again or transferred too often within 24 hours.',
  {
    limit: 'Maximum number within 24 hours, resends and transfers together.',
    retryAfter: 'Seconds until the tickets can be sent again.',
  },
)

const UpdateAttendeeInputRef = builder.inputType('UpdateAttendeeInput', {
  description:
    'Corrections of the attendee of a ticket. Fields that are omitted stay as they are; null clears an optional one.',
  fields: (t) => ({
    ticketId: t.id({ required: true, description: 'Identifier of the ticket.' }),
    fullName: t.string({ description: 'Full name. Cannot be cleared.' }),
    email: t.string({ description: 'E-mail address. Cannot be cleared.' }),
    phone: t.string({ description: 'Phone number in international format, with a leading plus sign.' }),
    gender: t.string({ description: 'Gender, as one digit. The service attaches no meaning to it.' }),
    birthday: t.string({ description: 'Date of birth, YYYY-MM-DD.' }),
    address: t.string({ description: 'Street and number.' }),
    postalCode: t.string({ description: 'Postal code.' }),
    countryCode: t.string({ description: 'Two-letter ISO 3166 country code.' }),
    personalDocumentType: t.field({ type: DocumentTypeRef, description: 'Kind of identity document.' }),
    personalDocumentNumber: t.string({ description: 'Number of the identity document.' }),
    language: t.string({
      description:
        'Language that the attendee is addressed in, as a BCP 47 tag. Null makes it that of the organization.',
    }),
  }),
})

const UpdateAttendeesInputRef = builder.inputType('UpdateAttendeesInput', {
  description: 'Corrections of several attendees.',
  fields: (t) => ({
    attendees: t.field({
      type: [UpdateAttendeeInputRef],
      required: true,
      description: `Corrections of different tickets of one organization, 1 to ${maxCorrections}.`,
    }),
  }),
})

const TransferTicketInputRef = builder.inputType('TransferTicketInput', {
  description: 'Transfer of a ticket to another person.',
  fields: (t) => ({
    ticketId: t.id({ required: true, description: 'Identifier of the ticket.' }),
    fullName: t.string({ required: true, description: 'Full name of the new holder.' }),
    email: t.string({
      required: true,
      description: 'E-mail address of the new holder, to which the ticket is sent.',
    }),
    phone: t.string({
      description: 'Phone number of the new holder in international format, with a leading plus sign.',
    }),
    language: t.string({
      description:
        'Language that the new holder is addressed in, as a BCP 47 tag; that of the organization if omitted.',
    }),
  }),
})

const ResendTicketsInputRef = builder.inputType('ResendTicketsInput', {
  isOneOf: true,
  description: 'Ticket, or payment whose tickets, to send again: exactly one of the two.',
  fields: (t) => ({
    ticketId: t.id({ description: 'Identifier of the ticket.' }),
    paymentId: t.id({ description: 'Identifier of the payment.' }),
  }),
})

const ResendTicketsPayloadRef = builder.objectRef<Resent>('ResendTicketsPayload').implement({
  description: 'Tickets that are sent again.',
  fields: (t) => ({
    tickets: t.field({
      type: [TicketRef],
      complexity: { field: 1, multiplier: maxTickets },
      description:
        'Tickets that are sent again, in the order of the checkout; those that are not active are left out.',
      resolve: ({ tickets }) => tickets,
    }),
    deliveries: t.exposeInt('deliveries', {
      description:
        'Number of mails and messages that were queued: a mail for each ticket, and a message for each with a phone number, which is skipped where messaging is not enabled.',
    }),
  }),
})

const whose = 'The channel that sold the ticket and integrations of its organization may do this.'

mutation('updateAttendee', {
  description: `Corrects what was typed about the attendee of a ticket that is \`pending\` or \`activated\`, until somebody has entered with it. ${whose} Sends nothing: a ticket that is paid later goes to the new address; for one that is paid see \`resendTickets\`. Idempotent.`,
  input: [UpdateAttendeeInputRef, 'Corrections.'],
  result: objectResult('UpdateAttendee', ['ticket', TicketRef], 'Corrected ticket'),
  caller: requireConfidential,
  run: async (input, ctx) => {
    const corrections = [scalars.parseRequest(attendeeChanges, input)]
    const [ticket] = await updateAttendees(corrections, ctx, (_index, path) => path)
    return { ticket: ticket as Ticket }
  },
})

mutation('updateAttendees', {
  description: `Corrects the attendees of several tickets by the rules of \`updateAttendee\`: all or none. ${whose} Paths of errors begin with \`attendees\` and the index of the correction.`,
  input: [UpdateAttendeesInputRef, 'Corrections.'],
  result: objectResult('UpdateAttendees', ['tickets', [TicketRef]], 'Corrected tickets'),
  caller: requireConfidential,
  complexity: ({ input }) => ({ field: 1_000, multiplier: input.attendees.length }),
  run: async (input, ctx) => ({
    tickets: await updateAttendees(scalars.parseRequest(attendeesChanges, input).attendees, ctx),
  }),
})

mutation('transferTicket', {
  description: `Gives an \`activated\` ticket, with which nobody has ever entered, to another person, also where everything is sold out. ${whose} The ticket gets a new code and a new document; the former ones, and all that the former holder told, are gone at once. Both holders get a mail, so at most five times within 24 hours, resends included. A warranty ends. Refunds and the invoice stay with the payment. Returns a ticket that already bears this name and e-mail address unchanged, so a call can be repeated.`,
  input: [TransferTicketInputRef, 'New holder.'],
  result: objectResult('TransferTicket', ['ticket', TicketRef], 'Transferred ticket'),
  caller: requireConfidential,
  run: async (input, ctx) => ({
    ticket: await transferTicket(scalars.parseRequest(ticketTransfer, input), ctx),
  }),
})

mutation('resendTickets', {
  description: `Sends a ticket, or all tickets of a payment, to their holders again: a mail for each, at most five times per ticket within 24 hours, transfers included. ${whose} Only tickets that are \`activated\`.`,
  input: [ResendTicketsInputRef, 'What to send.'],
  result: resultUnion(
    'ResendTicketsResult',
    ResendTicketsPayloadRef,
    'Tickets that are sent again, or the reasons for the refusal.',
  ),
  caller: requireConfidential,
  run: (input, ctx) => resendTickets(scalars.parse(ticketResending, input), ctx),
})
