import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { sql, TransactionRollbackError } from 'drizzle-orm'
import { hasTriggers, writesSequentially } from '../../engine/data/by-organization.ts'
import { type Database, runSql } from '../../engine/database/database.ts'
import { announceOnCommit, changesShared, transaction } from '../../engine/database/transaction.ts'
import { markMoved, readDates } from '../delivery/move-dates.ts'
import { events } from '../event/table.ts'
import { checkCatalogue, compareCatalogue, refuseMistakes } from './check-catalogue.ts'
import { datedEvents, findExisting, findTimezones, findVenues, isOneOf, zonesOf } from './find-existing.ts'
import type { ImportReport } from './import-report.ts'
import { checkStock, writeStock } from './import-stock.ts'
import { readCatalogue } from './read-catalogue.ts'
import { type ImportCounts, writeCatalogue } from './write-catalogue.ts'

/** Counts of an import, by kind, and its report. `stock` counts rates and prices whose capacity, or number of
 *  places sold elsewhere, is new. */
export type Imported = Awaited<ReturnType<typeof writeCatalogue>> & { stock: ImportCounts } & ImportReport

// Key of the advisory lock. No other lock of this service uses this number.
const importLock = 7_264_338

// Reads and checks a file before the transaction: a large one takes the processor for longer than that may stand still.
async function read(db: Database, json: unknown) {
  const timezones = await findTimezones(db, json)
  const dated = datedEvents(json)
  const venues = await findVenues(db, dated)
  const catalogue = await readCatalogue(json, zonesOf(json, venues))
  return { catalogue, mistakes: checkCatalogue(catalogue), timezones, dated, venues }
}

// Null if the venues have got other time zones since, by which the file is to be read again.
async function write(
  db: Database,
  { catalogue, mistakes, timezones, dated, venues }: Awaited<ReturnType<typeof read>>,
  { notify, plan }: { notify: boolean; plan: boolean },
): Promise<Imported | null> {
  const report: ImportReport = { changes: plan ? [] : null, warnings: [] }
  let imported: Imported | null = null
  const importing = transaction(db, async (tx) => {
    changesShared(tx)
    announceOnCommit(tx, 'stock', null)
    // One import at a time: two that add the same objects would both insert them.
    await runSql(tx, sql`select pg_advisory_xact_lock(${importLock}), ${writesSequentially}`)
    if (!isDeepStrictEqual(await findVenues(tx, dated), venues)) return
    const existing = await findExisting(tx, catalogue, timezones)
    refuseMistakes([
      ...mistakes,
      ...compareCatalogue(catalogue, existing),
      ...(await checkStock(tx, catalogue)),
    ])
    const isKnown = isOneOf(events.id, [...existing.events.values()])
    const dates = existing.events.size > 0 ? await readDates(tx, isKnown) : []
    const written = await writeCatalogue(tx, catalogue, existing, report)
    await markMoved(tx, dates, isKnown, notify)
    // Renews revisions as triggers do where they run. All rates and parts of a file are below events that it names.
    if (!hasTriggers(db) && catalogue.events.length > 0)
      await tx.update(events).set({ revision: randomUUID() }).where(isOneOf(events.id, catalogue.events))
    // Sales continue during the import, so stock is checked again under the lock.
    imported = { ...written, stock: await writeStock(tx, catalogue, report), ...report }
    if (plan) throw new TransactionRollbackError()
  })
  await importing.catch((error: unknown) => {
    if (!(error instanceof TransactionRollbackError)) throw error
  })
  return imported
}

/** Imports a catalogue file: organizations, locations, and events in the shape of `GET /events?populate=*`.
 *  Updates rows with the same identifiers, keeps sales and holds, and removes from sale what a list no longer
 *  names. What is absent stays as it is, and null clears. Attendees are told of an event that begins at another
 *  time, unless `notify` is false. Atomic: a file with any mistake is refused whole. A `plan` changes nothing, and
 *  returns what the import would.
 *  Refuses: REQUIRED, INVALID, UNKNOWN_FIELD, each with the path in the file. */
export async function importCatalogue(db: Database, json: unknown, { notify = true, plan = false } = {}) {
  let imported: Imported | null = null
  while (!imported) imported = await write(db, await read(db, json), { notify, plan })
  return imported
}
