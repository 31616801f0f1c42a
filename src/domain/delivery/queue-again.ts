import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Connection } from '../../database/database.ts'
import { refusal } from '../../shared/errors.ts'
import { newId } from '../../shared/ids.ts'
import { isAnonymized } from '../ticket/anonymized.ts'
import type { Ticket } from '../ticket/table.ts'
import { deliveries } from './table.ts'

// Deliveries after the one that a paid checkout causes. Each names its ticket, and an occasion of its own.

type Addressed = Pick<Ticket, 'id' | 'organizationId' | 'paymentId' | 'email' | 'phone'>

// Times that a ticket is sent again or transferred within 24 hours (DECISIONS 9).
const maxResends = 5

const isToday = sql`${deliveries.createdAt} > now() - interval '24 hours'`

const deliveriesOf = ({ id, organizationId, paymentId, email, phone }: Addressed, occasion: string) => {
  const to = (medium: 'email' | 'whatsapp', recipient: string) => ({
    id: newId('dlv'),
    ...{ organizationId, paymentId, ticketId: id, occasion, medium, recipient },
  })
  return [to('email', email), ...(phone === null ? [] : [to('whatsapp', phone)])]
}

/** Counts how often these tickets of an organization were sent again or transferred within 24 hours. Requires
 *  this transaction to hold the row locks of the tickets. Refuses: TOO_MANY_RESENDS, with the seconds after
 *  which all of them may be sent once more. */
export async function requireResends(tx: Connection, tickets: Addressed[]): Promise<void> {
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
        // Each time there is one mail with the ticket.
        sql`${deliveries.medium} = 'email' and ${deliveries.kind} = 'tickets'
          and (${deliveries.occasion} like 'resend:%' or ${deliveries.occasion} like 'transfer:%')`,
        isToday,
      ),
    )
    .groupBy(deliveries.ticketId)
    .having(sql`count(*) >= ${maxResends}`)
  if (exhausted.length === 0) return
  throw refusal(
    'TOO_MANY_RESENDS',
    `A ticket is sent again or transferred at most ${maxResends} times a day.`,
    undefined,
    { limit: maxResends, retryAfter: Math.max(1, ...exhausted.map(({ seconds }) => seconds)) },
  )
}

/** Queues each of these tickets to be sent once more. Returns the number of mails and messages. Requires this
 *  transaction to hold the row locks of the tickets. */
export async function queueAgain(tx: Connection, tickets: Addressed[]): Promise<number> {
  const queued = tickets.flatMap((ticket) => deliveriesOf(ticket, `resend:${newId('dlv')}`))
  await tx.insert(deliveries).values(queued)
  return queued.length
}

/** Queues a transferred ticket for its new holder, and a notice for the former one unless both have the
 *  same address, in the transaction of the transfer. A former one who was anonymized is told nothing, and no
 *  later one passes for who paid. */
export async function queueTransfer(tx: Connection, ticket: Addressed, formerEmail: string): Promise<void> {
  const occasion = `transfer:${newId('dlv')}`
  const queued = deliveriesOf(ticket, occasion)
  const [notice] = deliveriesOf({ ...ticket, email: formerEmail }, occasion)
  if (!notice || formerEmail === ticket.email) return void (await tx.insert(deliveries).values(queued))
  const isKnown = !isAnonymized({ email: formerEmail })
  const left = {
    recipient: `${formerEmail}:${notice.id}`,
    status: 'skipped',
    lastError: 'ANONYMIZED',
  } as const
  const forFormer = { ...notice, ...(isKnown ? {} : left), kind: 'transfer_notice' } as const
  await tx.insert(deliveries).values([...queued, forFormer])
}
