// Runs in: postgres

import { inArray } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tickets } from '../../src/domain/ticket/table.ts'
import { openDatabase } from '../../src/engine/database/open.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { aLargeRate } from '../support/door.ts'
import { aSupplement } from '../support/factories.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { openSale, type Sale } from '../support/sale.ts'
import { buyTickets, ticketOf } from '../support/tickets.ts'

// Bytes that the database sends for a scan: it needs a few columns of its ticket, and nothing of the attendee.

let database: TestDatabase
let proxy: DatabaseProxy
let sale: Sale
beforeAll(async () => {
  database = await createTestDatabase()
  proxy = await startDatabaseProxy(database.settings.DATABASE_URL ?? '')
  const rate = aLargeRate('1', { max: 50, supplements: [aSupplement({ _id: 'sup_1' })] })
  sale = await openSale({
    rates: [rate],
    database: {
      ...database,
      open: (options) => openDatabase({ databaseUrl: proxy.url, dataDir: '' }, options),
    },
  })
})
afterAll(async () => {
  await sale?.close()
  await proxy?.close()
  await database?.drop()
})

const many = 10
const metadata = { note: 'x'.repeat(4_096) }

/** Sells tickets, whose attendees have so much metadata. */
async function sell(count: number, metadata: Record<string, string> | null): Promise<string[]> {
  const checkout = await buyTickets(sale, { count, entry: { supplements: [{ supplement_id: 'sup_1' }] } })
  const ids = checkout.tickets.map((_, index) => ticketOf(checkout, index))
  await sale.db.update(tickets).set({ metadata }).where(inArray(tickets.id, ids))
  return ids
}

let keys = 0
const scanOf = (ticketId: string) => ({
  ticket: { ticketId },
  eventId: 'evt_1',
  idempotencyKey: `bytes_${keys++}`,
})

/** Calls a mutation once for each ticket, or for all together, and counts the bytes that the database sends meanwhile. */
async function bytesOf(field: string, fields: string, inputs: object[]): Promise<number> {
  const before = proxy.bytesRead()
  for (const input of inputs) {
    const type = `${field[0]?.toUpperCase()}${field.slice(1)}`
    const { data, errors } = await sale.graphql<{ answer: object }>(
      `mutation ($input: ${type}Input!) { answer: ${field}(input: $input) { ... on ${type}Payload { ${fields} } } }`,
      { input },
      sale.integration.v2,
    )
    expect(errors).toBeUndefined()
    expect(JSON.stringify(data)).not.toMatch(/"answer":{}|"results":\[{}|"outcome":"(?!OK)/)
  }
  return proxy.bytesRead() - before
}

type Asked = (ids: string[], fields?: string) => Promise<number>
const checkInTickets: Asked = (ids, fields = '') =>
  bytesOf('checkInTickets', `results { ... on CheckInTicketPayload { checkIn { outcome ${fields} } } }`, [
    { scans: ids.map(scanOf) },
  ])
const verbs: Record<string, Asked> = {
  checkInTickets,
  checkInTicket: (ids, fields = '') =>
    bytesOf('checkInTicket', `checkIn { outcome ${fields} }`, ids.map(scanOf)),
  redeemSupplement: (ids, fields = '') =>
    bytesOf(
      'redeemSupplement',
      `outcome ${fields}`,
      ids.map((id) => ({ ...scanOf(id), supplementId: 'sup_1' })),
    ),
}

test.each(Object.entries(verbs))(
  '%s reads nothing of the attendee, unless it is asked for',
  async (_, ask) => {
    // Prepares its statements.
    await ask(await sell(many, null))
    const little = await ask(await sell(many, null))
    const more = async (...asked: Parameters<Asked>) => ((await ask(...asked)) - little) / many
    expect(await more(await sell(many, metadata))).toBeLessThan(100)
    // Control: a ticket that is asked for is read whole.
    expect(await more(await sell(many, metadata), 'ticket { id }')).toBeGreaterThan(4_096)
  },
)

test('a scan of a batch of 100 reads some 500 bytes', async () => {
  const bytesOfScan = async (fields?: string) =>
    (await checkInTickets([...(await sell(50, null)), ...(await sell(50, null))], fields)) / 100
  await bytesOfScan()
  expect(await bytesOfScan()).toBeLessThan(600)
  // Control.
  expect(await bytesOfScan('ticket { id }')).toBeGreaterThan(900)
})
