import { asc } from 'drizzle-orm'
import { expect } from 'vitest'
import { demoCatalogue } from '../../examples/shop/src/demo/catalogue.ts'
import { events } from '../../src/domain/event/table.ts'
import { importCatalogue } from '../../src/domain/import/import-catalogue.ts'
import { locations } from '../../src/domain/location/table.ts'
import { organizations } from '../../src/domain/organization/table.ts'
import { stock } from '../../src/domain/stock/table.ts'
import { prices, questions, supplements, ticketRates } from '../../src/domain/ticket-rate/table.ts'
import { Refusal } from '../../src/engine/base/errors.ts'
import type { Database } from '../../src/engine/database/database.ts'

const tables = { organizations, locations, events, ticketRates, prices, supplements, questions, stock }

/** Reads every row of the catalogue, by table and ordered by ID. */
export async function dumpCatalogue(db: Database) {
  const rows: Record<string, unknown[]> = {}
  for (const [name, table] of Object.entries(tables))
    rows[name] = await db.select().from(table).orderBy(asc(table.id))
  return rows
}

/** Imports a demo catalogue of that many events, as `npm run seed` does. */
export const seedDemo = (db: Database, demo: { events: number; now?: Date }) =>
  importCatalogue(db, demoCatalogue(demo), { notify: false })

/** Imports a file that must be refused without changing anything. Returns the mistakes as `path: message`. */
export async function importMistakes(db: Database, file: unknown): Promise<string[]> {
  const before = await dumpCatalogue(db)
  const refusal = await importCatalogue(db, file).catch((error: unknown) => error)
  if (!(refusal instanceof Refusal)) throw new Error('the file was not refused', { cause: refusal })
  expect(await dumpCatalogue(db)).toEqual(before)
  return refusal.problems.map(({ path = [], message }) => `${path.join('.')}: ${message}`)
}
