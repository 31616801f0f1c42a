import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { type Connection, isDuplicate } from '../../../database/database.ts'
import { type Context, requireIntegration } from '../../../request/context.ts'
import { Refusal } from '../../../shared/errors.ts'
import { sha256 } from '../../../shared/ids.ts'
import * as scalars from '../../../shared/input-types.ts'
import { decimalsOf, isAmount, toMinor } from '../../../shared/money.ts'
import { lockPayment } from '../../payment/lock-payment.ts'
import { type Refund, refunds } from '../../refund/table.ts'
import { lockTicket } from '../../ticket/lock-ticket.ts'
import { requireTicket } from '../../ticket/require-ticket.ts'
import { giveBackAtOnce } from './give-back.ts'
import { openRefund } from './open-refund.ts'
import { refundTransaction } from './refund-transaction.ts'

/** What is to be refunded of a ticket: an amount in major units, or all that is left. */
export const refundInput = z.strictObject({
  ticketId: z.string(),
  amount: z.number().gt(0, 'must be more than 0').nullish(),
  idempotencyKey: scalars.idempotencyKey.nullish(),
})

export type RefundInput = z.output<typeof refundInput>

function amountOf({ amount }: RefundInput, currency: string): number | undefined {
  if (amount === undefined || amount === null) return undefined
  if (!isAmount(amount, currency))
    throw new Refusal({
      code: 'INVALID',
      message: `amount must have at most ${decimalsOf(currency)} decimals, as ${currency} has.`,
      path: ['amount'],
    })
  return toMinor(amount, currency)
}

async function findKept(tx: Connection, idempotencyKey: string, requestHash: string): Promise<Refund | null> {
  const [kept] = await tx.select().from(refunds).where(eq(refunds.idempotencyKey, idempotencyKey))
  if (!kept) return null
  if (kept.requestHash !== requestHash)
    throw new Refusal({
      code: 'IDEMPOTENCY_KEY_REUSED',
      message: 'Another refund was asked for under this key.',
      path: ['idempotencyKey'],
    })
  return kept
}

/** Gives back what was paid for a ticket of the integration's organization, or part of it, as often as something is
 *  left; the ticket stays as it is. The same key and request are answered with the same refund. Succeeded where the
 *  provider says so at once, else pending. Refuses: NOT_FOUND, INVALID, ILLEGAL_TRANSITION where it was not paid,
 *  REFUND_TOO_HIGH, IDEMPOTENCY_KEY_REUSED. */
export async function refundTicket(input: RefundInput, ctx: Context): Promise<Refund> {
  const { integrationId } = requireIntegration(ctx)
  const { db, provider } = ctx.services
  const { id, paymentId, currency } = await requireTicket(input.ticketId, ctx)
  const amount = amountOf(input, currency)
  const key = input.idempotencyKey
    ? {
        idempotencyKey: sha256(JSON.stringify([integrationId, input.idempotencyKey])),
        requestHash: sha256(JSON.stringify([id, amount ?? null])),
      }
    : null
  const open = () =>
    refundTransaction(db, async (tx) => {
      const payment = await lockPayment(tx, paymentId)
      const kept = key && (await findKept(tx, key.idempotencyKey, key.requestHash))
      const ticket = await lockTicket(tx, id)
      if (kept) return { refund: kept, isNew: false }
      const refund = await openRefund(tx, payment, ticket, { reason: 'REQUESTED', amount, ...key })
      return { refund, isNew: true }
    })
  // Two requests for different payments under one key are told apart by its uniqueness alone.
  const { refund, isNew } = await open().catch((error: unknown) => {
    if (isDuplicate(error)) return open()
    throw error
  })
  const given = isNew ? await giveBackAtOnce(db, provider, refund) : refund
  ctx.loaders.clear()
  return given
}
