import { z } from 'zod'
import { checkoutBody } from '../checkout/checkout-input.ts'

// The attendee of a checkout, so that both accept and refuse the same.
const { shape: attendee } = checkoutBody.shape.tickets.element
const { language } = checkoutBody.shape

/** Corrections of an attendee. Absent fields stay as they are; null clears an optional one. */
export const attendeeChanges = z.strictObject({
  ticketId: z.string(),
  fullName: attendee.fullName.optional(),
  email: attendee.email.optional(),
  phone: attendee.phone,
  gender: attendee.gender,
  birthday: attendee.birthday,
  address: attendee.address,
  postalCode: attendee.postalCode,
  countryCode: attendee.countryCode,
  personalDocumentType: attendee.personalDocumentType,
  personalDocumentNumber: attendee.personalDocumentNumber,
  language,
})

/** Maximum number of attendees that are corrected at once. */
export const maxCorrections = 200

const countError = `must be 1 to ${maxCorrections}`

/** Corrections of several attendees. */
export const attendeesChanges = z.strictObject({
  attendees: z.array(attendeeChanges).min(1, countError).max(maxCorrections, countError),
})

/** Transfer of a ticket to another person. */
export const ticketTransfer = z.strictObject({
  ticketId: z.string(),
  fullName: attendee.fullName,
  email: attendee.email,
  phone: attendee.phone,
  language,
})

/** Repeated delivery of a ticket, or of all tickets of a payment. */
export const ticketResending = z
  .strictObject({ ticketId: z.string().nullish(), paymentId: z.string().nullish() })
  .refine(({ ticketId, paymentId }) => (ticketId == null) !== (paymentId == null), {
    message: 'give ticketId or paymentId, and not both',
    path: ['ticketId'],
  })

export type AttendeeChanges = z.output<typeof attendeeChanges>
export type TicketTransfer = z.output<typeof ticketTransfer>
export type TicketResending = z.output<typeof ticketResending>
