// Runs in: postgres

import type { ServerResponse } from 'node:http'
import { eq, sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { recordChanges } from '../../../src/domain/change/record-changes.ts'
import { webhookDeliveries, webhooks } from '../../../src/domain/change/table.ts'
import { aCatalogue, anEvent, aRateOf } from '../../support/factories.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { sendDueWebhooks, startReceiver, webhooksOf } from '../../support/webhooks.ts'

let sale: Sale
let receiver: Awaited<ReturnType<typeof startReceiver>>
let id: string
beforeEach(async () => {
  const catalogue = aCatalogue({ events: [anEvent({ ticket_rates: [aRateOf(10)] })] })
  sale = await openSale(catalogue, { settings: { WEBHOOKS_TO_PRIVATE_ADDRESSES: 'true' } })
  receiver = await startReceiver()
  id = (await webhooksOf(sale).register(receiver.url)).id
})
afterEach(async () => {
  receiver.close()
  await sale.close()
})

let recorded = 0
/** Queues deliveries of as many changes, each of another rate. */
const queue = (count: number) =>
  sale.db.transaction((tx) =>
    recordChanges(
      tx,
      Array.from({ length: count }, () => ({
        type: 'rate.available' as const,
        subjectId: `rate_${++recorded}`,
        organizationId: 'org_1',
        channelId: null,
        data: {},
      })),
    ),
  )

const endPause = () => sale.db.update(webhooks).set({ pausedUntil: null }).where(eq(webhooks.id, id))
const countAttempts = () =>
  sale.db
    .select({ attempts: sql<number>`sum(${webhookDeliveries.attempts})::integer` })
    .from(webhookDeliveries)
    .then(([row]) => row?.attempts)

/** Answers each request after this time. Returns the highest number of open ones since it was last asked. */
function answerAfter(ms: number) {
  let open = 0
  let max = 0
  receiver.respondUsing((response: ServerResponse) => {
    max = Math.max(max, ++open)
    setTimeout(() => {
      open--
      response.writeHead(204).end()
    }, ms)
  })
  return () => {
    const most = max
    max = 0
    return most
  }
}

test('webhook that fails is left alone for a while, and then asked with one delivery at a time', async () => {
  await queue(30)
  receiver.respondWith(500)
  await sendDueWebhooks(sale)
  // The ones already under way together.
  expect(receiver.take()).toHaveLength(4)
  await sendDueWebhooks(sale)
  expect(receiver.take()).toEqual([])
  for (let times = 0; times < 3; times++) {
    await endPause()
    await sendDueWebhooks(sale)
    expect(receiver.take()).toHaveLength(1)
  }
  expect(await countAttempts()).toBe(7)
  // The first success lets the others follow at once.
  receiver.respondWith(204)
  await endPause()
  await sendDueWebhooks(sale)
  expect(receiver.take()).toHaveLength(23)
})

test.each([
  ['now', 0, 1],
  ['for a minute', 60, 30],
  ['for a day', 86_400, 300],
])('webhook that has failed %s is left alone for seconds: %i, %i', async (_name, failing, pause) => {
  await queue(1)
  receiver.respondWith(500)
  if (failing > 0)
    await sale.db.update(webhooks).set({ failingSince: sql`now() - ${failing} * interval '1 second'` })
  await sendDueWebhooks(sale)
  const [row] = await sale.db
    .select({ seconds: sql<number>`extract(epoch from ${webhooks.pausedUntil} - now())::float8` })
    .from(webhooks)
  expect(row?.seconds).toBeGreaterThan(pause - 1)
  expect(row?.seconds).toBeLessThanOrEqual(pause + 1)
})

test('webhook of which some deliveries succeed is not left alone', async () => {
  await queue(10)
  receiver.respondUsing((response, { body }) =>
    response.writeHead(body.includes(`"rate_${recorded}"`) ? 500 : 204).end(),
  )
  await sendDueWebhooks(sale)
  expect(receiver.take()).toHaveLength(10)
})

test('webhook that answers quickly gets more at once, and four again after a failure', async () => {
  const most = answerAfter(40)
  const batch = async (size: number) => {
    await queue(size)
    await sendDueWebhooks(sale)
    return most()
  }
  expect(await batch(20)).toBe(4)
  // A machine that is busy answers slower meanwhile.
  await expect.poll(() => batch(160), { timeout: 60_000 }).toBeGreaterThanOrEqual(16)
  receiver.respondWith(500)
  await queue(1)
  await sendDueWebhooks(sale)
  await endPause()
  await sale.db.update(webhookDeliveries).set({ dueAt: sql`now()` })
  const mostThen = answerAfter(40)
  await sendDueWebhooks(sale)
  await queue(20)
  await sendDueWebhooks(sale)
  expect(mostThen()).toBe(4)
})
