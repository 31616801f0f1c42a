import { z } from 'zod'
import * as scalars from '../../shared/input-types.ts'
import { type TicketFilter, ticketFilter, ticketOrders } from './list-tickets.ts'

const { shape } = ticketFilter
const required = <T extends z.ZodType>(type: z.ZodOptional<z.ZodNullable<T>>): z.ZodOptional<T> =>
  type.unwrap().unwrap().optional()
const cursor = z.string().max(4_000, 'must be at most 4000 characters')

/** Query parameters of the lists of tickets. */
export const listQuery = z.strictObject({
  event_id: required(shape.eventId).describe('Returns only tickets for this event.'),
  ticket_rate_id: required(shape.ticketRateId).describe('Returns only tickets of this ticket rate.'),
  payment_id: required(shape.paymentId).describe('Returns only tickets of this payment.'),
  status: required(shape.status).describe('Returns only tickets with this status.'),
  sale_type: required(shape.saleType).describe('Returns only tickets that were sold in this way.'),
  referral_id: required(shape.referralId).describe('Returns only tickets of checkouts with this referral.'),
  email: required(shape.email).describe(
    'Returns only tickets with this e-mail address, whose case does not matter.',
  ),
  code: required(shape.code).describe('Returns only tickets that this code is scanned for.'),
  name: required(shape.name).describe(
    'Returns only tickets whose full name begins with this, without case and accents, ordered by it.',
  ),
  phone: required(shape.phone).describe(
    'Returns only tickets whose phone number begins with these digits, country code first, ordered by it.',
  ),
  paid_from: scalars.moment.optional().describe('Returns only tickets that were paid at or after this time.'),
  paid_until: scalars.moment.optional().describe('Returns only tickets that were paid before this time.'),
  order_by: z
    .string()
    .transform((order) => order.toUpperCase())
    .pipe(z.enum(ticketOrders, `must be one of ${ticketOrders.join(', ').toLowerCase()}`))
    .optional()
    .describe('Order: `created_desc` (by default) or `created_asc`.'),
  limit: scalars
    .fromQuery(scalars.pageSize)
    .optional()
    .describe('Number of tickets to return, 1 to 100; 50 by default.'),
  bom: z
    .enum(['true', 'false'])
    .optional()
    .describe(
      'With `true`, CSV begins with a mark of its encoding, which Excel needs; changes nothing else.',
    ),
  cursor: cursor.optional().describe('Returns tickets after this place, which a `Link` header gave.'),
  before: cursor.optional().describe('Returns tickets before this place, which a `Link` header gave.'),
})
export type ListQuery = z.output<typeof listQuery>

/** Filter that query parameters ask for. */
export const filterOf = (query: ListQuery): TicketFilter => ({
  eventId: query.event_id,
  ticketRateId: query.ticket_rate_id,
  paymentId: query.payment_id,
  status: query.status,
  saleType: query.sale_type,
  referralId: query.referral_id,
  email: query.email,
  code: query.code,
  name: query.name,
  phone: query.phone,
  paidFrom: query.paid_from,
  paidUntil: query.paid_until,
})
