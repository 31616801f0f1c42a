import { boundedTransactions } from '../../../data/bulkhead.ts'

/** Transactions that decide about refunds: two at a time in a process. No provider is asked inside of one. */
export const refundTransaction = boundedTransactions({ maxAtOnce: 2, maxWaiting: 500 })
