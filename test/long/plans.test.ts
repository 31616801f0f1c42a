import { sql } from 'drizzle-orm'
import { beforeAll, expect, test } from 'vitest'
import { Credentials } from '../../src/domain/caller/credentials.ts'
import { type EventFilter, searchEvents } from '../../src/domain/listing/search-events.ts'
import { organizations } from '../../src/domain/organization/table.ts'
import { createContext } from '../../src/engine/request/context.ts'
import { explain, type SeenStatement } from '../support/explain.ts'
import { channelHeaders } from '../support/factories.ts'
import { openTestDatabase, shared } from '../support/harness.ts'
import { seedDemo } from '../support/imports.ts'
import { testServices } from '../support/test-services.ts'

const seen: SeenStatement[] = []

const database = shared(() =>
  openTestDatabase({ onStatement: (text, parameters) => seen.push({ text, parameters }) }),
)
beforeAll(async () => {
  await seedDemo(database.db, { events: 5_000 })
  await database.db.execute(sql`analyze`)
})

/** Plan of the first page of a filter, for the service's exact statement and parameters. */
async function planOf(filter: EventFilter): Promise<string> {
  const { db } = database
  const ids = await db.select({ id: organizations.id }).from(organizations)
  const headers = await channelHeaders(db, ...ids.map(({ id }) => id))
  const ctx = await createContext(testServices(db), new Credentials(headers))
  const { found } = await searchEvents(filter, { first: 50 }, ctx)
  expect(found.length).toBeGreaterThan(0)
  const ofPage = seen.findLast(({ text }) => text.includes('limit'))
  return explain(db, ofPage ?? { text: '', parameters: [] })
}

test('a search uses the text index', async () => {
  const plan = await planOf({ search: 'ñan cumb' })
  expect(plan).toContain('events_search_words_index')
  expect(plan).not.toContain('Seq Scan on events')
})

test('a circle uses the index of coordinates', async () => {
  const plan = await planOf({ near: { latitude: 40.4168, longitude: -3.7038, radius: 5 } })
  expect(plan).toContain('locations_latitude_longitude_index')
  expect(plan).not.toContain('Seq Scan')
})

test('the first page is read in index order', async () => {
  const plan = await planOf({})
  expect(plan).toContain('events_start_date_id_index')
  expect(plan).not.toContain('Sort')
  // The scan starts at the first event that may not have ended, not at the oldest one.
  expect(plan).toMatch(/Index Cond: \(start_date >= /)
  expect(plan).toMatch(/(Index|Bitmap Index) Scan (using|on) events_long/)
})

test('what is on sale is read in index order, with rates and counters by their keys', async () => {
  await database.db.execute(sql`update ticket_rates set complete = true
    where event_id in (select id from events order by start_date limit 100)`)
  await database.db.execute(sql`analyze ticket_rates`)
  const plan = await planOf({ onSale: true })
  expect(plan).toContain('events_start_date_id_index')
  expect(plan).not.toMatch(/Seq Scan|Sort|Hash/)
})

test('control: without indexes the whole table is read', async () => {
  await database.db.execute(sql`drop index events_search_words_index`)
  expect(await planOf({ search: 'ñan cumb' })).not.toContain('events_search_words_index')
})
