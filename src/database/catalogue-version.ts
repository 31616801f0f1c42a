import type { Database } from './database.ts'

type Touched = { times: number; at: number }

const touched = new WeakMap<Database, Touched>()

// Milliseconds, more than a healthy replica is behind.
const maxBehind = 2_000

/** How often this process has changed what a catalogue read must show at once. */
export const catalogueVersion = (db: Database): number => touched.get(db)?.times ?? 0

/** When that was last, on the clock of `performance.now()`. */
export const invalidatedAt = (db: Database): number => touched.get(db)?.at ?? Number.NEGATIVE_INFINITY

/** Whether that was so lately that a replica may not know of it yet. */
export const wasJustInvalidated = (db: Database): boolean => performance.now() - invalidatedAt(db) < maxBehind

/** Makes catalogue reads run anew in this process, on the primary: to be called once something is committed that must
 *  show at once. A rate or a price was used up or is free again, a catalogue was imported, a grant or a key changed. */
export const invalidateCatalogue = (db: Database): void =>
  void touched.set(db, { times: catalogueVersion(db) + 1, at: performance.now() })
