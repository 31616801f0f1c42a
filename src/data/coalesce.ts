// Slow form: (db, key) => read(db, [key]).then((rows) => rows.get(key) ?? null)

import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Database } from '../database/database.ts'
import { perDatabase } from '../database/per-database.ts'
import { isFast } from '../shared/fast.ts'

/** Keys requested in one turn of the event loop, and the rows they are read into. */
type Batch<Row> = { keys: Set<string>; rows: Promise<Map<string, Row>> }
/** The batch that still takes keys, and the end of the read that runs. */
type State<Row> = { batch: Batch<Row> | null; running: Promise<void> | null }

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
  const stateOf = perDatabase((): State<Row> => ({ batch: null, running: null }))

  async function readBatch(db: Database, keys: Set<string>): Promise<Map<string, Row>> {
    const state = stateOf(db)
    await setImmediate()
    if (state.running) await Promise.race([state.running, setTimeout(timeoutMs)])
    state.batch = null
    const rows = read(db, [...keys])
    const end = () => {
      if (state.running === ended) state.running = null
    }
    const ended = rows.then(end, end)
    state.running = ended
    return rows
  }

  return async (db, key) => {
    const state = stateOf(db)
    if (!state.batch) {
      const keys = new Set<string>()
      state.batch = { keys, rows: readBatch(db, keys) }
    }
    const { keys, rows } = state.batch
    keys.add(key)
    return (await rows).get(key) ?? null
  }
}
