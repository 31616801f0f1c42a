import { getTableColumns, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { z } from 'zod'
import * as scalars from '../../engine/base/input-types.ts'
import { rowsOf } from '../../engine/data/json-rows.ts'
import { areOfOneOrganization, inOrganizationIfNamed, unindexed } from '../../engine/data/query.ts'
import { type Context, requireConfidential } from '../caller/context.ts'
import { type Payment, paymentStatus, payments } from '../payment/table.ts'
import { tickets } from '../ticket/table.ts'
import { type PageRequest, type Plan, readPage, someOf } from './request.ts'
import { hasInvoice, ifGiven, isOneOf, type ListedKind, positionColumns, searchPaths } from './search.ts'

const only = scalars.filtersOf('payments')

export const listedStatus = z.enum(paymentStatus.enumValues)

/** Filter of the list of payments. */
export const paymentFilter = z
  .object({
    eventIds: only(someOf(scalars.identifier), 'for tickets of these events'),
    ticketRateIds: only(someOf(scalars.identifier), 'for tickets of these rates'),
    status: only(someOf(listedStatus), 'with one of these statuses'),
    created: only(scalars.timeRange, 'of checkouts at one of these times'),
    invoiceReference: only(
      z
        .string()
        .regex(/^(TEST-)?[FR]\d{4}-\d{1,9}$/, 'must be the reference of an invoice, such as F2026-000042'),
      'with this invoice or corrective invoice',
    ),
    email: only(scalars.email, 'with a ticket of this e-mail address, whose case does not matter'),
  })
  .describe('Filter of payments. All of its fields must match.')
export type PaymentFilter = z.output<typeof paymentFilter>

const email = sql`lower(${sql.placeholder('email')}::text)`
const other = alias(tickets, 'other')
// The few tickets of the payment are looked through, and not all with this address.
const isFirstWithEmail = sql`(select true from ${tickets} as other
  where ${areOfOneOrganization(other.organizationId, tickets.organizationId)} and ${inOrganizationIfNamed(other.organizationId)}
  and ${other.paymentId} = ${tickets.paymentId} and ${unindexed(sql`lower(${other.email})`)} = ${email}
  and ${other.id} < ${tickets.id} limit 1) is null`

// A payment is found by one of its tickets, which have its times: payments need no index for lists.
const shown: ListedKind<Payment> = {
  name: 'list_payments',
  rows: rowsOf({ ...getTableColumns(payments), ...positionColumns }),
  from: sql`page cross join lateral (
    select * from ${payments} where ${payments.organizationId} = page.organization_id
      and ${inOrganizationIfNamed(payments.organizationId)} and ${payments.id} = page.payment_id limit 1) as "payments"`,
  remaining: sql`${isOneOf(tickets.eventId, 'eventId')} and ${isOneOf(tickets.ticketRateId, 'ticketRateId')}
    and ${ifGiven('invoiceReference', hasInvoice)}
    and ${ifGiven(
      'paymentStatus',
      sql`(select ${isOneOf(payments.status, 'paymentStatus', 'payment_status')} from ${payments}
        where ${payments.organizationId} = ${tickets.organizationId} and ${inOrganizationIfNamed(payments.organizationId)}
        and ${payments.id} = ${tickets.paymentId} limit 1)`,
      'text[]',
    )}`,
  where: (path) => (path === 'email' ? isFirstWithEmail : sql`${tickets.position} = 0`),
}
// Tickets of a payment that was never paid, or was given up, have expired with it.
const isEnded = (status: Payment['status']) =>
  status === 'failed' || status === 'expired' || status === 'cancelled'

// Ways to find what a filter names, the one that finds the fewest payments first.
const fewestFirst = ['email', 'invoice', 'rate', 'event'] as const

/** Lists payments, by the time of their checkouts, newest first by default: those of a channel's checkouts,
 *  or all of an integration's organization. Refuses: FORBIDDEN for a publishable key, INVALID for a cursor of
 *  another list. */
export function listPayments(filter: PaymentFilter, page: PageRequest, ctx: Context) {
  requireConfidential(ctx)
  const filters = {
    eventId: filter.eventIds ?? null,
    ticketRateId: filter.ticketRateIds ?? null,
    invoiceReference: filter.invoiceReference ?? null,
    paymentStatus: filter.status ?? null,
    email: filter.email ?? null,
    saleType: null,
  }
  const ofStatus = filter.status?.every(isEnded) ? 'expired' : 'created'
  const path = fewestFirst.find((path) => filters[searchPaths[path].serves]) ?? ofStatus
  const plan: Plan = { path, isDescending: page.orderBy !== 'CREATED_ASC', ...filter.created }
  return readPage(shown, plan, filters, page, ctx)
}
