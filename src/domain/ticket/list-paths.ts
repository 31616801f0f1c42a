import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { channelOrganizations } from '../../auth/table.ts'
import { ticketRates } from '../ticket-rate/table.ts'
import { hasLiveCode } from './columns-table.ts'
import type { SortKey } from './list-cursor.ts'
import { tickets } from './table.ts'

const parameter = (name: string, type: string) => sql`${sql.placeholder(name)}::${sql.raw(type)}`
const text = (name: string) => parameter(name, 'text')

/** Sort keys in SQL, and the type that a place is compared in. */
export const sortKeys: Record<SortKey, { key: SQL; type: string }> = {
  created: { key: sql`${tickets.createdAt}`, type: 'timestamptz' },
  name: { key: sql`${tickets.searchName} collate "C"`, type: 'text collate "C"' },
  phone: { key: sql`${tickets.phone} collate "C"`, type: 'text collate "C"' },
}

// Channels whose sales the caller sees: its own for each organization that ever granted it, or every channel
// of its organization, which is itself one. A part of a list is what one channel sold for one organization.
const channels = sql`(
  select ${channelOrganizations.organizationId}, ${channelOrganizations.channelId} from ${channelOrganizations}
    where ${channelOrganizations.channelId} = ${text('channelId')}
  union select ${channelOrganizations.organizationId}, ${channelOrganizations.channelId}
    from ${channelOrganizations}
    where ${channelOrganizations.organizationId} = any(${parameter('ownOrganizationIds', 'text[]')})
  union select id, id from unnest(${parameter('ownOrganizationIds', 'text[]')}) as own(id)
)`
// Online sales are those of other channels than the organization's own.
const ofSaleType = sql`(${text('saleType')} is null
  or (channels.organization_id <> channels.channel_id) = (${text('saleType')} = 'online'))`
const allParts = sql`select channels.organization_id, channels.channel_id, null::text as ticket_rate_id
  from ${channels} as channels where ${ofSaleType}`
const partsByRate = (isRate: SQL) => sql`
  select channels.organization_id, channels.channel_id, ${ticketRates.id} as ticket_rate_id
  from ${channels} as channels join ${ticketRates} on ${ticketRates.organizationId} = channels.organization_id
    and ${isRate}
  where ${ofSaleType}`

const isOfRate = sql`${tickets.ticketRateId} = parts.ticket_rate_id`
const isOfPayment = sql`${tickets.paymentId} = ${text('paymentId')}`
const hasCode = sql`${tickets.qrCode} = ${text('code')} and ${hasLiveCode}`

/** Way to find tickets: the parts of the list, and the condition that an index serves in order of the sort
 *  key. `isSmall`: it finds so few tickets that sorting them costs nothing. */
export type Path = { sortKey: SortKey; parts: SQL; where: SQL; isSmall?: true }

const inOrderOf = (sortKey: SortKey) => ({ sortKey, parts: allParts })

/** Ways to find tickets, by name. Each has an index that begins with organization and channel. */
export const paths = {
  created: { ...inOrderOf('created'), where: sql`true` },
  name: { ...inOrderOf('name'), where: sql`true` },
  phone: { ...inOrderOf('phone'), where: sql`${tickets.phone} is not null` },
  email: { ...inOrderOf('created'), where: sql`lower(${tickets.email}) = lower(${text('email')})` },
  referral: { ...inOrderOf('created'), where: sql`${tickets.referralId} = ${text('referralId')}` },
  rate: {
    sortKey: 'created',
    parts: partsByRate(sql`${ticketRates.id} = ${text('ticketRateId')}`),
    where: isOfRate,
  },
  event: {
    sortKey: 'created',
    parts: partsByRate(sql`${ticketRates.eventId} = ${text('eventId')}`),
    where: isOfRate,
  },
  cancelled: { ...inOrderOf('created'), where: sql`${tickets.ended} = 'cancelled'` },
  expired: { ...inOrderOf('created'), where: sql`${tickets.ended} = 'expired'` },
  payment: { ...inOrderOf('created'), where: isOfPayment, isSmall: true },
  code: { ...inOrderOf('created'), where: hasCode, isSmall: true },
} satisfies Record<string, Path>

export type PathName = keyof typeof paths

/** Condition for a filter that is null if it is absent. */
export const isGiven = (name: string, condition: SQL) => sql`(${text(name)} is null or ${condition})`
/** Condition that a column has the value of a filter, if that is given. */
export const isEqual = (column: PgColumn, name: string, type = 'text') =>
  isGiven(name, sql`${column} = ${text(name)}::${sql.raw(type)}`)
const time = (name: string) => sql`${text(name)}::timestamptz`

/** Condition for all filters at once, for those that the path leaves open. One form for any of them, so that
 *  there is one statement for each path. */
export const restOfFilter = sql`${isEqual(tickets.eventId, 'eventId')}
  and ${isEqual(tickets.ticketRateId, 'ticketRateId')}
  and ${isEqual(tickets.paymentId, 'paymentId')}
  and ${isEqual(tickets.status, 'status', 'ticket_status')}
  and ${isEqual(tickets.saleType, 'saleType', 'sale_type')}
  and ${isEqual(tickets.referralId, 'referralId')}
  and ${isGiven('email', sql`lower(${tickets.email}) = lower(${text('email')})`)}
  and ${isGiven('code', hasCode)}
  and ${isGiven('name', sql`starts_with(${tickets.searchName}, ${text('name')})`)}
  and ${isGiven('phone', sql`starts_with(${tickets.phone}, ${text('phone')})`)}
  and ${isGiven('paidFrom', sql`${tickets.activatedAt} >= ${time('paidFrom')}`)}
  and ${isGiven('paidUntil', sql`${tickets.activatedAt} < ${time('paidUntil')}`)}`
