import { getTableColumns, sql } from 'drizzle-orm'
import { z } from 'zod'
import { rowsOf } from '../../data/json-rows.ts'
import { inOrganizationIfNamed } from '../../data/query.ts'
import { type Context, requireConfidential } from '../../request/context.ts'
import * as scalars from '../../shared/input-types.ts'
import { type Payment, paymentStatus, payments } from '../payment/table.ts'
import { tickets } from '../ticket/table.ts'
import { type ListOrder, type ListPage, type PageRequest, readPage } from './request.ts'
import { ifGiven, type ListedKind, matches, positionColumns, type SearchPathName } from './search.ts'

const only = scalars.filtersOf('payments')

/** Filter of the list of payments. */
export const paymentFilter = z
  .object({
    eventId: only(scalars.identifier, 'for tickets of this event'),
    ticketRateId: only(scalars.identifier, 'for tickets of this rate'),
    status: only(z.enum(paymentStatus.enumValues), 'with this status'),
    createdFrom: only(z.date(), 'of checkouts at or after this time'),
    createdUntil: only(z.date(), 'of checkouts before this time'),
    email: only(scalars.email, 'with a ticket of this e-mail address, whose case does not matter'),
  })
  .describe('Filter of payments. All of its fields must match.')
export type PaymentFilter = z.output<typeof paymentFilter>

const email = sql`lower(${sql.placeholder('email')}::text)`
const isFirstWithEmail = sql`not exists (select from ${tickets} as other
  where other.organization_id = ${tickets.organizationId} and other.payment_id = ${tickets.paymentId}
  and lower(other.email) = ${email} and other.id < ${tickets.id})`

// A payment is found by one of its tickets, which have its times: payments need no index for lists.
const shown: ListedKind<Payment> = {
  name: 'list_payments',
  rows: rowsOf({ ...getTableColumns(payments), ...positionColumns }),
  from: sql`page cross join lateral (
    select * from ${payments} where ${payments.organizationId} = page.organization_id
      and ${inOrganizationIfNamed(payments.organizationId)} and ${payments.id} = page.payment_id limit 1) as "payments"`,
  remaining: sql`${matches(tickets.eventId, 'eventId')} and ${matches(tickets.ticketRateId, 'ticketRateId')}
    and ${ifGiven(
      'paymentStatus',
      sql`exists (select from ${payments} where ${payments.organizationId} = ${tickets.organizationId}
        and ${inOrganizationIfNamed(payments.organizationId)} and ${payments.id} = ${tickets.paymentId}
        and ${payments.status} = ${sql.placeholder('paymentStatus')}::text::payment_status)`,
    )}`,
  where: (path) => (path === 'email' ? isFirstWithEmail : sql`${tickets.position} = 0`),
}
// Tickets of a payment that was never paid, or was given up, have expired with it.
const isEnded = (status: Payment['status'] | null | undefined) =>
  status === 'failed' || status === 'expired' || status === 'cancelled'

function pathOf({ email, ticketRateId, eventId, status }: PaymentFilter): SearchPathName {
  if (email) return 'email'
  if (ticketRateId) return 'rate'
  if (eventId) return 'event'
  return isEnded(status) ? 'expired' : 'created'
}

/** Lists payments, by the time of their checkouts, newest first by default: those of a channel's checkouts,
 *  or all of an integration's organization. Refuses: FORBIDDEN for a publishable key, INVALID for a cursor of
 *  another list. */
export function listPayments(
  filter: PaymentFilter,
  orderBy: ListOrder | null | undefined,
  page: PageRequest,
  ctx: Context,
): Promise<ListPage<Payment>> {
  requireConfidential(ctx)
  const { createdFrom: from, createdUntil: until } = filter
  const plan = { path: pathOf(filter), isDescending: orderBy !== 'CREATED_ASC', from, until }
  const filters = {
    eventId: filter.eventId ?? null,
    ticketRateId: filter.ticketRateId ?? null,
    paymentStatus: filter.status ?? null,
    email: filter.email ?? null,
    saleType: null,
  }
  return readPage(shown, plan, filters, page, ctx)
}
