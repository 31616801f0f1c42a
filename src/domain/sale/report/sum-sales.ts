import { type SQL, sql } from 'drizzle-orm'
import { channels } from '../../../auth/table.ts'
import { query, textArrayParam } from '../../../data/query.ts'
import type { Connection } from '../../../database/database.ts'
import { isIdentifier } from '../../../shared/ids.ts'
import type { Mode } from '../../../shared/mode.ts'
import { events } from '../../event/table.ts'
import { organizations } from '../../organization/table.ts'
import { tickets } from '../../ticket/table.ts'
import { prices, ticketRates } from '../../ticket-rate/table.ts'

// Sums are of tickets that were paid, whether they were cancelled later or not: cancelling returns no money.
// gross      price, supplements, fees of the organization and warranty, before the discount
// discounts  what discounts took off: gross - discounts is what the buyers paid
// fees       commission that the platform keeps, which is no more than what refunds have left of a ticket
// refunded   what the buyers got back
// net        gross - discounts - fees - refunded, which is the sum of `raised` (see ticket/views.ts)
const sums = sql`
  count(*) as tickets,
  count(*) filter (where ${tickets.status} = 'cancelled') as cancelled,
  sum(${tickets.priceAmount} + ${tickets.supplementsAmount} + ${tickets.organizationFeeAmount}
    + ${tickets.warrantyAmount}) as gross,
  sum(${tickets.discountAmount}) as discounts,
  sum(least(${tickets.platformFeeAmount}, ${tickets.totalAmount} - ${tickets.refundedAmount})) as fees,
  sum(${tickets.refundedAmount}) as refunded,
  sum(${tickets.entered}) as entered`

const nameIn = (table: typeof ticketRates | typeof prices | typeof channels) =>
  sql`(select ${table.name} from ${table} where ${table.id} = page.key)`
/** Sums of a group of tickets. Amounts in minor units; `net` is `gross - discounts - fees - refunded`. */
export type SalesRow = Record<'key' | 'label', string | null> & { currency: string } & Record<
    'tickets' | 'cancelled' | 'gross' | 'discounts' | 'fees' | 'refunded' | 'net' | 'entered',
    number
  >

// Adds up in bigint and numeric, which are exact, and hands over numbers that are exact up to 2^53. An event
// without sales makes one row without counts.
const statementOf = (key: SQL, label: SQL) => sql`
  with event as (
    select ${events.id}, ${events.organizationId}, ${organizations.currency}
    from ${events} join ${organizations} on ${organizations.id} = ${events.organizationId}
    where ${events.id} = ${sql.placeholder('eventId')}::text
      and ${events.organizationId} = any(${textArrayParam('organizationIds')})
  ),
  summed as (
    select ${key} as key, ${sums}
    from event join ${ticketRates} on ${ticketRates.eventId} = event.id
    join ${tickets} on ${tickets.organizationId} = event.organization_id
      and ${tickets.mode} = ${sql.placeholder('mode')}::text::key_mode
      and ${tickets.ticketRateId} = ${ticketRates.id} and ${tickets.activatedAt} is not null
    group by 1
  ),
  page as (
    select * from summed
    where ${sql.placeholder('after')}::text is null or key is null
      or key collate "C" > ${sql.placeholder('after')}::text collate "C"
    order by key collate "C" limit ${sql.placeholder('first')}::integer
  )
  select page.key, ${label} as label, event.currency, tickets::float8, cancelled::float8, gross::float8,
    discounts::float8, fees::float8, refunded::float8, (gross - discounts - fees - refunded)::float8 as net,
    entered::float8
  from event left join page on true order by page.key collate "C"`

const sumBy = (grouping: string, key: SQL, label = sql`null::text`) =>
  query<Omit<SalesRow, 'tickets'> & { tickets: number | null }>(`sum_sales_by_${grouping}`, () =>
    statementOf(key, label),
  )

/** Groupings of sales: by the key of a ticket's group, and with the label of a key. */
const groupings = {
  RATE: sumBy('rate', sql`${tickets.ticketRateId}`, nameIn(ticketRates)),
  PRICE: sumBy('price', sql`${tickets.priceId}`, nameIn(prices)),
  DAY: sumBy('day', sql`to_char(${tickets.soldOn}, 'YYYY-MM-DD')`),
  CHANNEL: sumBy('channel', sql`${tickets.channelId}`, nameIn(channels)),
  REFERRAL: sumBy('referral', sql`${tickets.referralId}`),
  SALE_TYPE: sumBy('sale_type', sql`upper(${tickets.saleType}::text)`),
}

export type SalesGrouping = keyof typeof groupings

/** Adds up the paid tickets of a mode and of an event of one of these organizations, group by group, in one statement. Rows
 *  are ordered by key, bytewise; that of tickets without a key comes last. Returns at most `first` rows, from
 *  the key after `after` on; null if there is no such event. */
export async function sumSales(
  db: Connection,
  organizationIds: string[],
  asked: { eventId: string; groupBy: SalesGrouping; mode: Mode; after: string | null; first: number },
): Promise<SalesRow[] | null> {
  const { groupBy, ...values } = asked
  if (!isIdentifier(values.eventId)) return null
  const rows = await groupings[groupBy](db, { organizationIds, ...values })
  if (rows.length === 0) return null
  return rows.flatMap(({ tickets, ...row }) => (tickets === null ? [] : [{ ...row, tickets }]))
}
