import { and, eq, getTableColumns, lte, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { fewRowsOf } from '../../../data/json-rows.ts'
import { anyOf, type Find } from '../../../data/prepared.ts'
import { nowMs } from '../../../database/clock.ts'
import type { Mode } from '../../../shared/mode.ts'
import { ageText, events } from '../../event/table.ts'
import { locations } from '../../location/table.ts'
import { organizations } from '../../organization/table.ts'
import { holds, isOfHold } from '../../payment/queue/table.ts'
import { isOverdue, payments } from '../../payment/table.ts'
import { rateColumns } from '../../ticket-rate/loaders.ts'
import { isStockOf, stock, ticketRates } from '../../ticket-rate/table.ts'

const { startDate, endDate } = getTableColumns(events)
const { currency, language, platformFeePercentage } = getTableColumns(organizations)
const { timezone } = getTableColumns(locations)

const saleRows = fewRowsOf({
  ...rateColumns,
  startDate,
  endDate,
  age: ageText,
  currency,
  language,
  platformFeePercentage,
  timezone,
})
/** A rate with its counters, its event, its organization and its location. */
export type SaleRow = ReturnType<typeof saleRows.read>[number]

/** Query for rates by id, with their counters of a mode, that match a condition. */
export const salesWhere = (mode: Mode, condition?: SQL): Find<SaleRow> => ({
  rows: saleRows,
  query: (select, keys) =>
    select
      .from(ticketRates)
      .innerJoin(stock, isStockOf(mode, ticketRates.id))
      .innerJoin(events, eq(events.id, ticketRates.eventId))
      .innerJoin(organizations, eq(organizations.id, ticketRates.organizationId))
      .leftJoin(locations, eq(locations.id, events.locationId))
      .where(and(condition, anyOf(ticketRates.id, keys))),
})

/** Query for the rates whose places overdue unpaid holds still take up, of those with the ids `keys`. `isOf` limits
 *  it to an organization. A subquery is asked for each hold that is due: a join might read all payments. */
export const overdueHolds = (isOf?: (column: PgColumn) => SQL): Find<{ ticketRateId: string }> => ({
  rows: fewRowsOf({ ticketRateId: holds.ticketRateId }),
  query: (select, keys) => {
    const isPaymentOverdue = and(isOf?.(payments.organizationId), isOfHold, isOverdue)
    return select
      .from(holds)
      .where(
        and(
          isOf?.(holds.organizationId),
          anyOf(holds.ticketRateId, keys),
          lte(holds.expiresAt, nowMs),
          sql`(select true from ${payments} where ${isPaymentOverdue} limit 1)`,
        ),
      )
      .groupBy(holds.ticketRateId)
  },
})
