import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { encodeCursor } from '../../engine/base/cursor.ts'
import { identifierPattern } from '../../engine/base/ids.ts'
import { isStorableDate } from '../../engine/base/input-types.ts'
import type { Rows } from '../../engine/data/json-rows.ts'
import { distinctValues, inOrganizationIfNamed, query } from '../../engine/data/query.ts'
import type { Database } from '../../engine/database/database.ts'
import { isOfNextReached } from '../caller/change-grant.ts'
import { isInMode, isOwn } from '../caller/sold.ts'
import { channelOrganizations } from '../caller/table.ts'
import { refusal } from '../contract/problem-codes.ts'
import { events } from '../event/table.ts'
import { invoices } from '../invoice/table.ts'
import { isCodeTaken, listPart, tickets } from '../ticket/table.ts'
import { ticketRates } from '../ticket-rate/table.ts'

/** Property that a list is ordered by, ties by identifier. */
export type SortKey = 'created' | 'name' | 'phone'

/** Position in a list: the key of a ticket, milliseconds since 1970 or a text, behind the letter of the order; and the
 *  identifier of the ticket. */
export type ListPosition = { positionKey: string; positionId: string }

/** A row and its position in the list that it was found in. */
export type Positioned<Row> = Row & ListPosition

export const isTime = (sortKey: SortKey): boolean => sortKey === 'created'

/** Opaque cursor of a position. That of a row says nothing that the row does not. */
export const toCursor = ({ positionKey, positionId }: ListPosition): string =>
  encodeCursor(`${positionId} ${positionKey}`)

// A name has 200 characters, each of which folds into a few at most.
const shape = new RegExp(`^(${identifierPattern}) ((\\w)([^\\p{Cc}]{1,3000}))$`, 'u')

const isKeyOf = (sortKey: SortKey, key: string): boolean =>
  !isTime(sortKey) || (/^-?\d{1,15}$/.test(key) && isStorableDate(new Date(Number(key))))

/** Decodes a cursor of a list with this order. `name` is the argument that holds it. Refuses: INVALID, for a
 *  text that is no such cursor. */
export function readCursor(sortKey: SortKey, cursor: string, name: string): ListPosition {
  const [, positionId, positionKey, letter, key] =
    shape.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (letter !== sortKeys[sortKey].prefix || !positionId || !positionKey || !key || !isKeyOf(sortKey, key))
    throw refusal('INVALID', `${name} must be a cursor of a list in this order.`, [name])
  return { positionKey, positionId }
}

const { id, organizationId, mode, channelId, paymentId } = tickets

const parameter = (name: string, type: string) => sql`${sql.placeholder(name)}::${sql.raw(type)}`
const text = (name: string) => parameter(name, 'text')
const texts = (name: string) => parameter(name, 'text[]')

/** Sort keys in SQL, the type that a position is compared in, and the letter that tells the positions of an order from
 *  those of others. */
export const sortKeys: Record<SortKey, { prefix: string; key: SQL; type: string }> = {
  created: { prefix: 'c', key: sql`${tickets.createdAt}`, type: 'timestamptz' },
  name: { prefix: 'n', key: sql`${tickets.searchName} collate "C"`, type: 'text collate "C"' },
  phone: { prefix: 't', key: sql`${tickets.phone} collate "C"`, type: 'text collate "C"' },
}

// Channels whose sales the caller sees: its own for each organization that ever granted it, or every channel
// of its organization, which is itself one. A part of a list is what one channel sold for one organization.
const channels = sql`(
  select ${channelOrganizations.organizationId}, ${channelOrganizations.channelId} from ${channelOrganizations}
    where ${channelOrganizations.channelId} = ${text('channelId')}
  union select ${channelOrganizations.organizationId}, ${channelOrganizations.channelId}
    from ${channelOrganizations}
    where ${channelOrganizations.organizationId} = any(${texts('ownOrganizationIds')})
  union select id, id from unnest(${texts('ownOrganizationIds')}) as own(id)
)`
// Online sales are those of other channels than the organization's own.
const ofSaleType = (organizationId: PgColumn | SQL, channelId: PgColumn | SQL) =>
  sql`(${texts('saleType')} is null or (${organizationId} <> ${channelId})
  = any(array(select sale_type = 'online' from unnest(${texts('saleType')}) as sale_type)))`
const ofPart = {
  organizationId: sql`parts.organization_id`,
  channelId: sql`parts.channel_id`,
  key: sql`parts.key`,
}
const partsOf = (rows: SQL) => sql`select * from (${rows}) as parts(organization_id, channel_id, key)
  where ${inOrganizationIfNamed(ofPart.organizationId)} and ${ofSaleType(ofPart.organizationId, ofPart.channelId)}`
