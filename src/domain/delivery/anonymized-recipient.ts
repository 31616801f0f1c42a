import { type SQL, sql } from 'drizzle-orm'
import { deliveries } from './table.ts'

const prefix = 'anonymized:'

/** Recipient of a delivery whose recipient was anonymized: another one for each, because deliveries of one
 *  occasion have different ones. */
export const anonymizedRecipient: SQL<string> = sql`${prefix} || ${deliveries.id}`

/** Condition that the recipient of a delivery is known. */
export const hasRecipient: SQL = sql`not starts_with(${deliveries.recipient}, ${prefix})`
