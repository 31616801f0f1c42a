import { type SQL, sql } from 'drizzle-orm'
import type { ExtraConfigColumn, PgColumn } from 'drizzle-orm/pg-core'

/** Condition that a page's token is of the form of the release before, without the payment's identifier. */
export const lacksId = (pageToken: ExtraConfigColumn | PgColumn): SQL =>
  sql`substr(${pageToken}, 44, 6) <> 'cGF5Xz'`