const allParts = partsOf(sql`select organization_id, channel_id, null::text from ${channels} as channels`)
const isFor = (column: PgColumn, name: string) => sql`${column} = ${text(name)}`
const hasEmail = sql`lower(${tickets.email}) = lower(${text('email')})`
// Invoices have an index by their place in a series, whose year and number the reference tells.
export const hasInvoice = sql`${tickets.paymentId} = (select ${invoices.paymentId} from ${invoices}
  where ${invoices.organizationId} = parts.organization_id and ${inOrganizationIfNamed(invoices.organizationId)}
    and ${invoices.kind} = any(enum_range(null::invoice_kind)) and ${invoices.reference} = ${text('invoiceReference')}
    and ${invoices.year} = substring(${text('invoiceReference')} from '(\\d{4})-')::integer
    and ${invoices.number} = substring(${text('invoiceReference')} from '\\d+$')::integer)`
const hasCode = sql`${tickets.qrCode} = ${text('code')} and ${isCodeTaken}`

/** Way to find tickets: the parts of the list, and the condition that an index serves in order of the sort
 *  key. `serves` is the filter that it applies by itself. `isSmall`: it finds so few tickets that sorting them costs
 *  nothing. */
export type SearchPath = { sortKey: SortKey; parts: SQL; where: SQL; serves?: string; isSmall?: true }

const isInListOf = (sortKey: SortKey) => sql`${listPart(sortKey, tickets)} = ${listPart(sortKey, ofPart)}`
const isOfChannel = sql`${organizationId} = ${ofPart.organizationId} and ${channelId} = ${ofPart.channelId}`
const byTime = <const Filter extends string>(serves: Filter, parts: SQL, where: SQL) => {
  return { sortKey: 'created' as const, serves, parts, where }
}
const inOrderOf = <const Filter extends string>(serves: Filter, condition: SQL, parts = allParts) =>
  byTime(serves, parts, sql`${isOfChannel} and ${condition}`)

const isChannel = sql`${text('channelId')} <> ''`
const valuesOf = (column: PgColumn, condition: SQL, all: SQL, from?: SQL) =>
  distinctValues(column, sql`${inOrganizationIfNamed(organizationId)} and ${condition}`, all, from)
const allOf = (found: SQL, condition: SQL) =>
  sql`(select ${found} as found from ${channels} as channels where ${condition})`
const organizationsWith = (condition: SQL) =>
  valuesOf(organizationId, condition, allOf(sql`organization_id`, isChannel), isOfNextReached(organizationId))
const channelsWith = (condition: SQL, organization: SQL | PgColumn) =>
  valuesOf(
    channelId,
    sql`${condition} and ${isInMode(mode)}`,
    allOf(sql`channel_id`, sql`channels.organization_id = ${organization}`),
  )
// Ways by a person or a referral, with parts where there are such tickets alone.
const ofPerson = <const Filter extends string>(serves: Filter, condition: SQL) =>
  inOrderOf(
    serves,
    condition,
    partsOf(sql`
    select found, ${text('channelId')}, null::text from ${organizationsWith(condition)} as sold where ${isChannel}
    union all select own.id, found, null from unnest(${texts('ownOrganizationIds')}) as own(id)
      cross join lateral ${channelsWith(sql`${condition} and ${organizationId} = own.id`, sql`own.id`)} as sold`),
  )
// Ways by rates and events, whose parts are the channels that have sold them.
const ofKeys = <const Filter extends string>(
  serves: Filter,
  table: typeof ticketRates | typeof events,
  column: PgColumn,
) =>
  byTime(
    serves,
    partsOf(sql`
  select ${table.organizationId}, sold.found, ${table.id} from ${table} cross join lateral (
    select ${text('channelId')} as found where ${isChannel}
    union all select found from ${channelsWith(sql`${column} = ${table.id}`, table.organizationId)} as sold where not ${isChannel}) as sold
  where ${table.id} = any(${texts(serves)})
    and (${isChannel} or ${table.organizationId} = any(${texts('ownOrganizationIds')}))`),
    sql`${column} = ${ofPart.key} and ${channelId} = ${ofPart.channelId}`,
  )
// Ways to few tickets, in one part.
const ofFew = <const Filter extends string>(
  serves: Filter,
  condition: SQL,
  parts = sql`select null::text as organization_id`,
) => ({
  ...byTime(
    serves,
    parts,
    sql`${condition} and ${isOwn(tickets)} and ${ofSaleType(organizationId, channelId)}`,
  ),
  isSmall: true as const,
})

