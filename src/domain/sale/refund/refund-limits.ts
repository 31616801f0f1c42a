import { boundedTransactions } from '../../../engine/database/transaction.ts'

/** Limits of a queue of refunds: a run of an organization's, and at most one of another's beside it. */
export const refundQueue = {
  maxAlone: 2,
  maxOfKey: 1,
  maxWaiting: 500,
  words: 'Too many refunds at once. Try again.',
}

/** Runs transactions that write refunds, two at a time of an owner. Never call a provider inside of one. */
export const refundTransaction = boundedTransactions({ maxAtOnce: 4, maxOfOwner: 2, maxWaiting: 500 })
