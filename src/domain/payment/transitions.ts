import { inArray, type SQL } from 'drizzle-orm'
import { type Payment, payments } from './table.ts'

type Status = Payment['status']

/** What may become of a payment, and nothing else may. Money that comes late makes it `paid` still where there are
 *  places left, and `refunded` where there are none or it was cancelled;
 *  a late failure undoes nothing (DECISIONS 5). */
export const paymentTransitions: Record<Status, readonly Status[]> = {
  pending: ['processing', 'paid', 'failed', 'expired', 'cancelled'],
  processing: ['paid', 'failed', 'expired'],
  failed: ['paid', 'refunded'],
  expired: ['paid', 'refunded'],
  cancelled: ['refunded'],
  paid: ['partially_refunded', 'refunded'],
  // Part by part.
  partially_refunded: ['partially_refunded', 'refunded'],
  refunded: [],
}

export const mayBecome = (from: Status, to: Status): boolean => paymentTransitions[from].includes(to)

/** The guard of an update that makes a payment `to`: of one that may not become that, nothing is changed. */
export const canBecome = (to: Status): SQL =>
  inArray(
    payments.status,
    payments.status.enumValues.filter((from) => mayBecome(from, to)),
  )