/** Ways to find tickets, by name. Each has an index of its own. */
export const searchPaths = {
  created: { sortKey: 'created', parts: allParts, where: isInListOf('created') },
  name: { sortKey: 'name', serves: 'name', parts: allParts, where: isInListOf('name') },
  phone: {
    sortKey: 'phone',
    serves: 'phone',
    parts: allParts,
    where: sql`${isInListOf('phone')} and ${tickets.phone} is not null`,
  },
  email: ofPerson('email', hasEmail),
  referral: ofPerson('referralId', isFor(tickets.referralId, 'referralId')),
  rate: ofKeys('ticketRateId', ticketRates, tickets.ticketRateId),
  event: ofKeys('eventId', events, tickets.eventId),
  cancelled: inOrderOf('status', sql`${tickets.ended} = 'cancelled'`),
  expired: inOrderOf('status', sql`${tickets.ended} = 'expired'`),
  payment: ofFew('paymentId', isFor(tickets.paymentId, 'paymentId')),
  code: ofFew('code', hasCode),
  // Each organization counts its invoices by itself.
  invoice: ofFew(
    'invoiceReference',
    hasInvoice,
    sql`select distinct organization_id from (${allParts}) as parts`,
  ),
} satisfies Record<string, SearchPath>

export type SearchPathName = keyof typeof searchPaths

/** Condition for a filter that is null if it is absent. */
export const ifGiven = (name: string, condition: SQL, type = 'text') =>
  sql`(${parameter(name, type)} is null or ${condition})`
/** Condition that a column has one of the values of a filter, if they are given. */
export const isOneOf = (column: PgColumn, name: string, type = 'text') =>
  ifGiven(name, sql`${column} = any(${texts(name)}::${sql.raw(type)}[])`, 'text[]')
const time = (name: string) => sql`${text(name)}::timestamptz`

/** Condition for all filters at once, for those that the path leaves open. One form for any of them, so that
 *  there is one statement for each path. */
export const remainingFilter = sql`${isOneOf(tickets.eventId, 'eventId')}
  and ${isOneOf(tickets.ticketRateId, 'ticketRateId')}
  and ${ifGiven('paymentId', isFor(tickets.paymentId, 'paymentId'))}
  and ${isOneOf(tickets.status, 'status', 'ticket_status')}
  and ${isOneOf(tickets.saleType, 'saleType', 'sale_type')}
  and ${ifGiven('referralId', isFor(tickets.referralId, 'referralId'))}
  and ${ifGiven('email', hasEmail)}
  and ${ifGiven('code', hasCode)}
  and ${ifGiven('name', sql`starts_with(${tickets.searchName}, ${text('name')})`)}
  and ${ifGiven('phone', sql`starts_with(${tickets.phone}, ${text('phone')})`)}
  and ${ifGiven('paidFrom', sql`${tickets.activatedAt} >= ${time('paidFrom')}`)}
  and ${ifGiven('paidUntil', sql`${tickets.activatedAt} < ${time('paidUntil')}`)}`

/** Kind of rows that a list shows: their columns, and the tables that they come from, joined to the tickets
 *  of `page`. `where` keeps one ticket of each row if several lead to it, and `remaining` applies the filters that
 *  the path leaves open. */
export type ListedKind<Row> = {
  name: string
  rows: Rows<Positioned<Row>>
  from: SQL
  where?: (path: SearchPathName) => SQL
  remaining: SQL
}

/** Columns that each kind of rows has: its position in the list. */
export const positionColumns = {
  positionKey: sql<string>`page.position_key`,
  positionId: sql<string>`page.id`,
}

type Side = 'lower' | 'upper'

/** Part of a list: everything between two positions, neither included, from one end. */
export type Range = { lower: ListPosition; upper: ListPosition; isDescending: boolean; limit: number }

/** Rows of a part in its direction. `stoppedAt` is set if the search ended there for now. */
export type Found<Row> = { rows: Positioned<Row>[]; stoppedAt: ListPosition | null }

/** Maximum number of tickets of one channel in one organization that a page looks through for a filter that no index
 *  serves. Rates or events that the path finds by have equal shares. */
const maxScanned = 10_000

// A time travels as milliseconds.
const positionKeyOf = (sortKey: SortKey) =>
  isTime(sortKey) ? sql`(extract(epoch from key) * 1000)::bigint::text` : sql`key`

