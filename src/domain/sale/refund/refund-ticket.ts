import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { checkReplay, hashIdempotency, type Idempotency, nameInMode } from '../../../data/idempotency.ts'
import type { Connection } from '../../../database/database.ts'
import { type Context, requireIntegration } from '../../../request/context.ts'
import { refusal } from '../../../shared/errors.ts'
import * as scalars from '../../../shared/input-types.ts'
import { requireAmount } from '../../../shared/money.ts'
import { queueNotice } from '../../delivery/queue-notices.ts'
import { type RefundAttempt, refunds } from '../../refund/table.ts'
import { requireTicket } from '../../ticket/require-ticket.ts'
import { openRefund, startRefund } from './open-refund.ts'

const notify = z
  .boolean()
  .nullish()
  .transform((notify) => notify ?? true)
  .describe('False if nobody is to be told by mail. Defaults to true.')

/** Refund of a ticket: an amount, or everything left to refund. */
export const refundInput = z
  .strictObject({
    ticketId: scalars.id.describe('Identifier of the ticket to refund.'),
    amount: scalars.money.nullish().describe('Amount to refund; everything left to refund if omitted.'),
    notify,
    idempotencyKey: scalars.idempotencyKey.describe(
      'Key of the request, chosen by the client: the same key and input return the same refund, and the same key with another input is refused.',
    ),
  })
  .describe('Refund of all or part of the amount paid for a ticket.')
export type RefundInput = z.output<typeof refundInput>

const ticketTo = (verb: string) =>
  z
    .strictObject({ ticketId: scalars.id.describe(`Identifier of the ticket to ${verb}.`), notify })
    .describe(`Ticket to ${verb}.`)

/** Return of a ticket under its warranty. */
export const returnInput = ticketTo('return')

/** Cancellation of a ticket. */
export const cancellationInput = ticketTo('cancel')

function toMinorAmount({ amount }: RefundInput, currency: string): number | undefined {
  if (amount == null) return undefined
  const minor = requireAmount(amount, currency, ['amount'])
  if (minor === 0) throw refusal('INVALID', 'amount must be more than 0.', ['amount', 'amount'])
  return minor
}

async function findReplay(
  tx: Connection,
  organizationId: string,
  { id, requestHash }: Idempotency,
): Promise<RefundAttempt | null> {
  const [made] = await tx
    .select()
    .from(refunds)
    .where(and(eq(refunds.organizationId, organizationId), eq(refunds.idempotencyKey, id)))
  return checkReplay(made, requestHash, 'This key was already used for another refund.')
}

/** Refunds all or part of the amount paid for a ticket of the integration's organization; can be repeated
 *  until nothing is left. Does not cancel the ticket. The same idempotency key and request return the same
 *  refund. The refund is pending unless the provider decides at once. Tells attendee and payer, unless `notify` is
 *  false (DECISIONS 161). Refuses: NOT_FOUND, INVALID,
 *  ILLEGAL_TRANSITION if the ticket is unpaid, REFUND_TOO_HIGH, IDEMPOTENCY_KEY_REUSED. */
export async function refundTicket(
  input: RefundInput,
  ctx: Context,
): Promise<{ refund: RefundAttempt; replayed: boolean }> {
  const { integrationId } = requireIntegration(ctx)
  const ticket = await requireTicket(input.ticketId, ctx)
  const amount = toMinorAmount(input, ticket.currency)
  const key = hashIdempotency(nameInMode(ctx, integrationId), input.idempotencyKey, [
    ticket.id,
    amount ?? null,
  ])
  let replayed = false
  const refund = await startRefund(ticket, ctx, async (tx, payment, ticket) => {
    const earlier = key && (await findReplay(tx, ticket.organizationId, key))
    replayed = earlier !== null
    if (earlier) return { refund: earlier, isNew: false }
    const columns = key && { idempotencyKey: key.id, requestHash: key.requestHash }
    const refund = await openRefund(tx, payment, ticket, { reason: 'REQUESTED', amount, ...columns })
    if (input.notify) await queueNotice(tx, ticket, { about: 'refund', amount: refund.amount })
    return { refund, isNew: true }
  })
  return { refund, replayed }
}
