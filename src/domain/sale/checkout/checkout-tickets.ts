import { and } from 'drizzle-orm'
import { coalesceReads } from '../../../data/coalesce.ts'
import { anyOf, statement } from '../../../data/prepared.ts'
import { isDuplicate, isTransient } from '../../../database/database.ts'
import { type Context, requireChannel } from '../../../request/context.ts'
import { Refusal } from '../../../shared/errors.ts'
import { sha256 } from '../../../shared/ids.ts'
import { toMajor } from '../../../shared/money.ts'
import { paymentById } from '../../payment/loaders.ts'
import { idempotencyKeys, isFresh } from '../../payment/table.ts'
import { ticketsByPaymentId } from '../../ticket/loaders.ts'
import { leftOf } from '../../ticket-rate/current-price.ts'
import { priceById } from '../../ticket-rate/loaders.ts'
import type { Price } from '../../ticket-rate/table.ts'
import { expireHoldsOf } from '../release/expire-holds.ts'
import type { CheckoutInput } from './checkout-input.ts'
import type { Checkout, Idempotency } from './hold/hold-rows.ts'
import { holdTogether } from './hold/hold-together.ts'
import { type CheckoutPlan, planCheckout } from './plan-checkout.ts'
import { readTerms } from './read-terms.ts'
import type { Terms } from './terms-loaders.ts'

/** A checkout, and whether it is an earlier one answered again under its key. */
export type CheckoutAnswer = Checkout & { replayed: boolean }

function idempotencyOf({ idempotencyKey, ...asked }: CheckoutInput, channelId: string): Idempotency | null {
  if (!idempotencyKey) return null
  return {
    id: sha256(JSON.stringify([channelId, idempotencyKey])),
    // The parser puts the fields in its own order, so the same checkout is the same text.
    requestHash: sha256(JSON.stringify(asked)),
  }
}

// A key is asked for once by each checkout, and kept ones by those that come again.
const keptById = coalesceReads(
  async (db, ids) =>
    new Map(
      (
        await statement(db, 'idempotency_keys', (db) =>
          db
            .select()
            .from(idempotencyKeys)
            .where(and(anyOf(idempotencyKeys.id, 'ids'), isFresh)),
        ).execute({ ids })
      ).map((kept) => [kept.id, kept]),
    ),
)

async function replay({ id, requestHash }: Idempotency, ctx: Context): Promise<CheckoutAnswer | null> {
  const kept = await keptById(ctx.db, id)
  if (!kept) return null
  if (kept.requestHash !== requestHash)
    throw new Refusal({
      code: 'IDEMPOTENCY_KEY_REUSED',
      message: 'Another checkout was made under this key.',
      path: ['idempotencyKey'],
    })
  const payment = await ctx.loaders.load(paymentById, kept.paymentId)
  if (!payment) throw new Error('a key belongs to a payment of its channel')
  return { payment, tickets: await ctx.loaders.load(ticketsByPaymentId, payment.id), replayed: true }
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

const isAboutStock = (error: unknown): boolean =>
  error instanceof Refusal && (error.code === 'SOLD_OUT' || error.code === 'INSUFFICIENT_AVAILABILITY')

// A refusal stands when no overdue hold was in the way, and nobody else freed one since its stock was read.
async function isWorthAnotherLook({ rate }: Terms, ctx: Context): Promise<boolean> {
  ctx.loaders.clear()
  const now = await readTerms(rate.id, ctx)
  if (!now) return false
  if (now.hasOverdueHolds) {
    // Those that are gone by now are no less worth it: somebody else was at them since.
    await expireHoldsOf(ctx.db, rate.id)
    return true
  }
  return (leftOf(now.rate) ?? 0) > (leftOf(rate) ?? 0)
}

/** An answer, and the prices that its tickets were planned by. */
type Attempted = { answer: CheckoutAnswer; prices: Price[] }

/** One try. Null where it is worth another: somebody was quicker, or overdue holds were in the way. */
async function attempt(
  input: CheckoutInput,
  idempotency: Idempotency | null,
  channelId: string,
  ctx: Context,
): Promise<Attempted | null> {
  const [replayed, terms] = await Promise.all([
    idempotency && replay(idempotency, ctx),
    readTerms(input.ticketRateId, ctx),
  ])
  if (replayed) return { answer: replayed, prices: [] }
  try {
    const plan = await planCheckout(input, terms, ctx)
    refuseDearer(plan, input.expectedTotal)
    const { provider, holdMinutes } = ctx.services
    const job = { plan, input, idempotency, channelId, provider: provider.name, holdMinutes }
    const outcome = await holdTogether(ctx.db, job)
    if (outcome instanceof Refusal) throw outcome
    return (
      outcome && { answer: { ...outcome, replayed: false }, prices: plan.tickets.map(({ price }) => price) }
    )
  } catch (error) {
    if (isTransient(error) || isDuplicate(error)) return null
    if (terms && isAboutStock(error) && (await isWorthAnotherLook(terms, ctx))) return null
    throw error
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
    const attempted = await attempt(input, idempotency, channelId, ctx).finally(() => ctx.loaders.clear())
    if (!attempted) continue
    for (const price of attempted.prices) ctx.loaders.get(priceById).prime(price.id, price)
    return attempted.answer
  }
  throw new Refusal({
    code: 'BUSY',
    message: 'Too many checkouts at once. Try again.',
    facts: { retryAfter: 1 },
  })
}
