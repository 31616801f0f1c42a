import { afterAll, beforeAll, expect, test } from 'vitest'
import { deliveries } from '../src/delivery/table.ts'
import { bought, deliveryCatalogue, sendOnce } from './deliveries.ts'
import { createTestDatabase, startGateway, type TestDatabase } from './harness.ts'
import { type MailServer, startMailServer } from './mail-server.ts'
import { openSale, type Sale } from './sale.ts'

// A database with one connection shows nothing of who takes what at the same time.

let database: TestDatabase
let sale: Sale
let server: MailServer
beforeAll(async () => {
  database = await createTestDatabase()
  sale = await openSale(deliveryCatalogue, { database })
  server = await startMailServer()
})
afterAll(async () => {
  await server.close()
  await sale.close()
  await database.drop()
})

test('processes that send at the same time send each mail once', async () => {
  const other = await startGateway({ database })
  const addresses = Array.from({ length: 45 }, (_, index) => `buyer-${index}@example.com`)
  await bought(
    sale,
    addresses.map((email) => ({ email })),
  )
  expect(await sale.db.$count(deliveries)).toBe(45)
  const settings = { SMTP_URL: server.url }
  while ((await sale.db.$count(deliveries)) > server.mails.length)
    await Promise.all([sale, other, sale, other].map((process) => sendOnce(process, settings)))
  expect(server.mails.flatMap(({ to }) => to).sort()).toEqual(addresses.sort())
  const ended = await sale.db.select().from(deliveries)
  expect(new Set(ended.map(({ status, attempts }) => `${status} ${attempts}`))).toEqual(new Set(['sent 1']))
  await other.close()
})
