import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Database } from '../database/database.ts'
import { isFast } from '../shared/fast.ts'

/** What is asked for in one turn of the event loop, and what comes of it. */
type Turn<Row> = { keys: Set<string>; rows: Promise<Map<string, Row>> }

// Milliseconds that a turn waits for the read before it, which as a rule takes one: those who come meanwhile are read
// together, in fewer statements. A read that hangs holds nobody up for longer.
const timeoutMs = 5

/** A reader that all requests share: what they ask for in the same turn of the event loop, or while the read before
 *  runs, is read together, each key once. What is answered was read after it was asked for, and nothing is kept for
 *  those who come later. Gives null where there is no such row; asks for nobody's permission. */
export function coalesceReads<Row>(
  read: (db: Database, keys: string[]) => Promise<Map<string, Row>>,
): (db: Database, key: string) => Promise<Row | null> {
  if (!isFast('coalesce')) return async (db, key) => (await read(db, [key])).get(key) ?? null
  const turns = new WeakMap<Database, Turn<Row>>()
  const running = new WeakMap<Database, Promise<unknown>>()

  async function end(db: Database, keys: Set<string>): Promise<Map<string, Row>> {
    await setImmediate()
    const before = running.get(db)
    if (before) await Promise.race([before, setTimeout(timeoutMs)])
    turns.delete(db)
    const rows = read(db, [...keys])
    const ended = rows.then(
      () => {},
      () => {},
    )
    running.set(db, ended)
    ended.then(() => running.get(db) === ended && running.delete(db))
    return rows
  }

  function begin(db: Database): Turn<Row> {
    const keys = new Set<string>()
    const turn = { keys, rows: end(db, keys) }
    turns.set(db, turn)
    return turn
  }

  return async (db, key) => {
    const { keys, rows } = turns.get(db) ?? begin(db)
    keys.add(key)
    return (await rows).get(key) ?? null
  }
}
