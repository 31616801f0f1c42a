import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import type { Connection } from '../../database/database.ts'
import { groupBy } from '../../shared/group-by.ts'
import { newId } from '../../shared/ids.ts'
import { ownProvider } from '../payment/provider.ts'
import { payments } from '../payment/table.ts'
import { anonymized } from '../ticket/anonymized.ts'
import { type Ticket, tickets } from '../ticket/table.ts'
import { deliveries, type Notice } from './table.ts'

// The payer of an order is the attendee of its first ticket as it was sold: its first transfer was told to that
// address, which is all that is kept of a former holder.
const former = sql<string | null>`(select told.recipient from ${deliveries} as told
  where told.organization_id = ${tickets.organizationId} and told.ticket_id = ${tickets.id}
    and told.kind = 'transfer_notice' order by told.created_at, told.id limit 1)`

const ofPayments = (tx: Connection, organizationId: string, paymentIds: string[]) =>
  tx
    .select({
      ...{ id: tickets.id, paymentId: tickets.paymentId, position: tickets.position, status: tickets.status },
      ...{ email: tickets.email, language: tickets.language, former, paymentLanguage: payments.language },
      ...{ mode: payments.mode, sendResourcers: payments.sendResourcers, provider: payments.provider },
    })
    .from(tickets)
    .innerJoin(
      payments,
      and(eq(payments.organizationId, tickets.organizationId), eq(payments.id, tickets.paymentId)),
    )
    .where(and(eq(tickets.organizationId, organizationId), inArray(tickets.paymentId, paymentIds)))
    .orderBy(asc(tickets.paymentId), asc(tickets.position))

type Held = Awaited<ReturnType<typeof ofPayments>>[number]

/** Queues a notice about some tickets of each payment: a mail to every holder of such a ticket, and one to the
 *  payer, who alone is told the amount; one where both are the same. Nobody is told who was anonymized, nor of
 *  a test ticket that was not to be mailed (DECISIONS 102, 201). The mails of an occasion are queued once. */
export async function queueNotices(
  tx: Connection,
  {
    organizationId,
    paymentIds,
    occasion,
  }: { organizationId: string; paymentIds: string[]; occasion: string },
  { amount, ...notice }: Omit<Notice, 'language' | 'byHand'>,
  isAbout: (ticket: Held) => boolean,
): Promise<void> {
  const rows = await ofPayments(tx, organizationId, paymentIds)
  const queued = [...groupBy(rows, ({ paymentId }) => paymentId)].flatMap(([paymentId, own]) => {
    const [[first], [one, ...others]] = [own, own.filter(isAbout)]
    if (!first || !one || (first.mode === 'test' && !first.sendResourcers)) return []
    const told = new Map<string, { recipient: string; ticketId: string | null; notice: Notice }>()
    for (const { email: recipient, language, id } of [one, ...others])
      told.set(recipient.toLowerCase(), {
        ...{ recipient, ticketId: notice.about === 'date' ? null : id },
        notice: { ...notice, language },
      })
    const payer = first.former ?? first.email
    const language = first.former === null ? first.language : first.paymentLanguage
    const { recipient, ticketId } = told.get(payer.toLowerCase()) ?? { recipient: payer, ticketId: one.id }
    const byHand = first.provider === ownProvider
    const money = amount === undefined ? {} : { amount, byHand }
    told.set(payer.toLowerCase(), { recipient, ticketId, notice: { ...notice, ...money, language } })
    return [...told.values()]
      .filter(({ recipient }) => !recipient.startsWith(anonymized))
      .map((mail) => ({
        id: newId('dlv'),
        organizationId,
        paymentId,
        occasion,
        medium: 'email' as const,
        ...mail,
      }))
  })
  if (queued.length > 0) await tx.insert(deliveries).values(queued).onConflictDoNothing()
}

/** Queues a notice that a ticket was refunded or cancelled, in the transaction that does it and has locked the
 *  payment (amount in minor units). */
export const queueNotice = (
  tx: Connection,
  { id, organizationId, paymentId }: Pick<Ticket, 'id' | 'organizationId' | 'paymentId'>,
  notice: Parameters<typeof queueNotices>[2],
): Promise<void> =>
  queueNotices(
    tx,
    { organizationId, paymentIds: [paymentId], occasion: `${notice.about}:${newId('dlv')}` },
    notice,
    (ticket) => ticket.id === id,
  )
