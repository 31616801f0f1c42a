import { sql } from 'drizzle-orm'
import { type ExtraConfigColumn, index } from 'drizzle-orm/pg-core'

type Indexed =
  | 'id'
  | 'organizationId'
  | 'channelId'
  | 'ticketRateId'
  | 'status'
  | 'email'
  | 'searchName'
  | 'phone'
  | 'referralId'
  | 'createdAt'
  | 'activatedAt'
  | 'updatedAt'

/** Indexes of tickets that lists walk in their order (list-paths.ts), for each channel of an organization. */
export function listIndexes(ticket: Record<Indexed, ExtraConfigColumn>) {
  const { id, organizationId, channelId, ticketRateId, createdAt, activatedAt, updatedAt } = ticket
  const { status, email, searchName, phone, referralId } = ticket
  return [
    index('tickets_created').on(organizationId, channelId, createdAt, id),
    index('tickets_updated').on(organizationId, channelId, updatedAt, id),
    index('tickets_paid')
      .on(organizationId, channelId, activatedAt, id)
      .where(sql`${activatedAt} is not null`),
    index('tickets_ended')
      .on(organizationId, channelId, status, createdAt, id)
      .where(sql`${status} in ('cancelled', 'expired')`),
    index('tickets_of_rate').on(organizationId, ticketRateId, channelId, createdAt, id),
    index('tickets_email').on(organizationId, channelId, sql`lower(${email})`, createdAt, id),
    index('tickets_name').on(organizationId, channelId, sql`${searchName} collate "C"`, id),
    index('tickets_phone')
      .on(organizationId, channelId, sql`${phone} collate "C"`, id)
      .where(sql`${phone} is not null`),
    index('tickets_referral')
      .on(organizationId, channelId, referralId, createdAt, id)
      .where(sql`${referralId} is not null`),
  ]
}
