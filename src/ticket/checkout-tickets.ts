import { createHash } from 'node:crypto'
import { and, eq, sql } from 'drizzle-orm'
import { statement } from '../batch.ts'
import { type Context, requireChannel } from '../context.ts'
import { isTransient } from '../database.ts'
import { Refusal } from '../errors.ts'
import { toMajor } from '../money.ts'
import { expireHoldsOf } from '../payment/expire-holds.ts'
import { idempotencyKeys, isFresh } from '../payment/table.ts'
import { leftOf } from '../ticket-rate/current-price.ts'
import type { CheckoutInput } from './checkout-input.ts'
import { type Checkout, holdStock, type Idempotency } from './hold-stock.ts'
import { type CheckoutPlan, planCheckout } from './plan-checkout.ts'

/** A checkout, and whether it is an earlier one answered again under its key. */
export type CheckoutAnswer = Checkout & { replayed: boolean }

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

function idempotencyOf({ idempotencyKey, ...asked }: CheckoutInput, channelId: string): Idempotency | null {
  if (!idempotencyKey) return null
  return {
    id: sha256(JSON.stringify([channelId, idempotencyKey])),
    // The parser puts the fields in its own order, so the same checkout is the same text.
    requestHash: sha256(JSON.stringify(asked)),
  }
}

async function replay({ id, requestHash }: Idempotency, ctx: Context): Promise<CheckoutAnswer | null> {
  const [kept] = await statement(ctx.db, 'idempotency_key', (db) =>
    db
      .select()
      .from(idempotencyKeys)
      .where(and(eq(idempotencyKeys.id, sql.placeholder('id')), isFresh)),
  ).execute({ id })
  if (!kept) return null
  if (kept.requestHash !== requestHash)
    throw new Refusal({
      code: 'IDEMPOTENCY_KEY_REUSED',
      message: 'Another checkout was made under this key.',
      path: ['idempotencyKey'],
    })
  const payment = await ctx.loaders.paymentById.load(kept.paymentId)
  if (!payment) throw new Error('a key belongs to a payment of its channel')
  return { payment, tickets: await ctx.loaders.ticketsByPaymentId.load(payment.id), replayed: true }
}

function refuseDearer(
  { totalAmount, currency }: CheckoutPlan,
  expectedTotal: number | null | undefined,
): void {
  const total = toMajor(totalAmount, currency)
  if (expectedTotal != null && total > expectedTotal)
    throw new Refusal({
      code: 'TOTAL_INCREASED',
      message: `The total is ${total} ${currency} now.`,
      path: ['expectedTotal'],
      facts: { totalAmount: total },
    })
}

/** What a request has read of a rate and its prices is old once a checkout touched them. */
async function forgetStock(ticketRateId: string, { loaders }: Context): Promise<void> {
  const rate = await loaders.ticketRateById.load(ticketRateId)
  loaders.ticketRateById.clear(ticketRateId)
  if (rate) loaders.ticketRatesByEventId.clear(rate.eventId)
  loaders.pricesByTicketRateId.clear(ticketRateId)
}

const isAboutStock = (error: unknown): boolean =>
  error instanceof Refusal && (error.code === 'SOLD_OUT' || error.code === 'INSUFFICIENT_AVAILABILITY')

// A refusal stands when no overdue hold was in the way, and nobody else freed one since its stock was read.
async function isWorthAnotherLook(ticketRateId: string, ctx: Context): Promise<boolean> {
  const before = await ctx.loaders.ticketRateById.load(ticketRateId)
  if (await expireHoldsOf(ctx.db, ticketRateId)) return true
  await forgetStock(ticketRateId, ctx)
  const after = await ctx.loaders.ticketRateById.load(ticketRateId)
  return before !== null && after !== null && (leftOf(after) ?? 0) > (leftOf(before) ?? 0)
}

/** One try. Null where it is worth another: somebody was quicker, or overdue holds were in the way. */
async function attempt(
  input: CheckoutInput,
  idempotency: Idempotency | null,
  channelId: string,
  ctx: Context,
): Promise<CheckoutAnswer | null> {
  const replayed = idempotency && (await replay(idempotency, ctx))
  if (replayed) return replayed
  try {
    const plan = await planCheckout(input, ctx)
    refuseDearer(plan, input.expectedTotal)
    const checkout = await holdStock(plan, input, idempotency, channelId, ctx)
    return checkout && { ...checkout, replayed: false }
  } catch (error) {
    if (isTransient(error)) return null
    if (isAboutStock(error) && (await isWorthAnotherLook(input.ticketRateId, ctx))) return null
    throw error
  } finally {
    await forgetStock(input.ticketRateId, ctx)
  }
}

const attempts = 5

/** Holds stock for one rate, prices its tickets and creates the payment. All tickets or none; a total of 0 is paid at
 *  once. The same idempotency key and input give the first answer again for 24 hours. Amounts in minor units.
 *  Refuses: FORBIDDEN, NOT_FOUND, whatever planCheckout and holdStock refuse, TOTAL_INCREASED,
 *  IDEMPOTENCY_KEY_REUSED, BUSY (INTERFACE, checkout; DECISIONS 4). */
export async function checkoutTickets(input: CheckoutInput, ctx: Context): Promise<CheckoutAnswer> {
  const { channelId } = requireChannel(ctx)
  const idempotency = idempotencyOf(input, channelId)
  for (let tried = 0; tried < attempts; tried++) {
    const answer = await attempt(input, idempotency, channelId, ctx)
    if (answer) return answer
  }
  throw new Refusal({
    code: 'BUSY',
    message: 'Too many checkouts at once. Try again.',
    facts: { retryAfter: 1 },
  })
}
