import { setTimeout as wait } from 'node:timers/promises'
import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { refuseIf } from '../../engine/base/errors.ts'
import { byId } from '../../engine/base/group-by.ts'
import { identifier } from '../../engine/base/input-types.ts'
import { readByKeys } from '../../engine/data/by-organization.ts'
import { fewRowsOf } from '../../engine/data/json-rows.ts'
import { PullStream } from '../../engine/data/pull-stream.ts'
import { anyOf, type Find, inOrganizationIfNamed, queryTogether } from '../../engine/data/query.ts'
import { watchTopic } from '../../engine/database/announcements.ts'
import { type Database, perDatabase } from '../../engine/database/database.ts'
import { type Context, loadNamed, requireCaller } from '../caller/context.ts'
import { type Mode, perMode } from '../caller/mode.ts'
import { problem, refusal } from '../contract/problem-codes.ts'
import { eventById } from '../event/loaders.ts'
import { events } from '../event/table.ts'
import { leftOf, rateInMode, soldOf, stock } from '../stock/table.ts'
import { byRate, countedRates, organizationOfRate, rateColumns, ratePrices } from './loaders.ts'
import { ticketRatesByEventId } from './offer-loaders.ts'
import { type RateStatus, rateStatus } from './sale-rules.ts'
import { type Price, type TicketRate, ticketRates } from './table.ts'

/** A rate as it was read last, with its prices, and when that was by the database's clock. */
export type WatchedRate = TicketRate & { prices: Price[]; status: RateStatus; readAt: Date }

/** Told of a rate that has changed. */
type OnMoved = (rateId: string) => void

const rows = fewRowsOf({
  ...rateColumns,
  startDate: events.startDate,
  endDate: events.endDate,
  // Milliseconds since 1970.
  now: sql<number>`(extract(epoch from now()) * 1000)::double precision`,
})
type Row = ReturnType<typeof rows.read>[number]

const ratesOfKeys: Find<Row> = {
  rows,
  query: (select, keys) =>
    countedRates(select)
      .innerJoin(events, eq(events.id, ticketRates.eventId))
      .where(and(inOrganizationIfNamed(stock.organizationId), anyOf(ticketRates.id, keys))),
}
const findWatched = queryTogether<[Row, Price]>('watched_rates', [ratesOfKeys, ratePrices])

// Rates that are read together share a statement, whoever may see them: compare `organizationId`. Those of a server that is
// away fail no others.
const readRate = perMode((mode) =>
  readByKeys<WatchedRate>(async (db, values) => {
    const [rates, prices] = await findWatched(db, { mode, ...values })
    const pricesOf = byRate(prices)
    const watched = rates.map(({ startDate, endDate, now, ...rate }) => {
      const readAt = new Date(now)
      const prices = pricesOf.get(rate.id) ?? []
      return { ...rate, prices, readAt, status: rateStatus(rate, { startDate, endDate }, prices, readAt) }
    })
    return byId(watched)
  }, organizationOfRate),
)

const isSame = (one: WatchedRate, other: WatchedRate | null) =>
  one.status === other?.status && soldOf(one) === soldOf(other) && leftOf(one) === leftOf(other)

type Watched = { current: WatchedRate | null; readers: Set<OnMoved>; close(): void }

// Pause between two reads of rates that keep moving.
const readEveryMs = 100
// Rates of a statement. A look reads so many; the next looks read the others.
const maxTogether = 1_000

/** Rates that somebody in this process watches in one mode, as they were read last: once for all who watch
 *  them. They are read when a process announces that they moved. A look each second finds what no process
 *  announced: changes by the clock, and those of a process that died before it announced them. */
