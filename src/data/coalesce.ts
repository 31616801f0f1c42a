// Slow form: (db, key) => read(db, [key]).then((rows) => rows.get(key) ?? null)

import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Database } from '../database/database.ts'
import { perDatabase } from '../database/per-database.ts'
import { isFast } from '../shared/fast.ts'
import { instruments, type Origin } from '../shared/instruments.ts'

/** Keys requested in one turn of the event loop, the rows they are read into, and the spans of the requests
 *  if traces are on. */
type Batch<Row> = { keys: Set<string>; origins: (Origin | undefined)[]; rows: Promise<Map<string, Row>> }
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

  function traced(db: Database, keys: string[], origins: Batch<Row>['origins']): Promise<Map<string, Row>> {
    const { tracer } = instruments
    return tracer ? tracer.inBatch('read together', origins, () => read(db, keys)) : read(db, keys)
  }

  async function readBatch(
    db: Database,
    keys: Set<string>,
    origins: Batch<Row>['origins'],
  ): Promise<Map<string, Row>> {
    const state = stateOf(db)
    await setImmediate()
    if (state.running) await Promise.race([state.running, setTimeout(timeoutMs)])
    state.batch = null
    const rows = traced(db, [...keys], origins)
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
      const origins: Batch<Row>['origins'] = []
      state.batch = { keys, origins, rows: readBatch(db, keys, origins) }
    }
    const { keys, origins, rows } = state.batch
    keys.add(key)
    const { tracer } = instruments
    if (tracer) origins.push(tracer.origin())
    return (await rows).get(key) ?? null
  }
}
