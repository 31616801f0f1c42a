import { z } from 'zod'
import * as scalars from '../../../engine/base/input-types.ts'
import { attendee, type attendeeColumns } from '../checkout/items-input.ts'
import { ticketsOf } from '../refund/tickets-of.ts'

const ticketId = scalars.id.describe('Ticket identifier.')

const { fullName, email, phone, birthDate, address, identityDocument, language } = attendee.shape

/** Corrections of an attendee. Absent fields stay as they are; null clears an optional one. */
export const attendeeChanges = z
  .strictObject({
    ticketId,
    fullName: fullName.optional().describe('Full name of the attendee. Cannot be cleared.'),
    email: email.optional().describe('E-mail address. Cannot be cleared.'),
    ...{ phone, birthDate, address, identityDocument },
    language: language.describe(
      'Language that the attendee is addressed in, as a BCP 47 tag. Null makes it that of the organization.',
    ),
  })
  .describe(
    'Corrections of the attendee of a ticket. Fields that are omitted stay as they are; null clears an optional one. An address and an identity document are replaced as a whole.',
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
    attendee: attendee.describe('New attendee, to whom the ticket is sent.'),
  })
  .describe('Transfer of a ticket to another person.')

/** Repeated delivery of tickets. */
export const ticketResending = z
  .strictObject({
    of: ticketsOf,
    idempotencyKey: scalars.idempotencyKey
      .nullish()
      .describe('Key that makes retries safe: the same key and input send nothing again for 24 hours.'),
  })
  .describe('Tickets to send again.')

// A part of what is replaced as a whole: absent with it, and null where it lacks the part.
const partOf = <Whole extends object>(whole: Whole | null | undefined, part: keyof Whole) =>
  whole === undefined ? undefined : ((whole?.[part] ?? null) as string | null)

/** Columns of a ticket that corrections change. Absent ones stay as they are. */
export const changedColumns = ({
  birthDate,
  address,
  identityDocument,
  ...columns
}: z.output<typeof attendeeChanges>) => ({
  ...columns,
  birthday: birthDate,
  address: partOf(address, 'street'),
  postalCode: partOf(address, 'postalCode'),
  countryCode: partOf(address, 'countryCode'),
  personalDocumentType: partOf(identityDocument, 'type'),
  personalDocumentNumber: partOf(identityDocument, 'number'),
})

export type AttendeeChanges = ReturnType<typeof changedColumns>
export type TicketTransfer = { ticketId: string } & ReturnType<typeof attendeeColumns>
