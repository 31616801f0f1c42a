// Runs in: postgres

import { eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startJobs } from '../../../src/app/jobs.ts'
import { recordChanges } from '../../../src/domain/change/record-changes.ts'
import { changes, webhookDeliveries, webhooks } from '../../../src/domain/change/table.ts'
import { sandboxProvider } from '../../../src/domain/payment/sandbox.ts'
import { countBacklog } from '../../../src/domain/sale/report/count-backlog.ts'
import { dropOfDeleted, resumeWebhooks } from '../../../src/domain/webhook/manage-webhook.ts'
import { claimDeliveries } from '../../../src/domain/webhook/send/claim-deliveries.ts'
import { recordAttempts } from '../../../src/domain/webhook/send/send-webhooks.ts'
import { aCatalogue, anEvent, aRateOf } from '../../support/factories.ts'
import { shortenPauses } from '../../support/quick-pauses.ts'
import { sharedSale } from '../../support/sale.ts'
import { aPaidTicket } from '../../support/tickets.ts'
import { type Received, sendDueWebhooks, startReceiver, webhooksOf } from '../../support/webhooks.ts'

let receiver: Awaited<ReturnType<typeof startReceiver>>
let own: ReturnType<typeof webhooksOf>
const catalogue = aCatalogue({ events: [anEvent({ ticket_rates: [aRateOf(1000)] })] })
const sale = sharedSale(catalogue, { settings: { WEBHOOKS_TO_PRIVATE_ADDRESSES: 'true' } })
beforeAll(async () => {
  receiver = await startReceiver()
  own = webhooksOf(sale)
})
afterAll(async () => receiver.close())
// Leaves each test with its own webhook only.
beforeEach(async () => {
  for (const { id } of await own.list()) await own.call('deleteWebhook', { webhookId: id })
  receiver.respondWith(204)
  receiver.take()
})

/** Sells and pays a ticket, which records PAYMENT_PAID and TICKET_ACTIVATED. */
const sell = async () => (await aPaidTicket(sale)).paymentId

/** Registers a webhook and queues one change for it. */
async function queueOne() {
  const { id, secret } = await own.register(`${receiver.url}/hook`, ['PAYMENT_PAID'])
  const paymentId = await sell()
  return { id, secret, paymentId }
}

const deliveryOf = async (id: string) => (await own.deliveries(id))?.nodes[0]
const webhookOf = async (id: string) => (await own.list()).find((webhook) => webhook.id === id)

/** Ends the backoff of a webhook's deliveries, and its pause. */
async function makeDue(id: string) {
  await sale.db
    .update(webhookDeliveries)
    .set({ dueAt: sql`now()` })
    .where(eq(webhookDeliveries.webhookId, id))
  await sale.db.update(webhooks).set({ pausedUntil: null }).where(eq(webhooks.id, id))
}

/** Returns the seconds until the next attempt. */
async function pauseOf(id: string): Promise<number> {
  const [row] = await sale.db
    .select({ seconds: sql<number>`extract(epoch from ${webhookDeliveries.dueAt} - now())::float8` })
    .from(webhookDeliveries)
    .where(eq(webhookDeliveries.webhookId, id))
  return row?.seconds ?? Number.NaN
}

const verify = (secret: string, { body, headers }: Received) =>
  new Webhook(secret).verify(body, headers as Record<string, string>)

const claimNow = () =>
  claimDeliveries(sale.db, {
    ...{ limit: 10, leaseSeconds: 60, except: [] },
    batches: [],
  })

test('an answer that comes after another process has claimed the delivery changes nothing', async () => {
  const { id } = await queueOne()
  const [first] = await claimNow()
  await makeDue(id)
  const [second] = await claimNow()
  if (!first) throw new Error('a delivery was claimed')
  expect([first.attempts, second?.attempts]).toEqual([1, 2])
  const before = await sale.db.select().from(webhookDeliveries)
  const verdict = { status: 'dead', retrySeconds: 0, lastStatus: 500, lastError: 'STATUS' } as const
  await recordAttempts(sale.db, [{ ...first, ...verdict, pauseSeconds: 0 }])
  expect(await sale.db.select().from(webhookDeliveries)).toEqual(before)
})

