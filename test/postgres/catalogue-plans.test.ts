// Runs in: postgres

import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runSql } from '../../src/engine/database/database.ts'
import { openDatabase } from '../../src/engine/database/open.ts'
import { explain, explainByDefaults, openSeenSale, type SeenStatement } from '../support/explain.ts'
import { createTestDatabase } from '../support/harness.ts'
import type { Sale } from '../support/sale.ts'
import { holdTickets } from '../support/tickets.ts'

// Query plans of what a checkout and a lookup read of a catalogue of some hundred rates, which is small enough
// that PostgreSQL's own settings have it read whole.

const rateCount = 400

let sale: Sale
let seen: SeenStatement[]

beforeAll(async () => {
  ;({ sale, seen } = await openSeenSale(rateCount, 100))
  await sale.db.execute(sql`vacuum analyze`)
})
afterAll(() => sale.close())

const statementWith = (part: string): SeenStatement => {
  const found = seen.find(({ text }) => text.includes(part))
  expect(found, part).toBeDefined()
  return found ?? { text: '', parameters: [] }
}

const ofCheckout = async (): Promise<SeenStatement> => {
  seen.length = 0
  await holdTickets(sale, { rate: '7' })
  return statementWith('from "ticket_rates"')
}

const ofLookup = async (): Promise<SeenStatement> => {
  const { tickets } = await holdTickets(sale, { rate: '8' })
  seen.length = 0
  const found = await sale.rest('GET', `/integrations/tickets/${tickets[0]?._id}`, {
    headers: sale.integration.v2,
  })
  expect(found.statusCode).toBe(200)
  return statementWith('"ticket_rates"')
}

const wholeTable = /Seq Scan on (ticket_rates|prices|stock|events)/

const statements = [
  ['checkout', ofCheckout],
  ['lookup', ofLookup],
] as const

test.each(statements)('a %s reads a catalogue by its indexes', async (_, statementOf) => {
  expect(await explain(sale.db, await statementOf())).not.toMatch(wholeTable)
})

test.each(statements)(
  "control: by the server's cost of an index a %s reads whole tables",
  async (_, statementOf) => {
    expect(await explainByDefaults(sale.db, await statementOf())).toMatch(wholeTable)
  },
)

test('an address may name another cost', async () => {
  const database = await createTestDatabase()
  const address = new URL(database.settings.DATABASE_URL ?? '')
  address.searchParams.set('random_page_cost', '2')
  const other = await openDatabase({ databaseUrl: address.href, dataDir: '' })
  const [found] = await runSql(other.db, sql`select current_setting('random_page_cost') as cost`)
  expect(found).toEqual({ cost: '2' })
  await other.close()
  await database.drop()
})
