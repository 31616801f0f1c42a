import { and, eq, not, sql } from 'drizzle-orm'
import type { z } from 'zod'
import type { Connection } from '../../../engine/database/database.ts'
import { aloneOnRow, transaction } from '../../../engine/database/transaction.ts'
import { type Context, requireConfidential } from '../../caller/context.ts'
import { checkReplay, hashIdempotency, type Idempotency, nameInMode } from '../../caller/idempotency.ts'
import { newId } from '../../contract/ids.ts'
import { findResent, queueAgain, requireResends } from '../../delivery/queue-deliveries.ts'
import { idempotencyKeys, isFresh } from '../../payment/table.ts'
import { isAnonymized } from '../../ticket/anonymized.ts'
import type { Ticket } from '../../ticket/table.ts'
import { findNamed, lockNamed, type NamedTickets } from '../refund/tickets-of.ts'
import type { ticketResending } from './attendee-input.ts'
import { statusRefusal } from './attendee-rules.ts'

// Takes a key in the transaction of its request, or finds it taken by the same one. Names the request in its
// deliveries: by the time as well, because the key can be used again after 24 hours. A key that another transaction is
// taking is waited for.
async function takeKey(
  tx: Connection,
  { organizationId, paymentId }: NamedTickets,
  { id, requestHash }: Idempotency,
): Promise<{ occasion: string; replayed: boolean }> {
  const row = { organizationId, id, requestHash, paymentId }
  const [taken] = await tx
    .insert(idempotencyKeys)
    .values(row)
    .onConflictDoUpdate({
      target: [idempotencyKeys.id, idempotencyKeys.organizationId],
      set: { requestHash, paymentId, createdAt: sql`now()` },
      setWhere: not(isFresh),
    })
    .returning()
  const isThis = and(eq(idempotencyKeys.organizationId, organizationId), eq(idempotencyKeys.id, id))
  const [key] = taken ? [taken] : await tx.select().from(idempotencyKeys).where(isThis)
  checkReplay(key, requestHash, 'This key was already used for another request.')
  return { occasion: `resend:${id}:${key?.createdAt.getTime()}`, replayed: !taken }
}

/** Sends a ticket, or all active tickets of a payment, to their attendees again: a mail for each ticket, and a
 *  message where the attendee has a phone. All or none. Works whether or not the checkout asked for mails. The same
 *  idempotency key and request return the first answer for 24 hours, as `replayed`. Returns the tickets, and the number of
 *  mails and messages that were queued for them.
 *  Refuses: NOT_FOUND; IDEMPOTENCY_KEY_REUSED; ILLEGAL_TRANSITION if no ticket is active, or those that are have no
 *  attendee any more; TOO_MANY_RESENDS if one of them was sent again or transferred five times within 24 hours, by the
 *  database's clock (DECISIONS, holders). */
export async function resendTickets({ of, idempotencyKey }: z.output<typeof ticketResending>, ctx: Context) {
  const caller = requireConfidential(ctx)
  const owner = caller.kind === 'channel' ? caller.channelId : caller.integrationId
  // Its keys lie among those of checkouts, for which no checkout is to wait.
  const key = hashIdempotency(`resend ${nameInMode(ctx, owner)}`, idempotencyKey, of)
  const named = await findNamed(of, ctx)
  const write = async (tx: Connection) => {
    const { tickets } = await lockNamed(tx, named)
    const unnamed = { occasion: `resend:${newId('dlv')}`, replayed: false }
    const { occasion, replayed } = key ? await takeKey(tx, named, key) : unnamed
    if (replayed) {
      const sent = await findResent(tx, named, occasion)
      const isSent = ({ id }: Ticket) => sent.some(({ ticketId }) => ticketId === id)
      return { tickets: tickets.filter(isSent), deliveries: sent.length, replayed }
    }
    const active = tickets.filter((ticket) => ticket.status === 'active' && !isAnonymized(ticket))
    const [first] = tickets
    if (active.length === 0 && first) throw statusRefusal(first, 'resent')
    await requireResends(tx, active)
    return { tickets: active, deliveries: await queueAgain(tx, active, occasion), replayed }
  }
  return aloneOnRow(ctx.db, named.paymentId, () => transaction(ctx.db, write)).finally(() =>
    ctx.loaders.clear(),
  )
}
