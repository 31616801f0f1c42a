// Runs in: postgres, citus

import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { recordChanges } from '../../src/domain/change/record-changes.ts'
import { webhookDeliveries, webhooks } from '../../src/domain/change/table.ts'
import { deliveryPages } from '../../src/domain/webhook/find-webhooks.ts'
import { anEntry, checkOut } from '../support/checkouts.ts'
import { explain, type SeenStatement } from '../support/explain.ts'
import { aCatalogue, anEvent, aRateOf } from '../support/factories.ts'
import { createTestDatabase } from '../support/harness.ts'
import { testOnOneServer } from '../support/on-one-server.ts'
import { openSale, type Sale } from '../support/sale.ts'
import { sendDueWebhooks, startReceiver, webhooksOf } from '../support/webhooks.ts'

// A database with one connection cannot serve two processes, so these tests run on PostgreSQL only.

const catalogue = aCatalogue({ events: [anEvent({ ticket_rates: [aRateOf(100)] })] })

/** Records this many changes, each of another rate. */
const change = (sale: Sale, count: number) =>
  sale.db.transaction((tx) =>
    recordChanges(
      tx,
      Array.from({ length: count }, (_, index) => ({
        type: 'rate.available' as const,
        subjectId: `rate_${index}`,
        organizationId: 'org_1',
        channelId: null,
        data: {},
      })),
    ),
  )

test('processes that send webhooks at the same time send each change once', async () => {
  const database = await createTestDatabase()
  const sale = await openSale(catalogue, { database, settings: { WEBHOOKS_TO_PRIVATE_ADDRESSES: 'true' } })
  const others = await Promise.all([database.open(), database.open()])
  const receivers = await Promise.all([startReceiver(), startReceiver(), startReceiver()])
  try {
    for (const { url } of receivers) await webhooksOf(sale).register(url)
    await change(sale, 150)
    await Promise.all([...others, ...others].map(({ db }) => sendDueWebhooks({ db })))
    for (const receiver of receivers) {
      const ids = receiver.take().map(({ headers }) => headers['webhook-id'])
      expect(ids).toHaveLength(150)
      expect(new Set(ids).size).toBe(150)
    }
    expect(await sale.db.$count(webhookDeliveries, sql`status = 'delivered' and attempts = 1`)).toBe(450)
  } finally {
    for (const receiver of receivers) receiver.close()
    for (const other of others) await other.close()
    await sale.close()
    await database.drop()
  }
})

test('a sale does not wait for a webhook being registered, changed or deleted', async () => {
  const sale = await openSale(catalogue)
  const own = webhooksOf(sale)
  const { id } = await own.register('https://receiver.example/')
  try {
    await sale.db.transaction(async (tx) => {
      // The locks that each of them holds until it commits.
      await tx.execute(sql`select id from channels for no key update`)
      await tx.update(webhooks).set({ status: 'deleted', secret: '' })
      const sold = await checkOut(sale, { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] })
      expect(sold.statusCode).toBe(200)
      // Its snapshot has the webhook as it was, and the row refers to it.
      await change(sale, 1)
    })
    expect(await sale.db.$count(webhookDeliveries)).toBe(1)
    expect(await own.deliveries(id)).toBeNull()
  } finally {
    await sale.close()
  }
})

testOnOneServer('webhook deliveries due and listed are found by index among many sent', async () => {
  const database = await createTestDatabase()
  const sale = await openSale(catalogue, { database })
  const seen: SeenStatement[] = []
  const watched = await database.open({ onStatement: (text, parameters) => seen.push({ text, parameters }) })
  try {
    const { id } = await webhooksOf(sale).register('https://receiver.example/')
    await sale.db.execute(sql`insert into changes (id, type, subject_id, sequence, organization_id, data)
      select 'chg_' || lpad(n::text, 26, '0'), 'rate.available', 's', n, 'org_1', '{}'
      from generate_series(1, 20000) as n`)
    await sale.db.execute(sql`insert into webhook_deliveries (organization_id, webhook_id, change_id, status)
      select organization_id, ${id}, id, case when sequence % 1000 = 0 then 'dead' else 'delivered' end::webhook_delivery_status
      from changes`)
    await sale.db.execute(sql`analyze`)
    await sendDueWebhooks(watched)
    const plan = async () =>
      explain(
        watched.db,
        seen.findLast(({ text }) => !text.startsWith('explain')) ?? { text: '', parameters: [] },
      )
    expect(await plan()).toContain('webhook_deliveries_due')
    expect(await plan()).not.toContain('Seq Scan on webhook_deliveries')
    const page = { webhookId: id, limit: 51 }
    const load = (asked: object) =>
      deliveryPages({ own: { db: watched.db } } as never).load(JSON.stringify(asked))
    await load(page)
    expect(await plan()).toMatch(/Index Scan Backward using webhook_deliveries_webhook_id/)
    await load({ ...page, status: 'dead' })
    expect(await plan()).toContain('webhook_deliveries_status')
  } finally {
    await watched.close()
    await sale.close()
    await database.drop()
  }
})