function createRateWatch(db: Database, mode: Mode) {
  const watchedOf = new Map<string, Watched>()
  const moved = new Set<string>()
  let isReading = false
  // Rates of the current look that are still to be read.
  let looked: string[] = []

  const topic = watchTopic(db, 'stock', {
    untilAll: Number.POSITIVE_INFINITY,
    async look() {
      if (looked.length === 0) looked = [...watchedOf.keys()]
      for (const id of looked.splice(0, maxTogether)) if (watchedOf.has(id)) readSoon(id)
    },
  })

  function open(id: string): Watched {
    const close = topic.add({ names: [rateInMode(mode, id)], wake: () => readSoon(id) })
    const watched: Watched = { current: null, readers: new Set(), close }
    watchedOf.set(id, watched)
    return watched
  }

  // One read at a time: what moves meanwhile is read together by the next one.
  function readSoon(id: string): void {
    moved.add(id)
    if (!isReading) void readMoved()
  }

  async function readMoved(): Promise<void> {
    isReading = true
    // All that was announced together.
    await null
    while (moved.size > 0) {
      const ids = [...moved].slice(0, maxTogether)
      for (const id of ids) moved.delete(id)
      // A database that is away is looked at again in a second.
      await Promise.allSettled([...ids.map(read), wait(readEveryMs, undefined, { ref: false })])
    }
    isReading = false
  }

  async function read(id: string): Promise<void> {
    const rate = await readRate[mode](db, id)
    const watched = watchedOf.get(id)
    if (!rate || !watched || isSame(rate, watched.current)) return
    // Statements may overtake each other.
    if (watched.current && rate.readAt < watched.current.readAt) return
    watched.current = rate
    for (const onMoved of watched.readers) onMoved(id)
  }

  return {
    /** Reads the current state of rates, and watches them for as long as the returned function isn't called.
     *  Rates that don't exist have none. */
    async watch(rateIds: string[], onMoved: OnMoved): Promise<() => void> {
      for (const id of rateIds) (watchedOf.get(id) ?? open(id)).readers.add(onMoved)
      const stop = () => {
        for (const id of rateIds) {
          const watched = watchedOf.get(id)
          watched?.readers.delete(onMoved)
          if (watched?.readers.size !== 0) continue
          watched.close()
          watchedOf.delete(id)
        }
      }
      await Promise.all(rateIds.map(read)).catch((error) => {
        stop()
        throw error
      })
      return stop
    },
    current: (rateId: string): WatchedRate | null => watchedOf.get(rateId)?.current ?? null,
  }
}

/** The rates of a database that this process watches, by mode. */
const rateWatch = perDatabase((db) => perMode((mode) => createRateWatch(db, mode)))

// Maximum number of rates that one subscription watches.
const maxWatchedRates = 100

/** Rates to watch. GraphQL makes it one of the two. */
export const watchedRates = z
  .object({
    eventId: identifier.nullish().describe('Event, for the ticket rates that it has now.'),
    ids: z
      .array(identifier)
      .min(1, 'must name at least one rate')
      .max(maxWatchedRates, `must name at most ${maxWatchedRates} rates`)
      .nullish()
      .describe(`These ticket rates, at most ${maxWatchedRates}.`),
  })
  .describe('Ticket rates of one event, or named ones.')

async function rateIdsOf(eventId: string, ctx: Context): Promise<string[]> {
  const event = await loadNamed(ctx, eventById, eventId)
  if (!event) throw refusal('NOT_FOUND', 'There is no such event.', ['of', 'eventId'])
  const rates = await ctx.loaders.load(ticketRatesByEventId, eventId)
  if (rates.length > maxWatchedRates)
    throw refusal('INVALID', `The event has more than ${maxWatchedRates} rates: name them in ids.`, [
      'of',
      'eventId',
    ])
  return rates.map(({ id }) => id)
}

/** Watches rates, those named or those that an event has now: first each as it is, then each whenever it has
 *  changed. A reader that is slow gets the latest state, without those in between.
 *  Refuses: UNAUTHENTICATED, INVALID, NOT_FOUND for what the caller doesn't see. */
export async function watchRates({ eventId, ids }: z.output<typeof watchedRates>, ctx: Context) {
  const { organizationIds } = requireCaller(ctx)
  const rateIds = [...new Set(eventId ? await rateIdsOf(eventId, ctx) : ids)]
  const watch = rateWatch(ctx.db)[ctx.mode]
  const moved = new Set(rateIds)
  const take = () => {
    const [rateId] = moved
    if (rateId === undefined) return undefined
    moved.delete(rateId)
    return watch.current(rateId) ?? undefined
  }
  const stream = new PullStream<WatchedRate>(take, () => stop())
  const stop = await watch.watch(rateIds, (rateId) => {
    moved.add(rateId)
    stream.wake()
  })
  const problems = rateIds.flatMap((id, index) => {
    const isVisible = organizationIds.includes(watch.current(id)?.organizationId ?? '')
    return isVisible ? [] : [problem('NOT_FOUND', 'There is no such ticket rate.', ['of', 'ids', index])]
  })
  if (problems.length > 0) stop()
  refuseIf(problems)
  return stream
}
