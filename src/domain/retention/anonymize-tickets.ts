import { and, asc, inArray, isNull, ne, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { hasKey } from '../../engine/data/query.ts'
import type { Connection } from '../../engine/database/database.ts'
import { anonymizedRecipient, hasRecipient } from '../delivery/queue-deliveries.ts'
import { deliveries } from '../delivery/table.ts'
import { arePayments } from '../payment/lock-payment.ts'
import { payments } from '../payment/table.ts'
import { anonymized, clearedAttendee } from '../ticket/anonymized.ts'
import { type Ticket, ticketColumns, tickets } from '../ticket/table.ts'

/** Tickets that were anonymized, and deliveries whose mails name somebody who was. */
export type Anonymized = { tickets: Ticket[]; deliveryIds: string[] }

const contains = (text: SQL | PgColumn, part: SQL | PgColumn) =>
  sql`strpos(lower(${text}), lower(${part})) > 0`

/** Payments of an organization whose row locks a transaction holds. */
type Locked = { tx: Connection; organizationId: string; paymentIds: string[] }

// Free texts of a payment: URLs of the channel, and a reference of the box office if it names the attendee.
async function clearPayments({ tx, organizationId, paymentIds }: Locked, ticketIds: string[]): Promise<void> {
  const { redirectUrl, errorUrl, sessionUrl, methodReference: reference } = payments
  const namesAttendee = sql`exists (select from ${tickets}
    where ${tickets.organizationId} = ${organizationId} and ${tickets.paymentId} = ${payments.id}
      and ${inArray(tickets.id, ticketIds)}
      and (${contains(reference, tickets.fullName)} or ${contains(reference, tickets.email)}))`
  const hasAny = sql`num_nonnulls(${redirectUrl}, ${errorUrl}, ${sessionUrl}, ${reference}) > 0`
  await tx
    .update(payments)
    .set({
      redirectUrl: null,
      errorUrl: null,
      // A buyer who pays at this moment is led there.
      sessionUrl: sql`case when ${payments.sessionOpen} then ${sessionUrl} end`,
      methodReference: sql`case when not ${namesAttendee} then ${reference} end`,
    })
    .where(and(arePayments(tx, organizationId, paymentIds), hasAny))
}

// Metadata and a referral are the checkout's, on all of its tickets: those of others may name the attendee.
async function clearOthers({ tx, organizationId, paymentIds }: Locked, names: string[]): Promise<void> {
  const { metadata, referralId } = tickets
  const named = (text: SQL | PgColumn) => sql`exists (select from unnest(${sql.param(names)}::text[]) as name
    where ${contains(text, sql`name`)})`
  const [inMetadata, inReferral] = [named(sql`${metadata}::text`), named(referralId)]
  await tx
    .update(tickets)
    .set({
      metadata: sql`case when not ${inMetadata} then ${metadata} end`,
      referralId: sql`case when not ${inReferral} then ${referralId} end`,
    })
    .where(and(hasKey(tx, tickets.paymentId, organizationId, paymentIds), or(inMetadata, inReferral)))
}

// Whether a delivery goes to one of these, however an address is spelled in it.
const isAmong = (recipients: string[]) =>
  inArray(
    sql`lower(${deliveries.recipient})`,
    recipients.map((recipient) => recipient.toLowerCase()),
  )

// Clears recipients that no ticket of the payment bears any more, such as former attendees. Leaves what is
// still to be sent to a former attendee, and what concerns another ticket, whose first attendee may have paid.
export async function clearRecipients(
  { tx, organizationId, paymentIds }: Locked,
  recipients: string[],
  ticketIds: string[] = [],
): Promise<string[]> {
  const { recipient, status, lastError, ticketId } = deliveries
  const isBorne = sql`exists (select from ${tickets} where ${tickets.organizationId} = ${organizationId}
    and ${tickets.paymentId} = ${deliveries.paymentId}
    and (lower(${tickets.email}) = lower(${recipient}) or ${tickets.phone} = ${recipient}))`
  const isUnsent = sql`${status} in ('pending', 'dead')`
  const isOver = and(ne(status, 'pending'), or(isNull(ticketId), inArray(ticketId, ticketIds)))
  const isToClear = and(hasRecipient, sql`not ${isBorne}`, or(isAmong(recipients), isOver))
  const cleared = await tx
    .update(deliveries)
    .set({
      recipient: anonymizedRecipient,
      status: sql`case when ${isUnsent} then 'skipped' else ${status} end`,
      lastError: sql`case when ${isUnsent} then 'ANONYMIZED' else ${lastError} end`,
    })
    .where(and(hasKey(tx, deliveries.paymentId, organizationId, paymentIds), isToClear))
    .returning({ id: deliveries.id })
  return cleared.map(({ id }) => id)
}

/** Anonymizes the attendees of tickets of an organization, in any status: clears everything personal about
 *  them, also in their payments, deliveries and the other tickets of their checkouts, and what was still to be
 *  sent to them. Codes, statuses, amounts, invoices and counts stay. Tickets that were anonymized before are left out. Requires this
 *  transaction to hold the row locks of their payments (DECISIONS 170). */
export async function anonymizeTickets(tx: Connection, organizationId: string, ticketIds: string[]) {
  const areThese = and(hasKey(tx, tickets.id, organizationId, ticketIds), ne(tickets.email, anonymized))
  const { paymentId, email, phone, fullName } = tickets
  const former = await tx
    .select({ paymentId, email, phone, fullName })
    .from(tickets)
    .where(areThese)
    .orderBy(asc(tickets.id))
    .for('update')
  if (former.length === 0) return { tickets: [], deliveryIds: [] }
  const paymentIds = [...new Set(former.map(({ paymentId }) => paymentId))]
  const locked = { tx, organizationId, paymentIds }
  await clearPayments(locked, ticketIds)
  const changed = await tx
    .update(tickets)
    .set({
      ...clearedAttendee,
      fullName: anonymized,
      searchName: '',
      email: anonymized,
      phone: null,
      metadata: null,
      // Sums by referral need what the channel calls its referrers, unless it is a person's address.
      referralId: sql`case when strpos(${tickets.referralId}, '@') = 0 then ${tickets.referralId} end`,
    })
    .where(areThese)
    .returning(ticketColumns)
  const recipients = former.flatMap(({ email, phone }) => (phone ? [email, phone] : [email]))
  // Shorter names stand in almost any text.
  const names = former.flatMap(({ fullName }) => (fullName.length > 2 ? [fullName] : []))
  await clearOthers(locked, [...recipients, ...names])
  const namesThem = or(inArray(deliveries.ticketId, ticketIds), isAmong(recipients))
  const mails = await tx
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(and(hasKey(tx, deliveries.paymentId, organizationId, paymentIds), namesThem))
  const cleared = await clearRecipients(locked, recipients, ticketIds)
  return { tickets: changed, deliveryIds: [...new Set([...mails.map(({ id }) => id), ...cleared])] }
}
