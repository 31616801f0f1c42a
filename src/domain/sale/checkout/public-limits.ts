import { LRUCache } from 'lru-cache'
import { createLimitCounters } from '../../../http/limit-counters.ts'
import type { Context, Services } from '../../../request/context.ts'
import { problem, Refusal } from '../../../shared/errors.ts'
import { perOwner } from '../../../shared/per-owner.ts'
import { findPayment } from '../../payment/loaders.ts'
import type { CheckoutAnswer } from './sell-tickets.ts'

// Bounds of what one address does with the publishable keys of a channel, in this process: everybody has such a
// key, and their limit of requests is too wide for what holds places or guesses codes (DECISIONS 251).

/** Places that an address holds by a checkout; `payment` is null while that is being made. */
type Hold = { places: number; until: number; payment: { id: string; organizationId: string } | null }

const maxAddresses = 20_000
const holdsOf = perOwner((_: Services) => new LRUCache<string, Set<Hold>>({ max: maxAddresses }))

const guessMs = 60_000
const maxUnknownCodes = 50
const unknownCodesOf = perOwner((_: Services) => createLimitCounters(guessMs))

/** Address and keys that are counted together; null for a caller that is not limited. */
const limitedAs = ({ caller, address, mode }: Context): string | null =>
  caller?.kind === 'publishable' ? `${caller.channelId} ${mode} ${address}` : null

const tooMany = (message: string, limit: number, retryAfter: number) =>
  new Refusal(problem('RATE_LIMITED', message, [], { limit, retryAfter }))

const placesIn = (holds: Set<Hold>) => [...holds].reduce((sum, { places }) => sum + places, 0)

async function forgetEnded(holds: Set<Hold>, ctx: Context): Promise<void> {
  for (const hold of holds) if (hold.until < Date.now()) holds.delete(hold)
  const ended = async (hold: Hold) => {
    const payment = hold.payment && (await findPayment(ctx.db, hold.payment.organizationId, hold.payment.id))
    if (hold.payment && payment?.status !== 'pending' && payment?.status !== 'processing') holds.delete(hold)
  }
  await Promise.all([...holds].map(ended))
}

/** Makes a checkout of so many places, unless its address then held more of them unpaid than
 *  `PUBLISHABLE_HELD_PLACES`. What is paid, cancelled or expired counts no more. Refuses: RATE_LIMITED. */
export async function holdWithinLimit(
  places: number,
  ctx: Context,
  sell: () => Promise<CheckoutAnswer>,
): Promise<CheckoutAnswer> {
  const { holdMinutes, publishableHeldPlaces: limit } = ctx.services
  const who = limitedAs(ctx)
  if (who === null || limit === null) return sell()
  const known = holdsOf(ctx.services)
  const holds = known.get(who) ?? new Set()
  known.set(who, holds)
  if (placesIn(holds) + places > limit) await forgetEnded(holds, ctx)
  if (placesIn(holds) + places > limit)
    throw tooMany('Too many unpaid places are held from this address.', limit, 60)
  const hold: Hold = { places, until: Date.now() + holdMinutes * 60_000, payment: null }
  holds.add(hold)
  try {
    const { payment, ...answer } = await sell()
    // A repetition is counted by the checkout that it repeats.
    if (answer.replayed) holds.delete(hold)
    hold.payment = payment
    return { payment, ...answer }
  } catch (error) {
    holds.delete(hold)
    throw error
  }
}

/** Runs what looks up a discount code, unless its address has named 50 unknown ones within a minute: even a
 *  right one is refused then. Refuses: RATE_LIMITED. */
export async function withoutGuessing<T>(
  { discountCode }: { discountCode?: string | null | undefined },
  ctx: Context,
  run: () => Promise<T>,
): Promise<T> {
  const who = limitedAs(ctx)
  if (who === null || !discountCode) return run()
  const unknown = unknownCodesOf(ctx.services)
  // Counts beforehand, so that guesses at once are no more than others.
  const { count, leftMs } = unknown.add(who)
  if (count > maxUnknownCodes)
    throw tooMany('Too many unknown discount codes.', maxUnknownCodes, Math.ceil(leftMs / 1000))
  let isUnknown = false
  try {
    return await run()
  } catch (error) {
    isUnknown = error instanceof Refusal && error.problems.some(({ code }) => code === 'DISCOUNT_UNKNOWN')
    throw error
  } finally {
    if (!isUnknown) unknown.takeBack(who)
  }
}
