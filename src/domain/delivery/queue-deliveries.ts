import { and, inArray, type SQL, sql } from 'drizzle-orm'
import { hasKey } from '../../engine/data/query.ts'
import type { Connection } from '../../engine/database/database.ts'
import { newId } from '../contract/ids.ts'
import { refusal } from '../contract/problem-codes.ts'
import type { Payment } from '../payment/table.ts'
import { anonymized } from '../ticket/anonymized.ts'
import type { Ticket } from '../ticket/table.ts'
import { deliveries } from './table.ts'

const prefix = `${anonymized}:`

/** Recipient of an anonymized delivery: a different one for each, because deliveries of one occasion must
 *  differ in it. */
export const anonymizedRecipient: SQL<string> = sql`${prefix} || ${deliveries.id}`

/** Condition that the recipient of a delivery is known. */
export const hasRecipient: SQL = sql`not starts_with(${deliveries.recipient}, ${prefix})`

const isToday = sql`${deliveries.createdAt} > now() - interval '24 hours'`

type Queued = typeof deliveries.$inferInsert
type Named = Pick<Queued, 'organizationId' | 'paymentId' | 'ticketId' | 'occasion'>

/** Makes a mail to each address and a message to each phone number. */
function deliveriesTo(named: Named, emails: string[], phones: (string | null)[]): Queued[] {
  const to = (medium: Queued['medium'], recipients: (string | null)[]) =>
    [...new Set(recipients)].flatMap((recipient) =>
      recipient && recipient !== anonymized ? [{ id: newId('dlv'), ...named, medium, recipient }] : [],
    )
  return [...to('email', emails), ...to('whatsapp', phones)]
}

type Paid = {
  payment: Payment
  tickets: Pick<Ticket, 'email' | 'phone'>[]
  isPublic?: boolean | undefined
}

// Maximum number of mails that an address gets within a day for free checkouts by publishable keys (DECISIONS 164).
const maxPublic = 5

function deliveriesOf({ payment, tickets, isPublic }: Paid): Queued[] {
  const { organizationId, id: paymentId, totalAmount } = payment
  const [emails, phones] = [tickets.map(({ email }) => email), tickets.map(({ phone }) => phone)]
  // Anybody may have a publishable key, so a free checkout is sent to one address, whoever its tickets are for.
  if (isPublic && totalAmount === 0)
    return deliveriesTo({ organizationId, paymentId, occasion: 'public' }, emails.slice(0, 1), [])
  return deliveriesTo({ organizationId, paymentId, occasion: totalAmount > 0 ? '' : 'free' }, emails, phones)
}

// Checkouts that are paid in one transaction may be many to one address.
async function skipExcess(tx: Connection, queued: Queued[]) {
  const isOpen = ({ occasion }: Queued) => occasion === 'public'
  const addressOf = ({ recipient }: Queued) => recipient.toLowerCase()
  const open = queued.filter(isOpen)
  if (!open[0]) return queued
  const address = sql<string>`lower(${deliveries.recipient})`
  const sent = await tx
    .select({ address, count: sql<number>`count(*)::integer` })
    .from(deliveries)
    .where(
      sql`${deliveries.organizationId} = ${open[0].organizationId} and ${inArray(address, open.map(addressOf))}
        and ${deliveries.occasion} = 'public' and ${deliveries.status} <> 'skipped'
        and ${isToday}`,
    )
    .groupBy(address)
  const counts = new Map(sent.map(({ address, count }) => [address, count]))
  return queued.map((one) => {
    if (!isOpen(one)) return one
    const count = (counts.get(addressOf(one)) ?? 0) + 1
    counts.set(addressOf(one), count)
    return count > maxPublic ? { ...one, status: 'skipped' as const, lastError: 'TOO_MANY' } : one
  })
}

/** Queues the tickets of paid checkouts of one organization for sending, in the transaction that makes them
 *  paid: one mail per address and one message per phone number, if the checkout asked for it (INTERFACE,
 *  `send_resourcers`); one mail in all where a publishable key sold them for nothing. A background job sends
 *  them. */
