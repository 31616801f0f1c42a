import { type SQL, sql } from 'drizzle-orm'
import { cursorReader, encodeCursor } from '../../../engine/base/cursor.ts'
import { groupBy } from '../../../engine/base/group-by.ts'
import type { Readers } from '../../../engine/data/batch-loader.ts'
import { Loader } from '../../../engine/data/loader.ts'
import { anyOf, inOrganization, query } from '../../../engine/data/query.ts'
import type { Connection } from '../../../engine/database/database.ts'
import type { Mode } from '../../caller/mode.ts'
import { isInMode } from '../../caller/sold.ts'
import { channels } from '../../caller/table.ts'
import { tickets } from '../../ticket/table.ts'
import { prices, ticketRates } from '../../ticket-rate/table.ts'

// Sums are of tickets that were paid, whether they were cancelled later or not: cancelling returns no money.
// gross       price, supplements, fees of the organization and warranty, before the discount
// discounted  what discounts took off: gross - discounted is what the buyers paid
// commission  what the platform keeps, which is no more than what refunds have left of a ticket
// refunded    what the buyers got back
// net         gross - discounted - commission - refunded, which is the sum of `raised` (see ticket/views.ts)
const sums = sql`
  count(*) as "ticketCount",
  count(*) filter (where ${tickets.status} = 'cancelled') as cancelled,
  sum(${tickets.priceAmount} + ${tickets.supplementsAmount} + ${tickets.organizationFeeAmount}
    + ${tickets.warrantyAmount}) as gross,
  sum(${tickets.discountAmount}) as discounted,
  sum(least(${tickets.platformFeeAmount}, ${tickets.totalAmount} - ${tickets.refundedAmount})) as commission,
  sum(${tickets.refundedAmount}) as refunded,
  sum(${tickets.entered}) as inside`

const nameIn = (table: typeof ticketRates | typeof prices | typeof channels) =>
  sql`(select ${table.name} from ${table} where ${table.id} = page.key)`

type Sums = Record<'eventId' | 'currency', string> & { key: string | null; name: string | null } & Record<
    'ticketCount' | 'cancelled' | 'gross' | 'discounted' | 'commission' | 'refunded' | 'net' | 'inside',
    number
  >

// Adds up in bigint and numeric, which are exact, and hands over numbers that are exact up to 2^53.
const statementOf = (key: SQL, name: SQL) => sql`
  with summed as (
    select ${ticketRates.eventId} as "eventId", ${key} as key, min(${tickets.currency}) as currency, ${sums}
    from ${ticketRates} join ${tickets} on ${inOrganization(tickets.organizationId)} and ${isInMode(tickets.mode)}
      and ${tickets.ticketRateId} = ${ticketRates.id} and ${tickets.activatedAt} is not null
    where ${anyOf(ticketRates.eventId, 'eventIds')}
    group by 1, 2
  ),
  positioned as (select *, coalesce('k' || key, 'n') collate "C" as position from summed),
  page as (
    select *, row_number() over (partition by "eventId" order by position) as number from positioned
    where position > ${sql.placeholder('after')}::text
  )
  select "eventId", key, ${name} as name, currency, "ticketCount"::float8, cancelled::float8, gross::float8,
    discounted::float8, commission::float8, refunded::float8,
    (gross - discounted - commission - refunded)::float8 as net, inside::float8
  from page where number <= ${sql.placeholder('first')}::integer order by "eventId", number`

const sumBy = (grouping: string, key: SQL, name = sql`null::text`) =>
  query<Sums>(`sum_sales_by_${grouping}`, () => statementOf(key, name))

/** Groupings of sales: by the key of a ticket's group, and with the name of a key. */
const groupings = {
  RATE: sumBy('rate', sql`${tickets.ticketRateId}`, nameIn(ticketRates)),
  PRICE: sumBy('price', sql`${tickets.priceId}`, nameIn(prices)),
  DAY: sumBy('day', sql`to_char(${tickets.soldOn}, 'YYYY-MM-DD')`),
  CHANNEL: sumBy('channel', sql`nullif(${tickets.channelId}, ${tickets.organizationId})`, nameIn(channels)),
  REFERRAL: sumBy('referral', sql`${tickets.referralId}`),
  SALE_TYPE: sumBy('sale_type', sql`${tickets.saleType}::text`),
}

export type SalesGrouping = keyof typeof groupings

/** Sums of a group of tickets of an event. Amounts in minor units; `net` is `gross - discounted - commission -
 *  refunded`. */
export type SalesRow = Sums & { groupBy: SalesGrouping }

/** Page of sums: at most `first` rows after a position, '' for the beginning. */
type SalesPage = { groupBy: SalesGrouping; first: number; after: string }

/** Opaque cursor of a row, whose position is its key; that of tickets without a key is behind all others. */
export const toCursor = ({ key }: Sums): string => encodeCursor(key === null ? 'n' : `k${key}`)

/** Decodes a cursor. */
export const readCursor = cursorReader(/^(k[^\p{Cc}]{1,100}|n)$/u, String)

/** Adds up the paid tickets of a mode and of events of an organization, group by group, in one statement. The rows of
 *  each event are ordered by key, bytewise; that of tickets without a key comes last. */
export async function sumSales(
  db: Connection,
  { groupBy, ...values }: SalesPage & { organizationId: string; mode: Mode; eventIds: string[] },
): Promise<SalesRow[]> {
  return (await groupings[groupBy](db, values)).map((row) => ({ ...row, groupBy }))
}

/** Loads pages of the sums of an integration's events. The same page of any number of events takes one statement. */
export const salesByEventId = ({ own: { db, reach } }: Readers) => {
  const { mode, ownOrganizationIds } = reach
  const open = (page: SalesPage) =>
    new Loader(async (eventIds) => {
      const asked = { ...page, mode, organizationId: ownOrganizationIds[0] ?? '', eventIds: [...eventIds] }
      const found = groupBy(await sumSales(db, asked), ({ eventId }) => eventId)
      return eventIds.map((id) => found.get(id) ?? [])
    })
  const loaders = new Map<string, ReturnType<typeof open>>()
  return (page: SalesPage) => {
    const name = JSON.stringify(page)
    const loader = loaders.get(name) ?? open(page)
    loaders.set(name, loader)
    return loader
  }
}
