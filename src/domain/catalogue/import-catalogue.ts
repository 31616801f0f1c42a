import { sql } from 'drizzle-orm'
import { invalidateCatalogue } from '../../database/catalogue-version.ts'
import type { Database } from '../../database/database.ts'
import { type Problem, refuseIf } from '../../shared/errors.ts'
import { checkCatalogue } from './check-catalogue.ts'
import { findExisting } from './find-existing.ts'
import { checkStock, writeStock } from './import-stock.ts'
import { readCatalogue } from './read-catalogue.ts'
import { writeCatalogue } from './write-catalogue.ts'

/** What an import did, kind by kind. `stock` are the rates and prices whose capacity, or count of places sold
 *  elsewhere, is new. */
export type Summary = Awaited<ReturnType<typeof importCatalogue>>

// Any number will do that no other lock of this service has.
const importLock = 7_264_338

// A list that nobody reads to its end would only hide the next step.
const maxMistakes = 1_000

function refuse(problems: Problem[]): void {
  const more = problems.length - maxMistakes
  refuseIf(
    more > 0
      ? [
          ...problems.slice(0, maxMistakes),
          { code: 'INVALID', message: `There are ${more} more mistakes, which are not listed.` },
        ]
      : problems,
  )
}

/** Imports a catalogue file: organizations, locations, and events as `GET /events?populate=*` gives them. What the
 *  database has under the same identifiers is updated, what is sold and held is kept, and what a list no longer names
 *  is removed from sale. All of it or nothing: a bad file is refused whole.
 *  Refuses: REQUIRED, INVALID, UNKNOWN_FIELD, each with the path in the file (issue: catalogue in). */
export async function importCatalogue(db: Database, json: unknown) {
  const catalogue = readCatalogue(json)
  const summary = await db.transaction(async (tx) => {
    // One import at a time: two that add the same things would each take them for new.
    await tx.execute(sql`select pg_advisory_xact_lock(${importLock})`)
    const existing = await findExisting(tx, catalogue)
    refuse([
      ...catalogue.problems,
      ...checkCatalogue(catalogue, existing),
      ...(await checkStock(tx, catalogue)),
    ])
    const written = await writeCatalogue(tx, catalogue, existing)
    // Sales went on meanwhile, so the stock is checked once more when it is locked.
    return { ...written, stock: await writeStock(tx, catalogue, refuse) }
  })
  invalidateCatalogue(db)
  return summary
}