export async function queueDeliveries(tx: Connection, paid: Paid[]): Promise<void> {
  const queued = paid.filter(({ payment }) => payment.sendTickets).flatMap(deliveriesOf)
  const rows = await skipExcess(tx, queued)
  if (rows.length > 0) await tx.insert(deliveries).values(rows).onConflictDoNothing()
}

// Deliveries after the one that a paid checkout causes. Each names its ticket, and an occasion of its own.

type Addressed = Pick<Ticket, 'id' | 'organizationId' | 'paymentId' | 'email' | 'phone'>

// Times that a ticket is sent again or transferred within 24 hours (DECISIONS, holders).
const maxResends = 5

/** Counts how often these tickets of an organization were sent again or transferred within 24 hours. Requires
 *  this transaction to hold the row locks of the tickets. Refuses: TOO_MANY_RESENDS, with the seconds after
 *  which all of them may be sent once more. */
export async function requireResends(tx: Connection, tickets: Addressed[]): Promise<void> {
  const ids = tickets.map(({ id }) => id)
  const areTheirs = hasKey(tx, deliveries.ticketId, tickets[0]?.organizationId ?? '', ids)
  // Each time there is one mail with the ticket.
  const isAgain = sql`${deliveries.medium} = 'email' and ${deliveries.notice} is null
    and (${deliveries.occasion} like 'resend:%' or ${deliveries.occasion} like 'transfer:%')`
  const exhausted = await tx
    .select({
      // There are never more than the maximum within a day, so the oldest one is the next to drop out.
      seconds: sql<number>`ceil(extract(epoch from min(${deliveries.createdAt}) + interval '24 hours' - now()))::float8`,
    })
    .from(deliveries)
    .where(and(areTheirs, isAgain, isToday))
    .groupBy(deliveries.ticketId)
    .having(sql`count(*) >= ${maxResends}`)
  if (exhausted.length === 0) return
  const message = `A ticket is sent again or transferred at most ${maxResends} times a day.`
  const retryAfter = Math.max(1, ...exhausted.map(({ seconds }) => seconds))
  throw refusal('TOO_MANY_RESENDS', message, undefined, { limit: maxResends, retryAfter })
}

/** Queues each of these tickets to be sent once more, on an occasion that begins with `resend:`. Returns the number of
 *  mails and messages. Requires this transaction to hold the row locks of the tickets. */
export async function queueAgain(tx: Connection, tickets: Addressed[], occasion: string): Promise<number> {
  const queued = tickets.flatMap(({ id, organizationId, paymentId, email, phone }) => {
    const named = { organizationId, paymentId, ticketId: id, occasion: `${occasion}:${id}` }
    return deliveriesTo(named, [email], [phone])
  })
  await tx.insert(deliveries).values(queued)
  return queued.length
}

/** Finds what was queued on an occasion of `queueAgain`. */
export const findResent = (
  tx: Connection,
  { organizationId, paymentId }: Pick<Addressed, 'organizationId' | 'paymentId'>,
  occasion: string,
): Promise<Pick<Queued, 'ticketId'>[]> =>
  tx
    .select({ ticketId: deliveries.ticketId })
    .from(deliveries)
    .where(
      sql`${deliveries.organizationId} = ${organizationId} and ${deliveries.paymentId} = ${paymentId}
        and starts_with(${deliveries.occasion}, ${`${occasion}:`})`,
    )

/** Queues a transferred ticket for its new attendee, and a notice for the former one unless both have the same
 *  address, in the transaction of the transfer. A former attendee who was anonymized is told nothing, and no
 *  later attendee passes for the payer. */
export async function queueTransfer(tx: Connection, ticket: Addressed, formerEmail: string): Promise<void> {
  const { id: ticketId, organizationId, paymentId, email, phone } = ticket
  const id = newId('dlv')
  const named = { organizationId, paymentId, ticketId, occasion: `transfer:${id}` }
  const queued = deliveriesTo(named, [email], [phone])
  const notice = { id, ...named, medium: 'email', notice: { about: 'transfer' } } as const
  if (formerEmail === anonymized)
    queued.push({ ...notice, recipient: prefix + id, status: 'skipped', lastError: 'ANONYMIZED' })
  else if (formerEmail !== email) queued.push({ ...notice, recipient: formerEmail })
  await tx.insert(deliveries).values(queued)
}
