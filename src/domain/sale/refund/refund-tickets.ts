import { and, eq, or } from 'drizzle-orm'
import { z } from 'zod'
import { checkReplay, hashIdempotency, type Idempotency, nameInMode } from '../../../data/idempotency.ts'
import type { Connection } from '../../../database/database.ts'
import { type Context, requireIntegration } from '../../../request/context.ts'
import { refusal } from '../../../shared/errors.ts'
import * as scalars from '../../../shared/input-types.ts'
import { requireAmount } from '../../../shared/money.ts'
import { queueTicketNotices } from '../../delivery/queue-notices.ts'
import type { Payment } from '../../payment/table.ts'
import { type RefundAttempt, refunds } from '../../refund/table.ts'
import type { Ticket } from '../../ticket/table.ts'
import { openRefunds, startRefunds } from './open-refunds.ts'
import { findNamed, ticketsOf } from './tickets-of.ts'

const notify = z
  .boolean()
  .nullish()
  .transform((notify) => notify ?? true)
  .describe('False if nobody is to be told by mail. Defaults to true.')

/** Refund of tickets: an amount of one, or everything left to refund. */
export const refundInput = z
  .strictObject({
    of: ticketsOf,
    amount: scalars.money
      .nullish()
      .describe('Amount to refund of one ticket; everything left to refund if omitted.'),
    notify,
    idempotencyKey: scalars.idempotencyKey.describe(
      'Key of the request, chosen by the client: the same key and input return the same refunds, and the same key with another input is refused.',
    ),
  })
  .refine(({ of, amount }) => amount == null || of.paymentId === undefined, {
    message: 'must be omitted for a payment, whose tickets are refunded in full',
    path: ['amount'],
  })
  .describe('Refund of all or part of the amount paid for a ticket, or of all that is left of a payment.')
type RefundInput = z.output<typeof refundInput>

/** Return of a ticket under its warranty. */
export const returnInput = z
  .strictObject({ ticketId: scalars.id.describe('Ticket identifier.'), notify })
  .describe('Ticket to return.')

/** Cancellation of tickets. */
export const cancellationInput = z.strictObject({ of: ticketsOf, notify }).describe('Tickets to cancel.')

function toMinorAmount({ amount }: RefundInput, currency: string): number | undefined {
  if (amount == null) return undefined
  const minor = requireAmount(amount, currency, ['amount'])
  if (minor === 0) throw refusal('INVALID', 'amount must be more than 0.', ['amount', 'amount'])
  return minor
}

// The first refund of a request has its key, which is unique, and all have its hash, which names the key as well.
async function findReplay(
  tx: Connection,
  { organizationId, id: paymentId }: Payment,
  tickets: Ticket[],
  { id, requestHash }: Idempotency,
): Promise<RefundAttempt[] | null> {
  const isMade = and(eq(refunds.paymentId, paymentId), eq(refunds.requestHash, requestHash))
  const made = await tx
    .select()
    .from(refunds)
    .where(and(eq(refunds.organizationId, organizationId), or(eq(refunds.idempotencyKey, id), isMade)))
  const first = made.find(({ idempotencyKey }) => idempotencyKey === id)
  if (!checkReplay(first, requestHash, 'This key was already used for another refund.')) return null
  return tickets.flatMap(({ id }) => made.filter(({ ticketId }) => ticketId === id))
}

/** Refunds all or part of the amount paid for a ticket of the integration's organization, or all that is left of
 *  those of a payment, all or none; can be repeated until nothing is left. Does not cancel the tickets. The same
 *  idempotency key and request return the same refunds. A refund is pending unless the provider decides at once. Tells
 *  attendees and payer, unless `notify` is false (DECISIONS 161). Refuses: NOT_FOUND, INVALID,
 *  ILLEGAL_TRANSITION if a ticket is unpaid, REFUND_TOO_HIGH, IDEMPOTENCY_KEY_REUSED. */
export async function refundTickets(
  input: RefundInput,
  ctx: Context,
): Promise<{ refunds: RefundAttempt[]; replayed: boolean }> {
  const caller = nameInMode(ctx, requireIntegration(ctx).integrationId)
  const { of, notify, idempotencyKey } = input
  const named = await findNamed(of, ctx)
  const amount = toMinorAmount(input, named.currency)
  const key = hashIdempotency(caller, idempotencyKey, [caller, idempotencyKey, of, amount ?? null])
  let replayed = false
  const made = await startRefunds(named, ctx, async (tx, payment, tickets) => {
    const earlier = key && (await findReplay(tx, payment, tickets, key))
    replayed = earlier !== null
    if (earlier) return { refunds: earlier, isNew: false }
    const opened = await openRefunds(tx, payment, tickets, { reason: 'REQUESTED', amount, key })
    if (notify) {
      const notices = opened.map(({ ticketId, amount }) => ({ about: 'refund' as const, ticketId, amount }))
      await queueTicketNotices(tx, payment, notices)
    }
    return { refunds: opened, isNew: true }
  })
  return { refunds: made, replayed }
}
