import { z } from 'zod'
import { PullStream } from '../../data/pull-stream.ts'
import { type Context, requireCaller } from '../../request/context.ts'
import { problem, refusal, refuseIf } from '../../shared/errors.ts'
import { identifier } from '../../shared/input-types.ts'
import { parse } from '../../shared/parse.ts'
import { eventById } from '../event/loaders.ts'
import { ticketRatesByEventId } from './loaders.ts'
import { type RateAvailability, rateWatch } from './rate-watch.ts'

/** Maximum number of rates that one subscription watches. */
const maxWatchedRates = 100

/** Rates to watch. */
export const watchedRates = z
  .object({
    eventId: identifier
      .nullish()
      .describe('Watches the rates that this event has now. Give this or `ticketRateIds`.'),
    ticketRateIds: z
      .array(identifier)
      .min(1, 'must name at least one rate')
      .max(maxWatchedRates, `must name at most ${maxWatchedRates} rates`)
      .nullish()
      .describe(`Watches these ticket rates, at most ${maxWatchedRates}.`),
  })
  .refine(({ eventId, ticketRateIds }) => Boolean(eventId) !== Boolean(ticketRateIds), {
    message: 'give eventId or ticketRateIds, and not both',
    path: ['eventId'],
  })

async function rateIdsOf(eventId: string, ctx: Context): Promise<string[]> {
  const event = await ctx.loaders.load(eventById, eventId)
  if (!event) throw refusal('NOT_FOUND', 'There is no such event.', ['eventId'])
  const rates = await ctx.loaders.load(ticketRatesByEventId, eventId)
  if (rates.length > maxWatchedRates)
    throw refusal(
      'INVALID',
      `The event has more than ${maxWatchedRates} rates: name them in ticketRateIds.`,
      ['eventId'],
    )
  return rates.map(({ id }) => id)
}

/** Watches rates, those named or those that an event has now: first each as it is, then each whenever it has
 *  changed. A reader that is slow gets the latest state, without those in between.
 *  Refuses: UNAUTHENTICATED, INVALID, NOT_FOUND for what the caller doesn't see. */
export async function watchRates(
  given: z.input<typeof watchedRates>,
  ctx: Context,
): Promise<PullStream<RateAvailability>> {
  const { organizationIds } = requireCaller(ctx)
  const { eventId, ticketRateIds } = parse(watchedRates, given)
  const rateIds = [...new Set(eventId ? await rateIdsOf(eventId, ctx) : ticketRateIds)]
  const watch = rateWatch(ctx.db)[ctx.mode]
  const moved = new Set(rateIds)
  const take = () => {
    const [rateId] = moved
    if (rateId === undefined) return undefined
    moved.delete(rateId)
    return watch.current(rateId) ?? undefined
  }
  const onMoved = (rateId: string) => {
    moved.add(rateId)
    stream.wake()
  }
  let stop = () => {}
  const stream = new PullStream<RateAvailability>(take, () => stop())
  stop = await watch.watch({ rateIds, onMoved })
  const problems = rateIds.flatMap((id, index) => {
    const isVisible = organizationIds.includes(watch.current(id)?.organizationId ?? '')
    return isVisible ? [] : [problem('NOT_FOUND', 'There is no such ticket rate.', ['ticketRateIds', index])]
  })
  if (problems.length > 0) stop()
  refuseIf(problems)
  return stream
}
