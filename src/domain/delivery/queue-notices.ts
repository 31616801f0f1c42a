import { asc, sql } from 'drizzle-orm'
import { groupBy } from '../../engine/base/group-by.ts'
import { hasKey } from '../../engine/data/query.ts'
import type { Connection } from '../../engine/database/database.ts'
import { newId } from '../contract/ids.ts'
import { ownProvider } from '../payment/provider.ts'
import { payments } from '../payment/table.ts'
import { anonymized } from '../ticket/anonymized.ts'
import { isPaymentOfTicket, tickets } from '../ticket/table.ts'
import { deliveries, type Notice } from './table.ts'

// PostgreSQL takes at most 65,535 parameters.
const maxRows = 5_000

const { id, status, email, language } = tickets

const ofPayments = (tx: Connection, organizationId: string, paymentIds: string[]) =>
  tx
    .select({
      ...{ id, status, email, language },
      // Its first transfer was told to this address, which is all that is kept of a former attendee.
      former: sql<string | null>`(select earlier.recipient from ${deliveries} as earlier
        where earlier.organization_id = ${organizationId} and earlier.ticket_id = ${tickets.id}
          and earlier.notice ->> 'about' = 'transfer' order by earlier.created_at, earlier.id limit 1)`,
      payment: payments,
    })
    .from(tickets)
    .innerJoin(payments, isPaymentOfTicket)
    .where(hasKey(tx, tickets.paymentId, organizationId, paymentIds))
    .orderBy(asc(tickets.paymentId), asc(tickets.position))

type Tickets = Awaited<ReturnType<typeof ofPayments>>

/** A notice to be queued. `ticketId` is the only ticket that it is about; without it, it is about all active ones.
 *  `paymentId` is the only payment, of several. */
type NewNotice = Pick<Notice, 'about' | 'former'> & {
  ticketId?: string | null
  paymentId?: string
  occasion: string
  amount?: number | undefined
}

// Lists the mails of a notice about tickets of one payment, of which all tickets are given.
function mailsOf(tickets: Tickets, { ticketId, paymentId: _, occasion, amount, ...notice }: NewNotice) {
  const held = tickets.filter(({ id, status }) => (ticketId ? id === ticketId : status === 'active'))
  const [first] = tickets
  if (!first || !held[0] || (first.payment.mode === 'test' && !first.payment.sendTickets)) return []
  const { id: paymentId, organizationId, provider } = first.payment
  const mailTo = (recipient: string, named: string | null, more: Pick<Notice, 'language'>) => ({
    id: newId('dlv'),
    organizationId,
    paymentId,
    occasion,
    medium: 'email' as const,
    recipient,
    ticketId: named,
    notice: { ...notice, ...more },
  })
  const mails = new Map(
    held.map(({ email, language }) => [email.toLowerCase(), mailTo(email, ticketId ?? null, { language })]),
  )
  const payer = first.former ?? first.email
  const known = mails.get(payer.toLowerCase()) ?? { recipient: payer, ticketId: held[0].id }
  const { language } = first.former === null ? first : first.payment
  const money = amount === undefined ? {} : { amount, byHand: provider === ownProvider }
  mails.set(payer.toLowerCase(), mailTo(known.recipient, known.ticketId, { language, ...money }))
  return [...mails.values()].filter(({ recipient }) => !recipient.startsWith(anonymized))
}

/** Queues notices about some tickets of each payment: a mail to every attendee of such a ticket, and one to
 *  the payer (the attendee of the first ticket as it was sold), who alone is told the amount; a single one if
 *  both are the same. Leaves out people who were anonymized, and test tickets whose checkout asked for no
 *  mails (DECISIONS 142, 161, 162). The mails of an occasion are queued once. */
export async function queueNotices(
  tx: Connection,
  { organizationId, paymentIds }: { organizationId: string; paymentIds: string[] },
  notices: NewNotice[],
): Promise<void> {
  const rows = await ofPayments(tx, organizationId, paymentIds)
  const queued = [...groupBy(rows, ({ payment }) => payment.id)].flatMap(([id, tickets]) =>
    notices.filter(({ paymentId = id }) => paymentId === id).flatMap((notice) => mailsOf(tickets, notice)),
  )
  for (let from = 0; from < queued.length; from += maxRows)
    await tx
      .insert(deliveries)
      .values(queued.slice(from, from + maxRows))
      .onConflictDoNothing()
}

/** Queues notices that tickets of one organization were refunded or cancelled, in the transaction that does it and has
 *  locked their payments. Amounts in minor units. */
export async function queueTicketNotices(
  tx: Connection,
  about: 'refund' | 'cancellation',
  told: { organizationId: string; paymentId: string; ticketId: string | null; amount?: number }[],
): Promise<void> {
  const [first] = told
  if (!first) return
  const { organizationId } = first
  const paymentIds = [...new Set(told.map(({ paymentId }) => paymentId))]
  const notices = told.map(({ ticketId, paymentId, amount }) => {
    const occasion = `${about}:${newId('dlv')}`
    return { about, ticketId, paymentId, amount, occasion }
  })
  await queueNotices(tx, { organizationId, paymentIds }, notices)
}
