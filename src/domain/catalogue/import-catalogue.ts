import { sql } from 'drizzle-orm'
import type { Database } from '../../database/database.ts'
import { announceOnCommit, changesCatalogue, transaction } from '../../database/transaction.ts'
import { type Problem, refuseIf } from '../../shared/errors.ts'
import { checkCatalogue } from './check-catalogue.ts'
import { findExisting } from './find-existing.ts'
import { checkStock, writeStock } from './import-stock.ts'
import { readCatalogue } from './read-catalogue.ts'
import { writeCatalogue } from './write-catalogue.ts'

/** Counts of an import, by kind. `stock` counts rates and prices whose capacity, or number of places sold
 *  elsewhere, is new. */
export type Summary = Awaited<ReturnType<typeof importCatalogue>>

// Key of the advisory lock. No other lock of this service uses this number.
const importLock = 7_264_338

// A longer list would bury the first mistakes.
const maxMistakes = 1_000

function refuse(problems: Problem[]): void {
  const more = problems.length - maxMistakes
  const rest: Problem = { code: 'INVALID', message: `There are ${more} more mistakes, which are not listed.` }
  refuseIf([...problems.slice(0, maxMistakes), ...(more > 0 ? [rest] : [])])
}

/** Imports a catalogue file: organizations, locations, and events in the shape of `GET /events?populate=*`.
 *  Updates rows with the same identifiers, keeps sales and holds, and removes from sale what a list no longer
 *  names. Atomic: a file with any mistake is refused whole.
 *  Refuses: REQUIRED, INVALID, UNKNOWN_FIELD, each with the path in the file. */
export async function importCatalogue(db: Database, json: unknown) {
  const catalogue = readCatalogue(json)
  return transaction(db, async (tx) => {
    changesCatalogue(tx)
    announceOnCommit(tx, 'stock', null)
    // One import at a time: two that add the same objects would both insert them.
    await tx.execute(sql`select pg_advisory_xact_lock(${importLock})`)
    const existing = await findExisting(tx, catalogue)
    refuse([
      ...catalogue.problems,
      ...checkCatalogue(catalogue, existing),
      ...(await checkStock(tx, catalogue)),
    ])
    const written = await writeCatalogue(tx, catalogue, existing)
    // Sales continue during the import, so stock is checked again under the lock.
    return { ...written, stock: await writeStock(tx, catalogue, refuse) }
  })
}
