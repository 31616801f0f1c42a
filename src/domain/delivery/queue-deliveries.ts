import { inArray, type SQL, sql } from 'drizzle-orm'
import type { Connection } from '../../database/database.ts'
import { newId } from '../../shared/ids.ts'
import type { Payment } from '../payment/table.ts'
import { isAnonymized } from '../ticket/anonymized.ts'
import type { Ticket } from '../ticket/table.ts'
import { deliveries } from './table.ts'

const prefix = 'anonymized:'

/** Recipient of a delivery whose recipient was anonymized: another one for each, because deliveries of one
 *  occasion have different ones. */
export const anonymizedRecipient: SQL<string> = sql`${prefix} || ${deliveries.id}`

/** Condition that the recipient of a delivery is known. */
export const hasRecipient: SQL = sql`not starts_with(${deliveries.recipient}, ${prefix})`

type Paid = {
  payment: Payment
  tickets: Pick<Ticket, 'email' | 'phone'>[]
  isPublic?: boolean | undefined
}

// Mails a day to an address of what publishable keys sell for nothing (DECISIONS 164).
const maxPublic = 5

function deliveriesOf({ payment, tickets, isPublic }: Paid) {
  const { organizationId, id: paymentId, totalAmount } = payment
  const occasion = totalAmount > 0 ? '' : isPublic ? 'public' : 'free'
  const to = (medium: 'email' | 'whatsapp', recipients: (string | null)[]) =>
    [...new Set(recipients)].flatMap((recipient) =>
      recipient && !isAnonymized({ email: recipient })
        ? [{ organizationId, id: newId('dlv'), paymentId, occasion, medium, recipient }]
        : [],
    )
  const [emails, phones] = [tickets.map(({ email }) => email), tickets.map(({ phone }) => phone)]
  // Anybody has a publishable key: what costs nothing is sent to one address, whoever its tickets are for.
  if (occasion === 'public') return to('email', emails.slice(0, 1))
  return [...to('email', emails), ...to('whatsapp', phones)]
}

type Queued = ReturnType<typeof deliveriesOf>[number]

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
        and ${deliveries.createdAt} > now() - interval '24 hours'`,
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
  const queued = paid.filter(({ payment }) => payment.sendResourcers).flatMap(deliveriesOf)
  const rows = await skipExcess(tx, queued)
  if (rows.length > 0) await tx.insert(deliveries).values(rows).onConflictDoNothing()
}
