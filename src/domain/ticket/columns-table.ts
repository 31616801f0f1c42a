import { getTableColumns } from 'drizzle-orm'
import { isNotExpired } from './indexes-table.ts'
import { tickets } from './table.ts'

const { ended, soldOn: _soldOn, ...columns } = getTableColumns(tickets)

/** Columns of a ticket, without those that serve its indexes or sums of sales alone. */
export const ticketColumns = columns

/** Condition that a ticket has not expired, so that its code is taken. */
export const hasLiveCode = isNotExpired(ended)
