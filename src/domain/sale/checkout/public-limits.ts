import { LRUCache } from 'lru-cache'
import { Refusal } from '../../../engine/base/errors.ts'
import { perInstance } from '../../../engine/base/make-once.ts'
import { hourMs } from '../../../engine/base/timers.ts'
import { createLimitCounters } from '../../../engine/http/limit-counters.ts'
import type { Context, Services } from '../../caller/context.ts'
import { refusal } from '../../contract/problem-codes.ts'
import { findPayment } from '../../payment/loaders.ts'
import type { CheckoutAnswer } from './sell-tickets.ts'

// Bounds of what one address does with the publishable keys of a channel, in this process (DECISIONS 145).

/** Places of a checkout; `payment` is null while it is being made. Free ones count until a time by the clock of this
 *  process. */
type UnpaidPlaces = {
  places: number
  payment: { id: string; organizationId: string } | null
  freeUntil?: number | undefined
}

const maxUnknownCodes = 50
const unpaidOf = perInstance((_: Services) => new LRUCache<string, Set<UnpaidPlaces>>({ max: 20_000 }))
const unknownCodesOf = perInstance((_: Services) => createLimitCounters(60_000))

// Address and keys that are counted together; null for a caller that is not limited.
const countedAs = ({ caller, address, mode }: Context): string | null =>
  caller?.kind === 'publishable' ? `${caller.channelId} ${mode} ${address}` : null

const tooMany = (message: string, limit: number, retryAfter: number) =>
  refusal('RATE_LIMITED', message, [], { limit, retryAfter })

const placesIn = (unpaid: Set<UnpaidPlaces>) => [...unpaid].reduce((sum, { places }) => sum + places, 0)

async function forgetEnded(unpaid: Set<UnpaidPlaces>, { db }: Context): Promise<void> {
  const check = async (one: UnpaidPlaces) => {
    if (!one.payment || (one.freeUntil ?? 0) > performance.now()) return
    const payment = await findPayment(db, one.payment.organizationId, one.payment.id)
    if (payment?.status !== 'pending' && payment?.status !== 'processing') unpaid.delete(one)
  }
  await Promise.all([...unpaid].map(check))
}

// Seconds until some of the places may count no more.
function retryAfterOf(unpaid: Set<UnpaidPlaces>): number {
  const next = Math.min(...[...unpaid].map(({ freeUntil }) => freeUntil ?? 0))
  return Number.isFinite(next) ? Math.max(60, Math.ceil((next - performance.now()) / 1000)) : 60
}

/** Makes a checkout of so many places, unless its address then held more than `PUBLISHABLE_HELD_PLACES` that are unpaid,
 *  or were free within `PUBLISHABLE_FREE_HOURS`. Refuses: RATE_LIMITED. */
export async function holdWithinLimit(places: number, ctx: Context, sell: () => Promise<CheckoutAnswer>) {
  const { publishableHeldPlaces: limit, publishableFreeHours } = ctx.services
  const who = countedAs(ctx)
  if (who === null || limit === null) return sell()
  const unpaid = unpaidOf(ctx.services).get(who) ?? new Set()
  unpaidOf(ctx.services).set(who, unpaid)
  if (placesIn(unpaid) + places > limit) await forgetEnded(unpaid, ctx)
  if (placesIn(unpaid) + places > limit)
    throw tooMany('Too many places, unpaid or free, are held from this address.', limit, retryAfterOf(unpaid))
  const asked: UnpaidPlaces = { places, payment: null }
  unpaid.add(asked)
  const answer = await sell().finally(() => unpaid.delete(asked))
  const { id, organizationId, totalAmount } = answer.payment
  const freeUntil = totalAmount === 0 ? performance.now() + publishableFreeHours * hourMs : undefined
  // A repetition costs nothing: the checkout that it repeats is counted already.
  if (!answer.replayed) unpaid.add({ places, payment: { id, organizationId }, freeUntil })
  return answer
}

/** Runs a lookup of a discount code, unless its address has named too many unknown ones within a minute: even
 *  a right one is refused then. Refuses: RATE_LIMITED. */
export async function withoutGuessing<T>(
  discountCode: string | null | undefined,
  ctx: Context,
  run: () => Promise<T>,
) {
  const who = countedAs(ctx)
  if (who === null || !discountCode) return run()
  // Counts before the lookup, so that guesses at the same time are bounded like those one after the other.
  const { count, leftMs } = unknownCodesOf(ctx.services).add(who)
  if (count > maxUnknownCodes)
    throw tooMany('Too many unknown discount codes.', maxUnknownCodes, Math.ceil(leftMs / 1000))
  let isUnknown = false
  return run()
    .catch((error: unknown) => {
      isUnknown = error instanceof Refusal && error.problems.some(({ code }) => code === 'DISCOUNT_UNKNOWN')
      throw error
    })
    .finally(() => isUnknown || unknownCodesOf(ctx.services).takeBack(who))
}
