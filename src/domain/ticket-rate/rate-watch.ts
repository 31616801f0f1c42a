import { setTimeout as wait } from 'node:timers/promises'
import { eq, sql } from 'drizzle-orm'
import { fewRowsOf } from '../../data/json-rows.ts'
import { anyOf, type Find, together } from '../../data/query.ts'
import { watchTopic } from '../../database/announcements.ts'
import type { Database } from '../../database/database.ts'
import { perDatabase } from '../../database/per-database.ts'
import { type Mode, perMode } from '../../shared/mode.ts'
import { events } from '../event/table.ts'
import { byRate, rateColumns, ratePrices } from './loaders.ts'
import { isAvailable, leftOf, soldOf } from './sale-rules.ts'
import { isStockOf, type Price, rateInMode, stock, ticketRates } from './table.ts'

/** Counters of a rate, and whether it can be bought, at a time of the database's clock. */
export type RateAvailability = {
  ticketRateId: string
  organizationId: string
  available: boolean
  sold: number
  left: number | null
  at: Date
}

/** A reader of some rates. `onMoved` gets each one that has changed. */
type RateWatcher = { rateIds: string[]; onMoved(rateId: string): void }

const rows = fewRowsOf({
  ...rateColumns,
  startDate: events.startDate,
  // Milliseconds since 1970.
  now: sql<number>`(extract(epoch from now()) * 1000)::double precision`,
})
type Row = ReturnType<typeof rows.read>[number]

const ratesOfKeys: Find<Row> = {
  rows,
  query: (select, keys) =>
    select
      .from(ticketRates)
      .innerJoin(stock, isStockOf('rate', ticketRates.id))
      .innerJoin(events, eq(events.id, ticketRates.eventId))
      .where(anyOf(ticketRates.id, keys)),
}
const watchedRates = together<[Row, Price]>('watched_rates', [ratesOfKeys, ratePrices])

/** Reads rates in one statement, whoever may see them: compare `organizationId`. */
async function readRates(db: Database, mode: Mode, keys: string[]): Promise<RateAvailability[]> {
  const [rates, prices] = await watchedRates(db, { mode, keys })
  const pricesOf = byRate(prices)
  return rates.map((rate) => ({
    ticketRateId: rate.id,
    organizationId: rate.organizationId,
    available: isAvailable(rate, rate, pricesOf.get(rate.id) ?? [], new Date(rate.now)),
    sold: soldOf(rate),
    left: leftOf(rate),
    at: new Date(rate.now),
  }))
}

const isSame = (one: RateAvailability, other: RateAvailability | null) =>
  one.available === other?.available && one.sold === other.sold && one.left === other.left

type Watched = { current: RateAvailability | null; readers: Set<RateWatcher>; close(): void }

// Pause between two reads of rates that keep moving.
const readEveryMs = 100
// Rates of a statement. A look reads so many; the next looks read the others.
const maxTogether = 1_000

/** Rates that somebody in this process watches in one mode, as they were read last: once for all who watch them. They are
 *  read when a process announces that they moved. A look each second finds what no process announced: what
 *  the clock changes, or a process did that died before it could announce it. */
function createRateWatch(db: Database, mode: Mode) {
  const watchedOf = new Map<string, Watched>()
  const moved = new Set<string>()
  let isReading = false
  // Rates of the current look that are still to be read.
  let looked: string[] = []

  const topic = watchTopic(db, 'stock', {
    untilAll: Number.POSITIVE_INFINITY,
    look() {
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

  function unwatch(reader: RateWatcher): void {
    for (const id of reader.rateIds) {
      const watched = watchedOf.get(id)
      watched?.readers.delete(reader)
      if (watched?.readers.size !== 0) continue
      watched.close()
      watchedOf.delete(id)
    }
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
      await Promise.all([read(ids).catch(() => {}), wait(readEveryMs, undefined, { ref: false })])
    }
    isReading = false
  }

  async function read(ids: string[]): Promise<void> {
    for (const rate of await readRates(db, mode, ids)) {
      const watched = watchedOf.get(rate.ticketRateId)
      // Statements may overtake each other.
      if (!watched || isSame(rate, watched.current) || rate.at < (watched.current?.at ?? rate.at)) continue
      watched.current = rate
      for (const { onMoved } of watched.readers) onMoved(rate.ticketRateId)
    }
  }

  return {
    /** Reads the current state of rates, and watches them for as long as the returned function isn't called.
     *  Rates that don't exist have none. */
    async watch(reader: RateWatcher): Promise<() => void> {
      for (const id of reader.rateIds) (watchedOf.get(id) ?? open(id)).readers.add(reader)
      const stop = () => unwatch(reader)
      await read(reader.rateIds).catch((error) => {
        stop()
        throw error
      })
      return stop
    },
    current: (rateId: string): RateAvailability | null => watchedOf.get(rateId)?.current ?? null,
  }
}

/** The rates of a database that this process watches, by mode. */
export const rateWatch = perDatabase((db) => perMode((mode) => createRateWatch(db, mode)))