test('an answer of an address that was replaced meanwhile says nothing of the new one', async () => {
  const { id } = await queueOne()
  const [claimed] = await claimNow()
  if (!claimed) throw new Error('a delivery was claimed')
  await own.call('updateWebhook', { webhookId: id, url: `${receiver.url}/new` })
  const verdict = { status: 'pending', retrySeconds: 5, lastStatus: 410, lastError: 'GONE' } as const
  await recordAttempts(sale.db, [{ ...claimed, ...verdict, pauseSeconds: 0 }])
  const [row] = await sale.db.select().from(webhooks).where(eq(webhooks.id, id))
  expect([row?.status, row?.failingSince]).toEqual(['enabled', null])
})

test('webhook is sent in the form of Standard Webhooks with a valid signature', async () => {
  const { id, secret, paymentId } = await queueOne()
  await sendDueWebhooks(sale)
  const [got, ...rest] = receiver.take()
  expect(rest).toEqual([])
  if (!got) throw new Error('one is received')
  expect(got.path).toBe('/hook')
  expect(got.headers).toMatchObject({ 'content-type': 'application/json' })
  const delivery = await deliveryOf(id)
  expect(got.headers['webhook-id']).toBe(delivery?.change.id)
  expect(Math.abs(Number(got.headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60)
  expect(verify(secret, got)).toEqual({
    type: 'payment.paid',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    subject_id: paymentId,
    sequence: 1,
    data: {
      payment_id: paymentId,
      ticket_rate_ids: ['rate_1'],
      status: 'paid',
      total_amount: 22,
      refunded: 0,
      currency: 'EUR',
    },
  })
  // Sending does not wait for a position in the feed.
  expect(await sale.db.$count(changes, isNotNull(changes.feedPosition))).toBe(0)
  expect(delivery).toMatchObject({
    status: 'DELIVERED',
    attempts: 1,
    nextAttemptAt: null,
    lastStatus: 204,
    lastError: null,
    deliveredAt: expect.any(String),
  })
  expect(() => verify(secret, { ...got, body: `${got.body} ` })).toThrow('No matching signature found')
  await makeDue(id)
  await sendDueWebhooks(sale)
  expect(receiver.take()).toEqual([])
})

test('webhook is signed with both secrets for a day after a rotation, then with the new one', async () => {
  const { id, secret: old } = await queueOne()
  const { secret: current = '' } = await own.call('rotateWebhookSecret', { webhookId: id })
  expect(current).not.toBe(old)
  await sendDueWebhooks(sale)
  const [during] = receiver.take()
  if (!during) throw new Error('one is received')
  expect(String(during.headers['webhook-signature']).split(' ')).toHaveLength(2)
  expect(verify(old, during)).toEqual(verify(current, during))

  const [until] = await sale.db
    .select({
      hours: sql<number>`extract(epoch from ${webhooks.previousSecretUntil} - now())::float8 / 3600`,
    })
    .from(webhooks)
    .where(eq(webhooks.id, id))
  expect(until?.hours).toBeCloseTo(24, 1)
  await sale.db.update(webhooks).set({ previousSecretUntil: sql`now()` }).where(eq(webhooks.id, id))
  await sell()
  await sendDueWebhooks(sale)
  const [after] = receiver.take()
  if (!after) throw new Error('one is received')
  expect(verify(current, after)).toMatchObject({ type: 'payment.paid' })
  expect(() => verify(old, after)).toThrow('No matching signature found')
})

test('webhook retries follow the specification’s schedule and are dead after ten attempts', async () => {
  const { id } = await queueOne()
  receiver.respondWith(500)
  for (const [tries, seconds] of [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].entries()) {
    await sendDueWebhooks(sale)
    expect(await deliveryOf(id)).toMatchObject({
      status: 'PENDING',
      attempts: tries + 1,
      lastStatus: 500,
      lastError: 'STATUS',
    })
    const pause = await pauseOf(id)
    expect(pause).toBeGreaterThan(seconds - 5)
    expect(pause).toBeLessThanOrEqual(seconds * 1.1)
    await sendDueWebhooks(sale)
    await makeDue(id)
  }
  await sendDueWebhooks(sale)
  expect(await deliveryOf(id)).toMatchObject({ status: 'DEAD', attempts: 10, nextAttemptAt: null })
  await makeDue(id)
  await sendDueWebhooks(sale)
  const got = receiver.take()
  expect(got).toHaveLength(10)
  expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
})

test('webhook backoff is random, so that failures do not return together', async () => {
  const { id } = await queueOne()
  for (let more = 0; more < 3; more++) await sell()
  // The longest backoff has so much jitter that no two are equal by chance.
  await sale.db.update(webhookDeliveries).set({ attempts: 8 }).where(eq(webhookDeliveries.webhookId, id))
  receiver.respondWith(503)
  await sendDueWebhooks(sale)
  const due = (await own.deliveries(id))?.nodes.map(({ nextAttemptAt }) => nextAttemptAt)
  expect(new Set(due).size).toBe(4)
})

test('webhook answered with 410 is disabled, and sends what waited once enabled', async () => {
  const { id } = await queueOne()
  receiver.respondWith(410)
  await sendDueWebhooks(sale)
  expect(await webhookOf(id)).toMatchObject({ status: 'DISABLED', disabledReason: 'GONE' })
  expect(await deliveryOf(id)).toMatchObject({ status: 'PENDING', lastStatus: 410, lastError: 'GONE' })
  await sell()
  await makeDue(id)
  receiver.respondWith(200)
  await sendDueWebhooks(sale)
  expect(receiver.take()).toHaveLength(1)
  await own.call('enableWebhook', { webhookId: id })
  expect(await webhookOf(id)).toMatchObject({ status: 'ENABLED', disabledReason: null, failingSince: null })
  await sendDueWebhooks(sale)
  expect(receiver.take()).toHaveLength(1)
  expect((await own.deliveries(id))?.nodes).toMatchObject([{ status: 'DELIVERED', attempts: 2 }])
})

// Ten minutes after the receiver answers.
const later = {
  get 'retry-after'() {
    return new Date(Date.now() + 600_000).toUTCString()
  },
}

test.each<{ status: number; headers: Record<string, string>; pause: number }>([
  { status: 429, headers: {}, pause: 60 },
  { status: 502, headers: {}, pause: 60 },
  { status: 504, headers: {}, pause: 60 },
  { status: 429, headers: { 'retry-after': '120' }, pause: 120 },
  { status: 503, headers: { 'retry-after': '90' }, pause: 90 },
  { status: 429, headers: { 'retry-after': '86400' }, pause: 3600 },
  { status: 429, headers: later, pause: 600 },
  { status: 429, headers: { 'retry-after': 'soon' }, pause: 60 },
])('webhook answered with $status and $headers pauses for $pause seconds', async ({ pause, ...answer }) => {
  const { id } = await queueOne()
  receiver.respondWith(answer.status, answer.headers)
  await sendDueWebhooks(sale)
  const planned = await pauseOf(id)
  expect(planned).toBeGreaterThan(pause - 10)
  expect(planned).toBeLessThan(pause * 1.1 + 1)
  // New deliveries wait as well, although they were never attempted.
  await sell()
  receiver.take()
  await sendDueWebhooks(sale)
  expect(receiver.take()).toEqual([])
  await makeDue(id)
  receiver.respondWith(200)
  await sendDueWebhooks(sale)
  expect(receiver.take()).toHaveLength(2)
  expect(await webhookOf(id)).toMatchObject({ failingSince: null })
})

test('webhook answered with 429 is sent no further deliveries', async () => {
  const { id } = await queueOne()
  for (let count = 0; count < 9; count++) await sell()
  receiver.respondWith(429)
  await sendDueWebhooks(sale)
  // The ones already under way together.
  expect(receiver.take()).toHaveLength(4)
  const attempts = (await own.deliveries(id))?.nodes.map(({ attempts }) => attempts)
  expect(attempts?.toSorted()).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
})

test('webhook that fails for five days is disabled with its reason', async () => {
  const { id } = await queueOne()
  receiver.respondWith(500)
  await sendDueWebhooks(sale)
  const { failingSince } = (await webhookOf(id)) ?? {}
  expect(failingSince).toEqual(expect.any(String))
  const failFor = async (days: number) => {
    await sale.db
      .update(webhooks)
      .set({ failingSince: sql`now() - ${days} * interval '1 day'` })
      .where(eq(webhooks.id, id))
    await makeDue(id)
    await sendDueWebhooks(sale)
    return webhookOf(id)
  }
  expect(await failFor(4.9)).toMatchObject({ status: 'ENABLED', disabledReason: null })
  expect(await failFor(5.1)).toMatchObject({ status: 'DISABLED', disabledReason: 'FAILING' })
})

test('webhook redirects are not followed', async () => {
  const { id } = await queueOne()
  receiver.respondWith(307, { location: `${receiver.url}/elsewhere` })
  await sendDueWebhooks(sale)
  expect(receiver.take().map(({ path }) => path)).toEqual(['/hook'])
  expect(await deliveryOf(id)).toMatchObject({ status: 'PENDING', lastStatus: 307, lastError: 'REDIRECT' })
})

test.each([
  ['nothing', () => {}],
  ['no end', (response) => response.writeHead(200).write('and')],
  [
    'another protocol',
    (response) =>
      response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
  ],
] as [string, Parameters<typeof receiver.respondUsing>[0]][])(
  'webhook response of %s times out',
  async (_name, respond) => {
    const { id } = await queueOne()
    receiver.respondUsing(respond)
    const begun = performance.now()
    await sendDueWebhooks(sale, { timeoutSeconds: 0.3 })
    // Ten seconds is the default.
    expect(performance.now() - begun).toBeLessThan(9000)
    expect(await deliveryOf(id)).toMatchObject({ status: 'PENDING', lastStatus: null, lastError: 'TIMEOUT' })
  },
)

test('webhook response without end is read only for its status', async () => {
  const { id } = await queueOne()
  let written = 0
  receiver.respondUsing((response) => {
    response.writeHead(200)
    const more = () => {
      for (; !response.destroyed && response.write(Buffer.alloc(16_384)); ) written += 16_384
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  })
  await sendDueWebhooks(sale)
  expect(await deliveryOf(id)).toMatchObject({ status: 'DELIVERED', lastStatus: 200 })
  expect(written).toBeLessThan(50_000_000)
})

test('webhook response with too many headers is a failure', async () => {
  const { id } = await queueOne()
  receiver.respondWith(200, { 'x-long': 'x'.repeat(100_000) })
  await sendDueWebhooks(sale)
  expect(await deliveryOf(id)).toMatchObject({ status: 'PENDING', lastError: 'HPE_HEADER_OVERFLOW' })
})

test('webhook to a closed port shows the network error', async () => {
  const gone = await startReceiver()
  gone.close()
  const { id } = await own.register(gone.url, ['PAYMENT_PAID'])
  await sell()
  await sendDueWebhooks(sale)
  expect(await deliveryOf(id)).toMatchObject({
    status: 'PENDING',
    lastStatus: null,
    lastError: 'ECONNREFUSED',
  })
})

test('webhook that is slow does not delay others', async () => {
  const slow = await startReceiver()
  slow.respondUsing(() => {})
  await own.register(slow.url, ['PAYMENT_PAID'])
  await own.register(receiver.url, ['PAYMENT_PAID'])
  for (let count = 0; count < 6; count++) await sell()
  const stopping = new AbortController()
  const sending = sendDueWebhooks(sale, { stopping: stopping.signal })
  // Four at a time go to the slow one, and no more until they are done.
  await expect.poll(() => [receiver.received.length, slow.received.length]).toEqual([6, 4])
  stopping.abort()
  await sending
  slow.close()
})

test('webhook deliveries under way when the process stops are given back and sent again', async () => {
  const { id } = await queueOne()
  for (let count = 0; count < 5; count++) await sell()
  receiver.respondUsing(() => {})
  const stopping = new AbortController()
  const sending = sendDueWebhooks(sale, { stopping: stopping.signal })
  await expect.poll(() => receiver.received.length).toBe(4)
  const lease = await pauseOf(id)
  expect(lease).toBeGreaterThan(50)
  expect(lease).toBeLessThan(100)
  stopping.abort()
  await sending
  const untouched = { status: 'PENDING', attempts: 0, lastStatus: null, lastError: null }
  expect((await own.deliveries(id))?.nodes).toMatchObject(Array(6).fill(untouched))
  receiver.respondWith(200)
  receiver.take()
  await sendDueWebhooks(sale)
  expect(receiver.take()).toHaveLength(6)
  expect((await own.deliveries(id, { status: 'DELIVERED' }))?.nodes).toHaveLength(6)
})

test('webhook deliveries of a crashed process are sent by another once their lease is over', async () => {
  const { id } = await queueOne()
  await claimDeliveries(sale.db, {
    limit: 10,
    leaseSeconds: 60,
    except: [],
    batches: [],
  })
  await sendDueWebhooks(sale)
  expect(receiver.take()).toEqual([])
  const lease = await pauseOf(id)
  expect(lease).toBeGreaterThan(30)
  expect(lease).toBeLessThanOrEqual(60)
  await makeDue(id)
  await sendDueWebhooks(sale)
  expect(receiver.take()).toHaveLength(1)
  expect(await deliveryOf(id)).toMatchObject({ status: 'DELIVERED', attempts: 2 })
})

test('webhook job sends by itself and stops while a receiver is silent', async () => {
  shortenPauses()
  const { id } = await queueOne()
  const errors: unknown[] = []
  const senders = { email: null, whatsapp: null, perHour: 1000, onDead() {} }
  const options = { db: sale.db, provider: sandboxProvider, senders, privateWebhooks: true }
  const stop = startJobs(options, (error) => errors.push(error))
  await expect.poll(() => receiver.received.length).toBe(1)
  await expect.poll(async () => (await deliveryOf(id))?.status).toBe('DELIVERED')
  // Changes without a webhook get their position in the feed as well.
  await expect.poll(() => sale.db.$count(changes, isNull(changes.feedPosition))).toBe(0)
  receiver.respondUsing(() => {})
  await sell()
  await expect.poll(() => receiver.received.length).toBe(2)
  await stop()
  // Stopping gave it back instead of waiting for its timeout.
  expect((await own.deliveries(id, { status: 'PENDING' }))?.nodes).toMatchObject([
    { attempts: 0, lastError: null },
  ])
  expect(errors).toEqual([])
})

test('webhook changes can be put in order by subject and sequence', async () => {
  const { id } = await own.register(receiver.url, ['TICKET_ACTIVATED', 'TICKET_ENTERED', 'TICKET_CANCELLED'])
  const types = ['ticket.activated', 'ticket.entered', 'ticket.entered', 'ticket.cancelled'] as const
  const [channel] = await sale.db.select({ id: webhooks.channelId }).from(webhooks).where(eq(webhooks.id, id))
  for (const type of types)
    await sale.db.transaction((tx) =>
      recordChanges(
        tx,
        ['tkt_1', 'tkt_2'].map((subjectId) => ({
          type,
          subjectId,
          organizationId: 'org_1',
          channelId: channel?.id ?? null,
          data: { ticket_id: subjectId },
        })),
      ),
    )
  await sale.db.update(webhookDeliveries).set({ dueAt: sql`now() - random() * interval '1 minute'` })
  await sendDueWebhooks(sale)
  const bodies = receiver.take().map(({ body }) => JSON.parse(body))
  expect(bodies).toHaveLength(8)
  for (const ticket of ['tkt_1', 'tkt_2']) {
    const received = bodies.filter(({ subject_id }) => subject_id === ticket)
    expect(received.toSorted((one, two) => one.sequence - two.sequence).map(({ type }) => type)).toEqual(
      types,
    )
  }
})

test('deliveries to a deleted webhook are dropped, also of a sale that commits after its end, and none is dead', async () => {
  const { id } = await queueOne()
  const ofWebhook = () => sale.db.$count(webhookDeliveries, eq(webhookDeliveries.webhookId, id))
  const [channel] = await sale.db.select({ id: webhooks.channelId }).from(webhooks).where(eq(webhooks.id, id))
  await sale.db.transaction(async (tx) => {
    const change = { type: 'payment.paid' as const, subjectId: 'pay_1', organizationId: 'org_1', data: {} }
    await recordChanges(tx, [{ ...change, channelId: channel?.id ?? null }])
    await own.call('deleteWebhook', { webhookId: id })
    expect(await ofWebhook()).toBe(0)
  })
  // Control: the sale saw it, and queued its change.
  expect(await ofWebhook()).toBe(1)
  const { webhooks: counted } = await countBacklog(sale.db, 'sandbox')
  expect(counted).toMatchObject({ due: 0, late: 0, failing: 0 })
  await dropOfDeleted(sale.db)
  expect(await ofWebhook()).toBe(0)
  expect((await countBacklog(sale.db, 'sandbox')).webhooks.dead).toBe(counted.dead)
  expect(await sale.db.$count(webhookDeliveries, eq(webhookDeliveries.lastError, 'DELETED'))).toBe(0)
})

/** Gives a disabled webhook 2,500 deliveries that wait for a later try, and returns how many of them wait still. */
async function waitForLater(id: string) {
  await own.call('disableWebhook', { webhookId: id })
  await sale.db.execute(sql`insert into webhook_deliveries (organization_id, webhook_id, change_id, attempts, due_at)
    select 'org_1', ${id}, 'chg_' || n, 3, now() + n * interval '30 seconds' from generate_series(1, 2500) as n`)
  return () =>
    sale.db.$count(webhookDeliveries, sql`webhook_id = ${id} and due_at > now() and change_id like 'chg_%'`)
}

test('webhook with many deliveries is enabled at once, and a job makes those due that are left', async () => {
  const { id } = await queueOne()
  const waiting = await waitForLater(id)
  await own.call('enableWebhook', { webhookId: id })
  expect(await waiting()).toBe(2_490)
  // One fails meanwhile, and another one's outcome is being recorded.
  await sale.db.execute(sql`update webhook_deliveries set attempts = 4, due_at = now() + interval '25 hours'
    where webhook_id = ${id} and change_id = 'chg_2500'`)
  await sale.db.transaction(async (tx) => {
    await tx.execute(
      sql`select from webhook_deliveries where webhook_id = ${id} and change_id = 'chg_7' for update`,
    )
    await resumeWebhooks(sale.db)
  })
  expect(await waiting()).toBe(2)
  const left = await sale.db.select().from(webhooks).where(isNotNull(webhooks.resumesUntil))
  expect(left).toEqual([])
  // Nothing is left of it to do, or to do again.
  await resumeWebhooks(sale.db)
  expect(await waiting()).toBe(2)
})

test('webhook that is deleted before all of its deliveries were made due has none of them', async () => {
  const { id } = await queueOne()
  const waiting = await waitForLater(id)
  await own.call('enableWebhook', { webhookId: id })
  await own.call('deleteWebhook', { webhookId: id })
  expect(await waiting()).toBeGreaterThan(2_000)
  await resumeWebhooks(sale.db)
  await dropOfDeleted(sale.db)
  expect(await sale.db.$count(webhookDeliveries, eq(webhookDeliveries.webhookId, id))).toBe(0)
})

test('dropping leaves the deliveries of other webhooks', async () => {
  const { id } = await queueOne()
  await dropOfDeleted(sale.db)
  expect((await own.deliveries(id))?.nodes).toHaveLength(1)
})

test('webhook deliveries are claimed in one statement and saved in one', async () => {
  await queueOne()
  sale.statements.reset()
  const begun = performance.now()
  await sendDueWebhooks(sale)
  // Claim, save, and a claim that finds nothing; while it waits, it claims once a second as well.
  const seconds = Math.floor((performance.now() - begun) / 1000)
  const written = sale.statements.filter((text) => text.includes('set status = outcomes.status'))
  expect(written).toHaveLength(1)
  const asked = sale.statements.length - written.length
  expect(asked).toBeGreaterThanOrEqual(2)
  expect(asked).toBeLessThanOrEqual(2 + seconds)
  sale.statements.reset()
  await sendDueWebhooks(sale)
  expect(sale.statements).toHaveLength(1)
})

test('webhook with WEBHOOKS_TO_PRIVATE_ADDRESSES may have any URL without a password', async () => {
  const { id } = await own.register('http://localhost:8080/hook')
  expect(await webhookOf(id)).toMatchObject({ url: 'http://localhost:8080/hook' })
  expect(await own.refusal('registerWebhook', { url: 'http://user:pass@localhost/' })).toBe('INVALID url')
})
