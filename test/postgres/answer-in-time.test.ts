// Runs in: postgres

import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payments } from '../../src/domain/payment/table.ts'
import { anEntry, checkOut, mustCheckOut } from '../support/checkouts.ts'
import { aRateOf } from '../support/factories.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { graphqlRefusal, refusal } from '../support/refusals.ts'
import { openSale, type Sale } from '../support/sale.ts'

// Requests that wait for a lock, on each surface.

const answerTimeoutMs = 400
// The statement timeout is longer than the response timeout, so statements fail after their response was
// sent.
const statementTimeoutMs = 1_500

let database: TestDatabase
let sale: Sale
let locker: postgres.Sql
const lines: string[] = []
beforeAll(async () => {
  database = await createTestDatabase()
  sale = await openSale({
    rates: [aRateOf(10)],
    ...{ database, answerTimeoutMs, statementTimeoutMs, settings: { LOG_LEVEL: 'trace' } },
    onLog: (line) => lines.push(line),
  })
  locker = postgres(database.settings.DATABASE_URL ?? '', { max: 1, onnotice: () => {} })
})
afterAll(async () => {
  await locker.end()
  await sale.close()
  await database.drop()
})

test('a blocked request gets a 503 with Retry-After in time, on every surface', async () => {
  const body = { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] }
  const checkout = await mustCheckOut(sale, body)
  const page = new URL(checkout.payment_url).pathname
  const keyed = { 'idempotency-key': 'once' }
  await locker.begin(async (held) => {
    await held`lock table ticket_rates, payments, changes in access exclusive mode`
    const began = performance.now()
    const [listed, asked, streamed, bought, paid, unknown] = await Promise.all([
      sale.rest('GET', '/events?populate=*', { headers: sale.channel }),
      sale.rest('POST', '/graphql', {
        headers: { ...sale.channel, accept: 'application/json' },
        body: { query: '{ ticketRate(id: "rate_1") { id } }' },
      }),
      sale.rest('POST', '/graphql', {
        headers: { ...sale.channel, accept: 'text/event-stream' },
        body: { query: 'subscription { changes(from: { at: OLDEST }) { cursor } }' },
      }),
      checkOut(sale, body, keyed),
      sale.rest('POST', page, {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'action=pay',
      }),
      sale.rest('GET', '/nothing'),
    ])
    expect(performance.now() - began).toBeLessThan(answerTimeoutMs + 2_000)
    expect([listed, bought].map(refusal)).toEqual(Array(2).fill('503 BUSY'))
    expect([asked, streamed].map(graphqlRefusal)).toEqual(Array(2).fill('503 BUSY'))
    expect([paid.statusCode, unknown.statusCode]).toEqual([503, 404])
    for (const answer of [listed, asked, streamed, bought, paid])
      expect(answer.headers['retry-after']).toBe('1')
    await pause(2 * statementTimeoutMs)
  })
  // Late results are discarded, and a retry with the same key makes one checkout.
  await pause(300)
  const again = await Promise.all([mustCheckOut(sale, body, keyed), mustCheckOut(sale, body, keyed)])
  expect(new Set(again.map(({ payment_id }) => payment_id)).size).toBe(1)
  expect(await sale.db.$count(payments)).toBe(2)
  expect((await sale.rest('GET', '/events?populate=*', { headers: sale.channel })).statusCode).toBe(200)
  const token = page.split('/').at(-1) ?? ''
  expect(lines.join('')).not.toContain(token)
  expect(lines.filter((line) => /already sent|Promise errored|FST_ERR|select|Ana/i.test(line))).toEqual([])
})
