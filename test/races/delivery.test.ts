// Runs in: postgres, citus

import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deliveries } from '../../src/domain/delivery/table.ts'
import { buyDeliverable, deliveryCatalogue, sendDeliveriesOnce } from '../support/deliveries.ts'
import { createTestDatabase, startGateway, type TestDatabase } from '../support/harness.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { mustStartServer } from '../support/processes.ts'
import { openSale, type Sale } from '../support/sale.ts'

// A database with one connection cannot show two processes claiming at the same time.

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
  await buyDeliverable(
    sale,
    addresses.map((email) => ({ email })),
  )
  expect(await sale.db.$count(deliveries)).toBe(45)
  const settings = { SMTP_URL: server.url }
  while ((await sale.db.$count(deliveries)) > server.mails.length)
    await Promise.all([sale, other, sale, other].map((process) => sendDeliveriesOnce(process, settings)))
  expect(server.mails.flatMap(({ to }) => to).sort()).toEqual(addresses.sort())
  const ended = await sale.db.select().from(deliveries)
  expect(new Set(ended.map(({ status, attempts }) => `${status} ${attempts}`))).toEqual(new Set(['sent 1']))
  await other.close()
})

test('service tells of mails that fail, by code and count, and of nobody', async () => {
  await buyDeliverable(sale, [{ email: 'failing@example.com' }])
  const failing = { attempts: 5, lastError: 'SMTP_535', dueAt: sql`now() + interval '1 hour'` }
  const isThis = eq(deliveries.recipient, 'failing@example.com')
  await sale.db.update(deliveries).set(failing).where(isThis)
  const started = await mustStartServer({
    ...database.settings,
    SMTP_URL: server.url,
    MAIL_FROM: 'tickets@shop.example',
    PUBLIC_URL: 'https://tickets.example',
  })
  const lines = () =>
    started
      .output()
      .split('\n')
      .filter((line) => line.includes('jobs are late'))
  await expect.poll(lines, { timeout: 10_000 }).toHaveLength(1)
  expect(JSON.parse(lines()[0] ?? '')).toMatchObject({
    level: 'error',
    queue: 'deliveries',
    code: 'SMTP_535',
    count: 1,
  })
  await started.stop()
  expect(started.output()).not.toContain('failing@example.com')
  await sale.db.delete(deliveries).where(isThis)
})

test('service sends due mails when it starts, and exits with 0', async () => {
  await buyDeliverable(sale, [{ email: 'first@example.com' }])
  const started = await mustStartServer({
    ...database.settings,
    SMTP_URL: server.url,
    MAIL_FROM: 'Boxoffice <tickets@shop.example>',
    PUBLIC_URL: 'https://tickets.example',
  })
  const mailTo = (address: string) => server.mails.find(({ to }) => to.includes(address))?.mail
  await expect
    .poll(() => mailTo('first@example.com')?.from)
    .toEqual({
      name: 'Boxoffice',
      address: 'tickets@shop.example',
    })
  expect(mailTo('first@example.com')?.text).toContain('https://tickets.example/tickets/')
  expect(await started.stop()).toBe(0)
  expect(started.output()).not.toContain('first@example.com')
})
