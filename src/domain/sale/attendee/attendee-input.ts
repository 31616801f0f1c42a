import { z } from 'zod'
import * as scalars from '../../../engine/base/input-types.ts'
import {
  type AttendeeColumn,
  answers,
  attendee,
  type attendeeColumns,
  attendeePlaces,
} from '../checkout/items-input.ts'
import { ticketsInput } from '../refund/named-tickets.ts'

const ticketId = scalars.id.describe('Ticket identifier.')

const { fullName, email, language, ...optional } = attendee.shape

/** Corrections of an attendee. Absent fields stay as they are; null clears an optional one. */
export const attendeeChanges = z
  .strictObject({
    ticketId,
    fullName: fullName.optional().describe('Full name of the attendee. Cannot be cleared.'),
    email: email.optional().describe('E-mail address. Cannot be cleared.'),
    ...optional,
    language: language.describe(
      'Language that the attendee is addressed in, as a BCP 47 tag. Null makes it that of the organization.',
    ),
    answers,
  } satisfies Record<'ticketId' | 'answers' | keyof typeof attendee.shape, z.ZodType>)
  .describe(
    'Corrections of the attendee of a ticket. Fields that are omitted stay as they are; null clears an optional one. An address, an identity document and the answers are replaced as a whole.',
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
    answers,
  })
  .describe('Transfer of a ticket to another person.')

/** Repeated delivery of tickets. */
export const ticketResending = z
  .strictObject({
    of: ticketsInput,
    idempotencyKey: scalars.idempotencyKey
      .nullish()
      .describe('Key that makes retries safe: the same key and input send nothing again for 24 hours.'),
  })
  .describe('Tickets to send again.')

type Given = string | null | undefined

/** Columns of a ticket that corrections change. Absent ones stay as they are. */
export type AttendeeChanges = Pick<z.output<typeof attendeeChanges>, 'ticketId' | 'answers'> & {
  [Column in AttendeeColumn]?: Given
}

export function changedColumns({
  ticketId,
  answers,
  ...changes
}: z.output<typeof attendeeChanges>): AttendeeChanges {
  const given: Record<string, Given | Record<string, Given>> = changes
  const changed = [...attendeePlaces].map(([column, [field = '', part = '']]) => {
    const whole = given[field]
    // Replaced as a whole, it is null where it lacks the part.
    return [column, typeof whole === 'object' ? (whole?.[part] ?? null) : whole]
  })
  return { ticketId, answers, ...Object.fromEntries(changed) }
}

export type TicketTransfer = Pick<z.output<typeof ticketTransfer>, 'ticketId' | 'answers'> &
  ReturnType<typeof attendeeColumns>
