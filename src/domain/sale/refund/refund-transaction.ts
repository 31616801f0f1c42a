import { boundedTransactions } from '../../../data/bulkhead.ts'

/** Runs transactions that write refunds, two at a time per process. Never call a provider inside of one. */
export const refundTransaction = boundedTransactions({ maxAtOnce: 2, maxWaiting: 500 })
