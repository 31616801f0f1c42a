// Slow form: (db, key) => read(db, [key]).then((rows) => rows.get(key) ?? null)

import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Database } from '../database/database.ts'
import { isFast } from '../shared/fast.ts'

/** Keys requested in one turn of the event loop, and the rows they are read into. */
type Batch<Row> = { keys: Set<string>; rows: Promise<Map<string, Row>> }

// A batch waits for the previous read, which usually takes a millisecond, so that requests arriving meanwhile
// share one statement. It waits no longer than this, so that a read that hangs delays nobody else.
const timeoutMs = 5

/** Coalesces reads of all requests: keys requested in the same turn of the event loop, or while the previous
 *  read runs, are read in one statement, each key once. A row is always read after it was requested, and
 *  nothing is cached. Resolves to null if there is no such row. Checks no permissions. */
export function coalesceReads<Row>(
  read: (db: Database, keys: string[]) => Promise<Map<string, Row>>,
): (db: Database, key: string) => Promise<Row | null> {
  if (!isFast('coalesce')) return async (db, key) => (await read(db, [key])).get(key) ?? null
  const batches = new WeakMap<Database, Batch<Row>>()
  const running = new WeakMap<Database, Promise<unknown>>()

  async function readBatch(db: Database, keys: Set<string>): Promise<Map<string, Row>> {
    await setImmediate()
    const previous = running.get(db)
    if (previous) await Promise.race([previous, setTimeout(timeoutMs)])
    batches.delete(db)
    const rows = read(db, [...keys])
    const ended = rows.then(
      () => {},
      () => {},
    )
    running.set(db, ended)
    ended.then(() => running.get(db) === ended && running.delete(db))
    return rows
  }

  function beginBatch(db: Database): Batch<Row> {
    const keys = new Set<string>()
    const batch = { keys, rows: readBatch(db, keys) }
    batches.set(db, batch)
    return batch
  }

  return async (db, key) => {
    const { keys, rows } = batches.get(db) ?? beginBatch(db)
    keys.add(key)
    return (await rows).get(key) ?? null
  }
}
