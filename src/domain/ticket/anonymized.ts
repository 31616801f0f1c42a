import type { Ticket } from './table.ts'

/** Name and e-mail address of a ticket whose attendee was anonymized. No checkout can give this address, for
 *  it has no `@` (DECISIONS 170). */
export const anonymized = 'anonymized'

/** Reports whether the attendee of a ticket was anonymized. */
export const isAnonymized = ({ email }: Pick<Ticket, 'email'>): boolean => email === anonymized

/** Cleared values of all that an attendee entered except name, e-mail address and phone. */
export const clearedAttendee = {
  gender: null,
  birthday: null,
  address: null,
  postalCode: null,
  countryCode: null,
  personalDocumentType: null,
  personalDocumentNumber: null,
  answers: [],
} satisfies Partial<Ticket>
