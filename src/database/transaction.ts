import { invalidateCatalogue } from './catalogue-version.ts'
import type { Connection, Database } from './database.ts'

// True for transactions that change the catalogue.
const open = new WeakMap<Connection, boolean>()

/** Marks a transaction as one that changes what a catalogue read must show at once: its commit
 *  invalidates. Throws unless `transaction` runs it. */
export function changesCatalogue(tx: Connection): void {
  if (!open.has(tx)) throw new Error('only a transaction of `transaction` can change the catalogue')
  open.set(tx, true)
}

/** Runs a transaction, and invalidates the catalogue after the commit if the transaction was marked. */
export async function transaction<Result>(
  db: Database,
  work: (tx: Connection) => Promise<Result>,
): Promise<Result> {
  let isChanged = false
  const result = await db.transaction(async (tx) => {
    open.set(tx, false)
    const result = await work(tx)
    isChanged = open.get(tx) ?? false
    return result
  })
  if (isChanged) invalidateCatalogue(db)
  return result
}
