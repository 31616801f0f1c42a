import { and, eq, inArray, like, sql } from 'drizzle-orm'
import type { Connection } from '../../database/database.ts'
import { newId } from '../../shared/ids.ts'
import { isAnonymized } from '../ticket/anonymized.ts'
import type { Ticket } from '../ticket/table.ts'
import { deliveries } from './table.ts'

// Deliveries after the one that a paid checkout causes. Each names its ticket, and an occasion of its own.

type Addressed = Pick<Ticket, 'id' | 'organizationId' | 'paymentId' | 'email' | 'phone'>

/** Maximum number of times that a ticket is sent again within 24 hours (DECISIONS 9). */
export const maxResends = 5

const resendPrefix = 'resend:'
const isToday = sql`${deliveries.createdAt} > now() - interval '24 hours'`

const deliveriesOf = ({ id, organizationId, paymentId, email, phone }: Addressed, occasion: string) => {
  const to = (medium: 'email' | 'whatsapp', recipient: string) => ({
    id: newId('dlv'),
    ...{ organizationId, paymentId, ticketId: id, occasion, medium, recipient },
  })
  return [to('email', email), ...(phone === null ? [] : [to('whatsapp', phone)])]
}

/** Counts how often these tickets of a payment were sent again within 24 hours. Returns the seconds after
 *  which all of them may be sent once more; null if they may be now. Requires this transaction to hold the
 *  row locks of the tickets. */
export async function secondsUntilResend(tx: Connection, tickets: Addressed[]): Promise<number | null> {
  const ids = tickets.map(({ id }) => id)
  const exhausted = await tx
    .select({
      // Never more than the maximum are within a day, so the first of them is the next to leave it.
      seconds: sql<number>`ceil(extract(epoch from min(${deliveries.createdAt}) + interval '24 hours' - now()))::float8`,
    })
    .from(deliveries)
    .where(
      and(
        eq(deliveries.organizationId, tickets[0]?.organizationId ?? ''),
        inArray(deliveries.ticketId, ids),
        // Each time there is one mail.
        sql`${deliveries.medium} = 'email'`,
        like(deliveries.occasion, `${resendPrefix}%`),
        isToday,
      ),
    )
    .groupBy(deliveries.ticketId)
    .having(sql`count(*) >= ${maxResends}`)
  return exhausted.length === 0 ? null : Math.max(1, ...exhausted.map(({ seconds }) => seconds))
}

/** Queues each of these tickets to be sent once more. Returns the number of mails and messages. Requires this
 *  transaction to hold the row locks of the tickets. */
export async function queueAgain(tx: Connection, tickets: Addressed[]): Promise<number> {
  const queued = tickets.flatMap((ticket) => deliveriesOf(ticket, resendPrefix + newId('dlv')))
  await tx.insert(deliveries).values(queued)
  return queued.length
}

/** Queues a transferred ticket for its new holder, and a notice for the former one unless both have the
 *  same address or the former one was anonymized, in the transaction of the transfer. */
export async function queueTransfer(tx: Connection, ticket: Addressed, formerEmail: string): Promise<void> {
  const occasion = `transfer:${newId('dlv')}`
  const { id: ticketId, organizationId, paymentId } = ticket
  const toFormer = {
    ...{ organizationId, paymentId, ticketId, occasion },
    medium: 'email',
    recipient: formerEmail,
  } as const
  const notice = { id: newId('dlv'), kind: 'transfer_notice', ...toFormer } as const
  const queued = deliveriesOf(ticket, occasion)
  const isTold = formerEmail !== ticket.email && !isAnonymized({ email: formerEmail })
  await tx.insert(deliveries).values(isTold ? [...queued, notice] : queued)
}
