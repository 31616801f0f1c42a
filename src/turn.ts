import { setImmediate } from 'node:timers/promises'
import type { Database } from './database.ts'

/** What is asked for in one turn of the event loop, and what comes of it. */
type Turn<Row> = { keys: Set<string>; rows: Promise<Map<string, Row>> }

/** A reader that all requests share: what they ask for in the same turn of the event loop is read together, each key
 *  once, and nothing is kept for those who come later. Gives null where there is no such row; asks for nobody's
 *  permission. */
export function readByTurn<Row>(
  read: (db: Database, keys: string[]) => Promise<Map<string, Row>>,
): (db: Database, key: string) => Promise<Row | null> {
  const turns = new WeakMap<Database, Turn<Row>>()

  async function end(db: Database, keys: Set<string>): Promise<Map<string, Row>> {
    await setImmediate()
    turns.delete(db)
    return read(db, [...keys])
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
