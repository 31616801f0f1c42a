import { moneyRules } from './money-rules.ts'
import { stockRules } from './stock-rules.ts'
import { ticketRules } from './ticket-rules.ts'
import { workRules } from './work-rules.ts'

/** Invariants of the database, by what they say when broken. Each query returns the rows that break one, in
 *  one snapshot, by scans and hash joins, so that it takes as long as reading its tables. */
export const invariants = { ...stockRules, ...moneyRules, ...ticketRules, ...workRules }

export type Invariant = keyof typeof invariants
