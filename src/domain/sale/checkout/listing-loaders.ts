// Slow form: () => null

import {
  rowsPerEvent,
  type Source,
  type VersionedCache,
  versionedCaches,
} from '../../../data/versioned-cache.ts'
import { isFast } from '../../../shared/fast.ts'
import { type Mode, perMode } from '../../../shared/mode.ts'
import { toUncounted, type UncountedPrice, withStock } from '../../ticket-rate/stock-loaders.ts'
import type { Left, Price, Question, Supplement } from '../../ticket-rate/table.ts'

/** Rows that are listed under a rate, in order: prices with their stock. */
export type Listed = { prices: Price[]; supplements: Supplement[]; questions: Question[] }

/** The same rows without stock, which change with their event's revision alone. */
export type Listing = Omit<Listed, 'prices'> & { prices: UncountedPrice[] }

/** Listings by rate id, in the revisions of their events. */
export type Listings = VersionedCache<Listing>

// By mode, because a price is listed where it has counters.
const cachesOf = perMode(() =>
  versionedCaches<Listing>(
    ({ rememberedEvents }) => rowsPerEvent * rememberedEvents,
    ({ prices, supplements, questions }) => 1 + prices.length + supplements.length + questions.length,
  ),
)

/** Returns the listings that a process caches for checkouts in a mode. Null if it caches none. */
export const listingsOf = (source: Source, mode: Mode): Listings | null =>
  isFast('listings') ? cachesOf[mode](source) : null

/** Makes a listing of rows: takes their stock away. */
export const toListing = ({ prices, supplements, questions }: Listed): Listing => ({
  prices: prices.map(toUncounted),
  supplements,
  questions,
})

/** Joins a listing with stock. */
export const toListed = (
  { prices, supplements, questions }: Listing,
  stockOf: Map<string, Left>,
): Listed => ({
  prices: withStock(prices, stockOf),
  supplements,
  questions,
})
