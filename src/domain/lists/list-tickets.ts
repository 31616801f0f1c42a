import { sql } from 'drizzle-orm'
import { z } from 'zod'
import * as scalars from '../../engine/base/input-types.ts'
import { rowsOf } from '../../engine/data/json-rows.ts'
import { inOrganizationIfNamed } from '../../engine/data/query.ts'
import { type Context, requireConfidential } from '../caller/context.ts'
import { refusal } from '../contract/problem-codes.ts'
import { searchNameOf } from '../event/search-words.ts'
import { events } from '../event/table.ts'
import { lookupColumns, toVisible } from '../ticket/loaders.ts'
import { type LookupTicket, saleType, tickets } from '../ticket/table.ts'
import { lookupStatuses } from '../ticket/views.ts'
import { prices, ticketRates } from '../ticket-rate/table.ts'
import { type PageRequest, type Plan, readPage, someOf } from './request.ts'
import { type ListedKind, positionColumns, remainingFilter, searchPaths } from './search.ts'

const namePrefix = scalars
  .text(200)
  .transform(searchNameOf)
  .refine((name) => name !== '', 'must have a letter or a digit')
const phonePrefix = z
  .string()
  .regex(/^[+\d\s().-]{1,40}$/, 'must be the first digits of an international number')
  .transform((phone) => phone.replace(/\D/g, ''))
  .refine((digits) => digits !== '' && digits.length <= 15, 'must have 1 to 15 digits')
  .transform((digits) => `+${digits}`)
const rowStatus = {
  pending: 'held',
  activated: 'active',
  cancelled: 'cancelled',
  expired: 'expired',
} as const

const only = scalars.filtersOf('tickets')
const one = <Value extends z.ZodType>(value: Value) => value.transform((value) => [value])

export const listedStatus = z.enum(lookupStatuses).transform((status) => rowStatus[status])
export const listedSaleType = z.enum(saleType.enumValues)

// Filters that both surfaces have.
const common = {
  paymentId: only(scalars.identifier, 'of this payment'),
  referralId: only(scalars.reference, 'of checkouts with this `referralId`'),
  email: only(scalars.email, 'with this e-mail address, whose case does not matter'),
  code: only(scalars.qrCode, 'with this `qrCode`; those that expired have none'),
  name: only(
    namePrefix,
    "whose attendee's full name begins with this, without case and accents. They are ordered by it",
  ),
  phone: only(
    phonePrefix,
    'whose phone number begins with these digits, country code first. They are ordered by it, or by `name` if that is given too',
  ),
}

/** Filter in REST's queries: one value of each. */
export const ticketQuery = z.object({
  eventId: only(one(scalars.identifier), 'for this event'),
  ticketRateId: only(one(scalars.identifier), 'of this ticket rate'),
  status: only(one(listedStatus), 'with this status'),
  saleType: only(one(listedSaleType), 'that were sold in this way'),
  paidFrom: only(z.date(), 'that were paid at or after this time'),
  paidUntil: only(z.date(), 'that were paid before this time'),
  ...common,
})
export type TicketFilter = z.output<typeof ticketQuery>

/** Filter in GraphQL: several values of some. */
export const ticketFilter = z
  .object({
    eventIds: only(someOf(scalars.identifier), 'for these events'),
    ticketRateIds: only(someOf(scalars.identifier), 'of these ticket rates'),
    status: only(someOf(listedStatus), 'with one of these statuses'),
    saleType: only(someOf(listedSaleType), 'that were sold in one of these ways'),
    paid: only(scalars.timeRange, 'that were paid at one of these times'),
    ...common,
  })
  .transform(
    ({ eventIds: eventId, ticketRateIds: ticketRateId, paid, ...filter }): TicketFilter => ({
      ...filter,
      eventId,
      ticketRateId,
      paidFrom: paid?.from,
      paidUntil: paid?.until,
    }),
  )
  .describe('Filter of tickets. All of its fields must match.')

const shown: ListedKind<LookupTicket> = {
  name: 'list_tickets',
  rows: rowsOf({ ...lookupColumns, ...positionColumns }),
  from: sql`page cross join lateral (
    select * from ${tickets} where ${tickets.organizationId} = page.organization_id and ${inOrganizationIfNamed(tickets.organizationId)}
      and ${tickets.id} = page.id limit 1) as "tickets"
    join ${ticketRates} on ${ticketRates.id} = ${tickets.ticketRateId}
    join ${events} on ${events.id} = ${tickets.eventId} join ${prices} on ${prices.id} = ${tickets.priceId}`,
  remaining: remainingFilter,
}

// Ways to find what a filter names, the one that finds the fewest tickets first.
const fewestFirst = ['payment', 'code', 'email', 'referral', 'rate', 'event'] as const

// Chooses the way that finds the fewest tickets, in the order that is asked for.
function planOf(filter: TicketFilter, { orderBy }: PageRequest): Plan {
  const { name, phone, status } = filter
  if (orderBy && (name || phone))
    throw refusal('INVALID', 'orderBy must be absent with name or phone: they are the order then.', [
      'orderBy',
    ])
  if (name) return { path: 'name', prefix: name, isDescending: false }
  if (phone) return { path: 'phone', prefix: phone, isDescending: false }
  const path = fewestFirst.find((path) => filter[searchPaths[path].serves])
  const ofStatus = (['cancelled', 'expired'] as const).find(
    (ended) => status?.length === 1 && status[0] === ended,
  )
  return { path: path ?? ofStatus ?? 'created', isDescending: orderBy !== 'CREATED_ASC' }
}

const paramOf = (value: string | Date | string[] | null | undefined) =>
  value instanceof Date ? value.toISOString() : (value ?? null)
const valuesOf = (filter: TicketFilter) =>
  Object.fromEntries(ticketQuery.keyof().options.map((name) => [name, paramOf(filter[name])]))

/** Lists tickets: those that a channel sold, or all of an integration's organization. Without an order, by
 *  `name` or `phone` if they are given, else by creation, newest first.
 *  Refuses: FORBIDDEN for a publishable key, INVALID for a cursor of another order, and for an order with `name`
 *  or `phone`. */
export async function listTickets(filter: TicketFilter, page: PageRequest, ctx: Context) {
  requireConfidential(ctx)
  const found = await readPage(shown, planOf(filter, page), valuesOf(filter), page, ctx)
  return { ...found, rows: found.rows.flatMap((row) => toVisible(row, ctx.loaders.own.reach) ?? []) }
}
