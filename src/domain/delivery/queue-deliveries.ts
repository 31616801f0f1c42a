import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Connection } from '../../database/database.ts'
import { newId } from '../../shared/ids.ts'
import type { Payment } from '../payment/table.ts'
import { isAnonymized } from '../ticket/anonymized.ts'
import type { Ticket } from '../ticket/table.ts'
import { deliveries } from './table.ts'

type Paid = {
  payment: Payment
  tickets: Pick<Ticket, 'email' | 'phone'>[]
  isPublic?: boolean | undefined
}

// Mails a day to an address of what publishable keys sell for nothing (DECISIONS 203).
const maxPublic = 5

function deliveriesOf({ payment, tickets, isPublic }: Paid) {
  const { organizationId, id: paymentId, totalAmount } = payment
  const occasion = totalAmount > 0 ? '' : isPublic ? 'public' : 'free'
  // Anybody has a publishable key: what costs nothing is sent to one address, whoever its tickets are for.
  const told = (occasion === 'public' ? tickets.slice(0, 1) : tickets).filter(
    (ticket) => !isAnonymized(ticket),
  )
  const to = (medium: 'email' | 'whatsapp', recipients: (string | null)[]) =>
    [...new Set(recipients)].flatMap((recipient) =>
      recipient ? [{ organizationId, id: newId('dlv'), paymentId, occasion, medium, recipient }] : [],
    )
  const emails = to(
    'email',
    told.map(({ email }) => email),
  )
  return occasion === 'public'
    ? emails
    : [
        ...emails,
        ...to(
          'whatsapp',
          told.map(({ phone }) => phone),
        ),
      ]
}

type Queued = ReturnType<typeof deliveriesOf>[number]

async function skipCrowded(tx: Connection, queued: Queued[]) {
  const open = queued.filter(({ occasion }) => occasion === 'public')
  const address = sql<string>`lower(${deliveries.recipient})`
  const crowded = await tx
    .select({ address })
    .from(deliveries)
    .where(
      and(
        eq(deliveries.organizationId, open[0]?.organizationId ?? ''),
        inArray(
          address,
          open.map(({ recipient }) => recipient.toLowerCase()),
        ),
        sql`${deliveries.occasion} = 'public' and ${deliveries.status} <> 'skipped'
          and ${deliveries.createdAt} > now() - interval '24 hours'`,
      ),
    )
    .groupBy(address)
    .having(sql`count(*) >= ${maxPublic}`)
  const full = new Set(crowded.map(({ address }) => address))
  const skipped = { status: 'skipped', lastError: 'TOO_MANY' } as const
  return queued.map((one) => ({ ...one, ...(full.has(one.recipient.toLowerCase()) && skipped) }))
}

/** Queues the tickets of paid checkouts of one organization for sending, in the transaction that makes them
 *  paid: one mail per address and one message per phone number, if the checkout asked for it (INTERFACE,
 *  `send_resourcers`); one mail in all where a publishable key sold them for nothing. A background job sends
 *  them. */
export async function queueDeliveries(tx: Connection, paid: Paid[]): Promise<void> {
  const queued = paid.filter(({ payment }) => payment.sendResourcers).flatMap(deliveriesOf)
  const isOpen = queued.some(({ occasion }) => occasion === 'public')
  const rows = isOpen ? await skipCrowded(tx, queued) : queued
  if (rows.length > 0) await tx.insert(deliveries).values(rows).onConflictDoNothing()
}
