import { sql } from 'drizzle-orm'
import { type ExtraConfigColumn, index } from 'drizzle-orm/pg-core'

type Indexed =
  | 'id'
  | 'organizationId'
  | 'mode'
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

/** Indexes of tickets that lists walk in their order (list-paths.ts), for each channel of an organization, in
 *  either mode. */
export function listIndexes(ticket: Record<Indexed, ExtraConfigColumn>) {
  const { id, organizationId, mode, channelId, ticketRateId, createdAt, activatedAt, updatedAt } = ticket
  const { status, email, searchName, phone, referralId } = ticket
  return [
    index('tickets_created').on(organizationId, mode, channelId, createdAt, id),
    index('tickets_updated').on(organizationId, mode, channelId, updatedAt, id),
    index('tickets_paid')
      .on(organizationId, mode, channelId, activatedAt, id)
      .where(sql`${activatedAt} is not null`),
    index('tickets_ended')
      .on(organizationId, mode, channelId, status, createdAt, id)
      .where(sql`${status} in ('cancelled', 'expired')`),
    index('tickets_of_rate').on(organizationId, mode, ticketRateId, channelId, createdAt, id),
    index('tickets_email').on(organizationId, mode, channelId, sql`lower(${email})`, createdAt, id),
    index('tickets_name').on(organizationId, mode, channelId, sql`${searchName} collate "C"`, id),
    index('tickets_phone')
      .on(organizationId, mode, channelId, sql`${phone} collate "C"`, id)
      .where(sql`${phone} is not null`),
    index('tickets_referral')
      .on(organizationId, mode, channelId, referralId, createdAt, id)
      .where(sql`${referralId} is not null`),
  ]
}
