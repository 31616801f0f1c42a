import { type SQL, sql } from 'drizzle-orm'
import { type ExtraConfigColumn, index, type PgColumn, uniqueIndex } from 'drizzle-orm/pg-core'

type Indexed =
  | 'id'
  | 'paymentId'
  | 'position'
  | 'organizationId'
  | 'mode'
  | 'channelId'
  | 'eventId'
  | 'ticketRateId'
  | 'ended'
  | 'qrCode'
  | 'documentToken'
  | 'email'
  | 'searchName'
  | 'phone'
  | 'referralId'
  | 'createdAt'

/** Condition that a ticket has not expired. */
export const isNotExpired = (ended: ExtraConfigColumn | PgColumn): SQL =>
  sql`${ended} is distinct from 'expired'`

/** Condition that a document's token is of the form of the release before, without the ticket's identifier. */
export const lacksTicketId = (documentToken: ExtraConfigColumn | PgColumn): SQL =>
  sql`substr(${documentToken}, 65, 6) <> 'dGt0Xz'`

/** Indexes of tickets. Most are walked by lists in their order (list-paths.ts), for each channel of an
 *  organization, in either mode. Nothing that paying or scanning changes is in any of them, nor in the predicate
 *  of one, so that these updates are heap-only and write no index. Few tickets are of the same
 *  millisecond: lists sort these by their identifiers, which would be a third of an index. Any number has the
 *  same name. */
export function ticketIndexes(ticket: Record<Indexed, ExtraConfigColumn>) {
  const { id, paymentId, position, organizationId, mode, channelId, eventId, ticketRateId, createdAt } =
    ticket
  const { ended, qrCode, documentToken, email, searchName, phone, referralId } = ticket
  return [
    index().on(paymentId, position),
    index('tickets_channel_created').on(organizationId, mode, channelId, createdAt),
    index('tickets_ended_created')
      .on(organizationId, mode, channelId, ended, createdAt)
      .where(sql`${ended} is not null`),
    index('tickets_rate_created').on(organizationId, mode, ticketRateId, channelId, createdAt),
    index('tickets_email_created').on(organizationId, mode, channelId, sql`lower(${email})`, createdAt),
    index('tickets_name').on(organizationId, mode, channelId, sql`${searchName} collate "C"`, id),
    index('tickets_phone')
      .on(organizationId, mode, channelId, sql`${phone} collate "C"`, id)
      .where(sql`${phone} is not null`),
    index('tickets_referral_created')
      .on(organizationId, mode, channelId, referralId, createdAt)
      .where(sql`${referralId} is not null`),
    // The codes of an expired checkout can be used again, so that the channel can retry with them. Test
    // tickets have codes of their own.
    uniqueIndex('tickets_code_of_event').on(qrCode, eventId, mode, organizationId).where(isNotExpired(ended)),
    uniqueIndex('tickets_token_without_id')
      .on(documentToken, organizationId)
      .where(lacksTicketId(documentToken)),
  ]
}
