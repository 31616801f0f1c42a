import { z } from 'zod'
import * as scalars from '../../../shared/input-types.ts'
import { checkoutBody } from '../checkout/checkout-input.ts'

// The attendee of a checkout, so that both accept and refuse the same.
const { shape: attendee } = checkoutBody.shape.tickets.element
const { language } = checkoutBody.shape

const ticketId = scalars.id.describe('Identifier of the ticket.')

/** Corrections of an attendee. Absent fields stay as they are; null clears an optional one. */
export const attendeeChanges = z
  .strictObject({
    ticketId,
    fullName: attendee.fullName.optional().describe('Full name of the attendee. Cannot be cleared.'),
    email: attendee.email.optional().describe('E-mail address. Cannot be cleared.'),
    phone: attendee.phone,
    gender: attendee.gender,
    birthday: attendee.birthday,
    address: attendee.address,
    postalCode: attendee.postalCode,
    countryCode: attendee.countryCode,
    personalDocumentType: attendee.personalDocumentType,
    personalDocumentNumber: attendee.personalDocumentNumber,
    language: language.describe(
      'Language that the attendee is addressed in, as a BCP 47 tag. Null makes it that of the organization.',
    ),
  })
  .describe(
    'Corrections of the attendee of a ticket. Fields that are omitted stay as they are; null clears an optional one.',
  )

/** Maximum number of attendees that are corrected at once. */
export const maxCorrections = 200

const countError = `must be 1 to ${maxCorrections}`

/** Corrections of several attendees. */
export const attendeeChangesBatch = z
  .strictObject({
    attendees: z
      .array(attendeeChanges)
      .min(1, countError)
      .max(maxCorrections, countError)
      .describe(`Corrections of different tickets of one organization, 1 to ${maxCorrections}.`),
  })
  .describe('Corrections of several attendees.')

/** Transfer of a ticket to another person. */
export const ticketTransfer = z
  .strictObject({
    ticketId,
    fullName: attendee.fullName.describe('Full name of the new holder.'),
    email: attendee.email.describe('E-mail address of the new holder, to which the ticket is sent.'),
    phone: attendee.phone,
    language: language.describe(
      'Language that the new holder is addressed in, as a BCP 47 tag; that of the organization if omitted.',
    ),
  })
  .describe('Transfer of a ticket to another person.')

/** Repeated delivery of a ticket, or of all tickets of a payment. */
export const ticketResending = z
  .strictObject({
    ticketId: ticketId.nullish(),
    paymentId: scalars.id.nullish().describe('Identifier of the payment.'),
  })
  .refine(({ ticketId, paymentId }) => (ticketId == null) !== (paymentId == null), {
    message: 'give ticketId or paymentId, and not both',
    path: ['ticketId'],
  })
  .describe('Ticket, or payment whose tickets, to send again: exactly one of the two.')

export type AttendeeChanges = z.output<typeof attendeeChanges>
export type TicketTransfer = z.output<typeof ticketTransfer>
export type TicketResending = z.output<typeof ticketResending>
