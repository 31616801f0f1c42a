// Slow form: (db, key) => read(db, [key]).then((rows) => rows.get(key) ?? null)

import { setImmediate, setTimeout } from 'node:timers/promises'
import DataLoader from 'dataloader'
import { isFast } from '../base/fast.ts'
import { instruments, type Origin } from '../base/instruments.ts'
import { type Database, perDatabase } from '../database/database.ts'

// A batch waits for the previous read, which usually takes a millisecond, so that requests arriving meanwhile
// share one statement. It waits no longer than this, so that a read that hangs delays nobody else.
const timeoutMs = 5

/** Coalesces reads of all requests; a batch loader joins those of one. Keys requested in the same turn of the event loop, or
 *  while the previous read runs, are read in one statement, each once. A row is always read after it was requested, and
 *  nothing is cached. Resolves to null if there is no such row. Checks no permissions. */
export function joinReads<Row>(
  read: (db: Database, keys: string[]) => Promise<Map<string, Row>>,
): (db: Database, key: string) => Promise<Row | null> {
  if (!isFast('coalesce')) return async (db, key) => (await read(db, [key])).get(key) ?? null
  const readsOf = perDatabase((db) => {
    let running: Promise<void> | null = null
    // Spans of the requests of the next batch, if traces are on.
    const origins: (Origin | undefined)[] = []
    const readBatch = async (keys: readonly string[]) => {
      const readAll = () => read(db, [...new Set(keys)])
      const reading = instruments.tracer?.inBatch('read together', origins.splice(0), readAll) ?? readAll()
      const end = () => {
        if (running === ended) running = null
      }
      const ended = reading.then(end, end)
      running = ended
      const rows = await reading
      return keys.map((key) => rows.get(key) ?? null)
    }
    const batchScheduleFn = async (dispatch: () => void) => {
      await setImmediate()
      if (running) await Promise.race([running, setTimeout(timeoutMs)])
      dispatch()
    }
    return { origins, loader: new DataLoader(readBatch, { cache: false, batchScheduleFn }) }
  })
  return (db, key) => {
    const { origins, loader } = readsOf(db)
    const { tracer } = instruments
    if (tracer) origins.push(tracer.origin())
    return loader.load(key)
  }
}
