import { inArray, type SQL } from 'drizzle-orm'
import { type Payment, payments } from './table.ts'

type Status = Payment['status']

/** Allowed transitions of a payment. A late charge makes it `paid` if there are places left, and `refunded`
 *  if there are none or it was cancelled. A late failure undoes nothing (DECISIONS, states). */
const paymentTransitions: Record<Status, readonly Status[]> = {
  pending: ['processing', 'paid', 'failed', 'expired', 'cancelled'],
  processing: ['paid', 'failed', 'expired'],
  failed: ['paid', 'refunded'],
  expired: ['paid', 'refunded'],
  cancelled: ['refunded'],
  paid: ['partially_refunded', 'refunded'],
  // One partial refund may follow another.
  partially_refunded: ['partially_refunded', 'refunded'],
  refunded: [],
}

export const paymentMayBecome = (from: Status, to: Status): boolean => paymentTransitions[from].includes(to)

/** Guards an update that sets the status to `to`: matches only payments whose status allows it. */
export const wherePaymentMayBecome = (to: Status): SQL =>
  inArray(
    payments.status,
    payments.status.enumValues.filter((from) => paymentMayBecome(from, to)),
  )
