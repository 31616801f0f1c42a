import { invalidateCatalogue } from './catalogue-version.ts'
import type { Connection, Database } from './database.ts'

const changed = new WeakSet<Connection>()

/** Marks a transaction as one that changes what a catalogue read must show at once: its commit invalidates. */
export const changesCatalogue = (tx: Connection): void => void changed.add(tx)

/** Runs a transaction, and invalidates the catalogue after the commit if anything in it says so. */
export async function transaction<Result>(
  db: Database,
  work: (tx: Connection) => Promise<Result>,
): Promise<Result> {
  let isChanged = false
  const result = await db.transaction(async (tx) => {
    const result = await work(tx)
    isChanged = changed.has(tx)
    return result
  })
  if (isChanged) invalidateCatalogue(db)
  return result
}
