import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importCatalogue } from '../../src/domain/import/import-catalogue.ts'
import { instruments } from '../../src/engine/base/instruments.ts'
import type { OpenDatabase } from '../../src/engine/database/database.ts'
import { openDatabase } from '../../src/engine/database/open.ts'
import { aCatalogue, aLocation, anEvent, aPrice, aRate } from '../support/factories.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { dumpCatalogue } from '../support/imports.ts'
import { waitForBlockedStatement } from '../support/lock-waits.ts'

// An import whose file takes long to read. PostgreSQL ends a session that stands still in a transaction, here after a
// second.

let database: TestDatabase
let opened: OpenDatabase
const statements: string[] = []
beforeAll(async () => {
  database = await createTestDatabase()
  const url = new URL(database.settings.DATABASE_URL ?? '')
  url.searchParams.set('idle_in_transaction_session_timeout', '1000')
  const onStatement = (text: string) => void statements.push(text)
  opened = await openDatabase({ databaseUrl: url.href, dataDir: '' }, { onStatement })
})
afterAll(async () => {
  await opened.close()
  await database.drop()
})

const isLocked = () => statements.some((text) => text.includes('pg_advisory_xact_lock'))

/** An object whose fields take `ms` to read, all together, and which counts readings once the import has its lock. */
function slowly<Value extends object>(value: Value, ms: number, lateReads: string[]): Value {
  const fields = Object.entries(value)
  const slow = {}
  for (const [name, content] of fields)
    Object.defineProperty(slow, name, {
      enumerable: true,
      get() {
        if (isLocked()) lateReads.push(name)
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms / fields.length)
        return content
      },
    })
  return slow as Value
}

test('a file is read before the transaction, which never stands still for a second', async () => {
  const lateReads: string[] = []
  const steps: string[] = []
  instruments.progress = (step, done, total) => void steps.push(`${step} ${done}/${total}`)
  const rates = () => [aRate({ prices: [aPrice()] })]
  const events = Array.from({ length: 60 }, () =>
    // A plain date, so that the file is read for time zones as well.
    slowly(anEvent({ display_date: '2099-06-01', ticket_rates: rates() }), 10, lateReads),
  )
  const { events: counts } = await importCatalogue(opened.db, aCatalogue({ events }))
  instruments.progress = null
  expect(counts).toMatchObject({ added: 60 })
  expect(isLocked()).toBe(true)
  expect(lateReads).toEqual([])
  expect(steps).toEqual(expect.arrayContaining(['read events 0/60', 'read events 50/60', 'compare 9/9']))
})

test('the same reading within the transaction ends its session: the control', async () => {
  const standStill = opened.db.transaction(async (tx) => {
    await tx.execute(sql`select 1`)
    Object.values(slowly({ one: 1, two: 2 }, 1_200, []))
    await tx.execute(sql`select 1`)
  })
  await expect(standStill).rejects.toThrow()
})

test('a file is read again if its venue gets another time zone before the import has its lock', async () => {
  const location = aLocation({ _id: 'loc_moved', timezone: 'America/New_York' })
  await importCatalogue(opened.db, aCatalogue({ locations: [location] }))
  const event = anEvent({ _id: 'evt_moved', location_id: 'loc_moved', display_date: '2099-06-01' })
  const other = await database.open()
  const { importing } = await other.db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(7264338)`)
    const importing = importCatalogue(opened.db, { events: [event] })
    await waitForBlockedStatement(other.db)
    await tx.execute(sql`update locations set timezone = 'Asia/Tokyo' where id = 'loc_moved'`)
    return { importing }
  })
  await importing
  const { events } = await dumpCatalogue(other.db)
  const displayDate = new Date('2099-05-31T15:00:00Z')
  expect(events).toContainEqual(expect.objectContaining({ id: 'evt_moved', displayDate }))
  await other.close()
})