function pageStatement<Row>(
  path: SearchPathName,
  shown: ListedKind<Row>,
  { isDescending, isFiltered }: Record<'isDescending' | 'isFiltered', boolean>,
): SQL {
  const { sortKey, parts, where, isSmall }: SearchPath = searchPaths[path]
  const { prefix, key, type } = sortKeys[sortKey]
  const keyOf = (side: Side) => sql`${sql.placeholder(`${side}Key`)}::text::${sql.raw(type)}`
  const idOf = (side: Side) => sql`${sql.placeholder(`${side}Id`)}::text`
  const orderBy = (key: SQL, id: SQL) =>
    isDescending ? sql`order by ${key} desc, ${id} desc` : sql`order by ${key}, ${id}`
  const ordered = orderBy(sql`key`, sql`id`)
  const limited = sql`limit ${sql.placeholder('limit')}::integer`
  const position = sql`(${key}, ${id})`
  const inRange = sql`where ${inOrganizationIfNamed(organizationId)} and ${isInMode(mode)} and ${where}
    and ${position} > (${keyOf('lower')}, ${idOf('lower')}) and ${position} < (${keyOf('upper')}, ${idOf('upper')})`
  const inOrder = orderBy(key, sql`${id}`)
  const isBounded = isFiltered && !isSmall
  const side = isDescending ? 'lower' : 'upper'
  const maxScanned = sql`${sql.placeholder('maxScanned')}::integer`
  // Position beyond which a page looks no further, whatever it has found: that of the first part which has looked through
  // as many as it may, and has no page of its own.
  const stop = isBounded
    ? sql`select scanned.key, scanned.id from parts
      left join (select part, count(*) as count from found group by part) as counted on counted.part = parts.part
      cross join lateral (
        select ${key} as key, ${id} from ${tickets} ${inRange} ${inOrder} offset ${maxScanned} limit 1
      ) as scanned where coalesce(counted.count, 0) < ${sql.placeholder('limit')}::integer
      ${orderBy(sql`scanned.key`, sql`scanned.id`)} limit 1`
    : sql`select ${keyOf('lower')} as key, null::text as id where false`
  const beforeStop = isBounded
    ? sql`where (key, id) ${sql.raw(isDescending ? '>=' : '<=')}
        ((select coalesce((select key from stop), ${keyOf(side)})),
          (select coalesce((select id from stop), ${idOf(side)})))`
    : sql``
  const scanned = isBounded
    ? sql`(select * from ${tickets} ${inRange} ${inOrder} limit ${maxScanned} + 1) as "tickets" where true`
    : sql`${tickets} ${inRange}`
  const columns = Object.entries(shown.rows.fields).map(
    ([name, field]) => sql`${field.sql} as ${sql.identifier(name)}`,
  )
  const selected = sql`select ${sql.join(columns, sql`, `)} from ${shown.from}`
  return sql`with parts as materialized (select row_number() over () as part, * from (${parts}) as parts),
    found as materialized (
      select parts.part, found.* from parts cross join lateral (
        select ${key} as key, ${organizationId}, ${id}, ${paymentId} from ${scanned}
          ${shown.where ? sql`and ${shown.where(path)}` : sql``} ${isFiltered ? sql`and ${shown.remaining}` : sql``}
        ${inOrder} ${limited}
      ) as found
    ), stop as materialized (${stop}), page as materialized (
      select key, organization_id, id, payment_id, ${sql.raw(`'${prefix}'`)} || ${positionKeyOf(sortKey)} as position_key
      from (select * from found ${beforeStop} ${ordered} ${limited}) as found
    )
    select wrapped.*, (select ${positionKeyOf(sortKey)} from stop) as "stopKey", (select id from stop) as "stopId"
    from (${shown.rows.wrap(sql`${selected} ${orderBy(sql`page.key`, sql`page.id`)}`)}) as wrapped`
}

function toSqlKey(sortKey: SortKey, { positionKey }: ListPosition): string {
  const key = positionKey.slice(1)
  return isTime(sortKey) && Number.isFinite(Number(key)) ? new Date(Number(key)).toISOString() : key
}

type PageRow = Record<string, string | null> & { stopKey: string | null; stopId: string | null }

/** Reads a part of a list, by a statement for each path and direction, with and without a filter beyond the path's own.
 *  Reads a bounded number of rows of each channel in each organization: those of the page, and with such a filter
 *  at most `maxScanned`. */
export async function searchPage<Row>(
  db: Database,
  shown: ListedKind<Row>,
  path: SearchPathName,
  values: Record<string, unknown>,
  { lower, upper, isDescending, limit }: Range,
  isFiltered: boolean,
): Promise<Found<Row>> {
  const { sortKey, serves = '' }: SearchPath = searchPaths[path]
  const name = `${shown.name}_by_${path}${isDescending ? '_down' : ''}${isFiltered ? '_filtered' : ''}`
  const statement = () => pageStatement(path, shown, { isDescending, isFiltered })
  const [found] = await query<PageRow>(name, statement)(db, {
    ...values,
    lowerKey: toSqlKey(sortKey, lower),
    lowerId: lower.positionId,
    upperKey: toSqlKey(sortKey, upper),
    upperId: upper.positionId,
    limit,
    maxScanned: Math.ceil(maxScanned / [values[serves]].flat().length),
  })
  if (!found) throw new Error('a page is one row')
  const { stopKey, stopId } = found
  const isStopped = stopKey !== null && stopId !== null
  const stoppedAt = isStopped ? { positionKey: sortKeys[sortKey].prefix + stopKey, positionId: stopId } : null
  return { rows: shown.rows.read(found), stoppedAt }
}
