import type { ServerResponse } from 'node:http'
import { eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startBackground } from '../../../src/app/jobs.ts'
import { changes } from '../../../src/domain/change/table.ts'
import { sandboxProvider } from '../../../src/domain/payment/sandbox.ts'
import { recordChanges } from '../../../src/domain/sale/record-changes.ts'
import { takeDeliveries } from '../../../src/domain/webhook/send/take-deliveries.ts'
import { webhookDeliveries, webhooks } from '../../../src/domain/webhook/table.ts'
import { anEntry, mustCheckOut } from '../../support/checkouts.ts'
import { aCatalogue, anEvent, aRateOf } from '../../support/factories.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { settlePaymentById } from '../../support/settle-payment.ts'
import { paidOutcome } from '../../support/stub-provider.ts'
import { type Received, sendDueWebhooks, startReceiver, webhooksOf } from '../../support/webhooks.ts'

let sale: Sale
let receiver: Awaited<ReturnType<typeof startReceiver>>
let own: ReturnType<typeof webhooksOf>
beforeAll(async () => {
  const catalogue = aCatalogue({ events: [anEvent({ ticket_rates: [aRateOf(1000)] })] })
  sale = await openSale(catalogue, { settings: { WEBHOOKS_TO_PRIVATE_ADDRESSES: 'true' } })
  receiver = await startReceiver()
  own = webhooksOf(sale)
})
afterAll(async () => {
  receiver.close()
  await sale.close()
})
// Each test has a webhook of its own, and no other is told.
beforeEach(async () => {
  for (const { id } of await own.list()) await own.call('deleteWebhook', { id })
  receiver.respondWith(204)
  receiver.take()
})

/** Sells a ticket: a payment is paid, and a ticket activated. */
async function sell() {
  const { payment_id } = await mustCheckOut(sale, {
    ticket_rate_id: 'rate_1',
    tickets: [anEntry('price_1')],
  })
  await settlePaymentById(sale.db, payment_id, paidOutcome(payment_id))
  return payment_id
}

/** One webhook, and one change on its way to it. */
async function told() {
  const { id, secret } = await own.register(`${receiver.url}/hook`, ['PAYMENT_PAID'])
  const paymentId = await sell()
  return { id, secret, paymentId }
}

const deliveryOf = async (id: string) => (await own.deliveries(id))?.nodes[0]
const webhookOf = async (id: string) => (await own.list()).find((webhook) => webhook.id === id)

/** As if its time had come. */
const makeDue = (id: string) =>
  sale.db.update(webhookDeliveries).set({ dueAt: sql`now()` }).where(eq(webhookDeliveries.webhookId, id))

/** Seconds until it is tried again. */
async function pauseOf(id: string): Promise<number> {
  const [row] = await sale.db
    .select({ seconds: sql<number>`extract(epoch from ${webhookDeliveries.dueAt} - now())::float8` })
    .from(webhookDeliveries)
    .where(eq(webhookDeliveries.webhookId, id))
  return row?.seconds ?? Number.NaN
}

const verify = (secret: string, { body, headers }: Received) =>
  new Webhook(secret).verify(body, headers as Record<string, string>)

test('a change is sent in the form of Standard Webhooks, and its signature is good', async () => {
  const { id, secret, paymentId } = await told()
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
      ticket_rate_id: 'rate_1',
      status: 'paid',
      total_amount: 22,
      refunded: 0,
      currency: 'EUR',
    },
  })
  // It waited for no position in the feed.
  expect(await sale.db.$count(changes, isNotNull(changes.feedPosition))).toBe(0)
  expect(delivery).toMatchObject({
    status: 'delivered',
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

test('both secrets sign for a day after a rotation, then the new one alone', async () => {
  const { id, secret: old } = await told()
  const { secret: current = '' } = await own.call('rotateWebhookSecret', { id })
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

test('what fails is sent again by the schedule of the specification, and is dead after the tenth time', async () => {
  const { id } = await told()
  receiver.respondWith(500)
  for (const [tries, seconds] of [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].entries()) {
    await sendDueWebhooks(sale)
    expect(await deliveryOf(id)).toMatchObject({
      status: 'pending',
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
  expect(await deliveryOf(id)).toMatchObject({ status: 'dead', attempts: 10, nextAttemptAt: null })
  await makeDue(id)
  await sendDueWebhooks(sale)
  const got = receiver.take()
  expect(got).toHaveLength(10)
  expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
})

test('no two pauses are the same, so that what failed together does not come back together', async () => {
  const { id } = await told()
  for (let more = 0; more < 3; more++) await sell()
  // Before the longest pause of the schedule: a tenth of it has so many milliseconds that no two are alike by chance.
  await sale.db.update(webhookDeliveries).set({ attempts: 8 }).where(eq(webhookDeliveries.webhookId, id))
  receiver.respondWith(503)
  await sendDueWebhooks(sale)
  const due = (await own.deliveries(id))?.nodes.map(({ nextAttemptAt }) => nextAttemptAt)
  expect(new Set(due).size).toBe(4)
})

test('an answer of 410 disables the webhook, and what waits is sent once it is enabled', async () => {
  const { id } = await told()
  receiver.respondWith(410)
  await sendDueWebhooks(sale)
  expect(await webhookOf(id)).toMatchObject({ status: 'disabled', disabledReason: 'GONE' })
  expect(await deliveryOf(id)).toMatchObject({ status: 'pending', lastStatus: 410, lastError: 'GONE' })
  await sell()
  await makeDue(id)
  receiver.respondWith(200)
  await sendDueWebhooks(sale)
  expect(receiver.take()).toHaveLength(1)
  await own.call('enableWebhook', { id })
  expect(await webhookOf(id)).toMatchObject({ status: 'enabled', disabledReason: null, failingSince: null })
  await sendDueWebhooks(sale)
  expect(receiver.take()).toHaveLength(1)
  expect((await own.deliveries(id))?.nodes).toMatchObject([{ status: 'delivered', attempts: 2 }])
})

// Ten minutes from when the receiver answers.
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
])(
  'an answer of $status with $headers lets the webhook be for $pause seconds',
  async ({ pause, ...answer }) => {
    const { id } = await told()
    receiver.respondWith(answer.status, answer.headers)
    await sendDueWebhooks(sale)
    const planned = await pauseOf(id)
    expect(planned).toBeGreaterThan(pause - 10)
    expect(planned).toBeLessThan(pause * 1.1 + 1)
    // What comes next waits as well, although it was never tried.
    await sell()
    receiver.take()
    await sendDueWebhooks(sale)
    expect(receiver.take()).toEqual([])
    await sale.db.update(webhooks).set({ pausedUntil: sql`now()` }).where(eq(webhooks.id, id))
    await makeDue(id)
    receiver.respondWith(200)
    await sendDueWebhooks(sale)
    expect(receiver.take()).toHaveLength(2)
    expect(await webhookOf(id)).toMatchObject({ failingSince: null })
  },
)

test('where one is refused, the others are not sent into the same trouble', async () => {
  const { id } = await told()
  for (let count = 0; count < 9; count++) await sell()
  receiver.respondWith(429)
  await sendDueWebhooks(sale)
  // Those that were on their way together.
  expect(receiver.take()).toHaveLength(4)
  const attempts = (await own.deliveries(id))?.nodes.map(({ attempts }) => attempts)
  expect(attempts?.toSorted()).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
})

test('a webhook through to which nothing gets for five days is disabled, and its owner sees why', async () => {
  const { id } = await told()
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
  expect(await failFor(4.9)).toMatchObject({ status: 'enabled', disabledReason: null })
  expect(await failFor(5.1)).toMatchObject({ status: 'disabled', disabledReason: 'FAILING' })
})

test('a redirect is not followed', async () => {
  const { id } = await told()
  receiver.respondWith(307, { location: `${receiver.url}/elsewhere` })
  await sendDueWebhooks(sale)
  expect(receiver.take().map(({ path }) => path)).toEqual(['/hook'])
  expect(await deliveryOf(id)).toMatchObject({ status: 'pending', lastStatus: 307, lastError: 'REDIRECT' })
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
  'an answer of %s is waited for as long as is said and no longer',
  async (_name, respond) => {
    const { id } = await told()
    receiver.respondUsing(respond)
    const begun = performance.now()
    await sendDueWebhooks(sale, { timeoutSeconds: 0.3 })
    // The limit is ten seconds, where nothing else is said.
    expect(performance.now() - begun).toBeLessThan(9000)
    expect(await deliveryOf(id)).toMatchObject({ status: 'pending', lastStatus: null, lastError: 'TIMEOUT' })
  },
)

test('an answer without end is read no further than its status is worth', async () => {
  const { id } = await told()
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
  expect(await deliveryOf(id)).toMatchObject({ status: 'delivered', lastStatus: 200 })
  expect(written).toBeLessThan(50_000_000)
})

test('an answer with more headers than anybody reads is a failure', async () => {
  const { id } = await told()
  receiver.respondWith(200, { 'x-long': 'x'.repeat(100_000) })
  await sendDueWebhooks(sale)
  expect(await deliveryOf(id)).toMatchObject({ status: 'pending', lastError: 'HPE_HEADER_OVERFLOW' })
})

test('where nobody listens, the owner sees the code of the network', async () => {
  const gone = await startReceiver()
  gone.close()
  const { id } = await own.register(gone.url, ['PAYMENT_PAID'])
  await sell()
  await sendDueWebhooks(sale)
  expect(await deliveryOf(id)).toMatchObject({
    status: 'pending',
    lastStatus: null,
    lastError: 'ECONNREFUSED',
  })
})

test('a slow receiver holds up no other', async () => {
  const slow = await startReceiver()
  slow.respondUsing(() => {})
  await own.register(slow.url, ['PAYMENT_PAID'])
  await own.register(receiver.url, ['PAYMENT_PAID'])
  for (let count = 0; count < 6; count++) await sell()
  const stopping = new AbortController()
  const sending = sendDueWebhooks(sale, { stopping: stopping.signal })
  // Of the slow one a few at a time, and no more of it until these are done.
  await expect.poll(() => [receiver.received.length, slow.received.length]).toEqual([6, 4])
  stopping.abort()
  await sending
  slow.close()
})

test('a webhook through to which nothing gets is tried with one at a time', async () => {
  const { id } = await told()
  for (let count = 0; count < 3; count++) await sell()
  const open: ServerResponse[] = []
  const fail = () => {
    for (const response of open.splice(0)) response.writeHead(500).end()
  }
  receiver.respondUsing((response) => open.push(response))
  const sending = sendDueWebhooks(sale)
  await expect.poll(() => open.length).toBe(4)
  fail()
  await sending
  let most = 0
  receiver.respondUsing((response) => {
    most = Math.max(most, open.push(response))
    setTimeout(fail, 20)
  })
  await makeDue(id)
  await sendDueWebhooks(sale)
  expect(most).toBe(1)
  expect((await own.deliveries(id))?.nodes.map(({ attempts }) => attempts)).toEqual([2, 2, 2, 2])
})

test('what is on its way when the process stops, or was to be, is sent again by whoever takes it then', async () => {
  const { id } = await told()
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
  const untouched = { status: 'pending', attempts: 0, lastStatus: null, lastError: null }
  expect((await own.deliveries(id))?.nodes).toMatchObject(Array(6).fill(untouched))
  receiver.respondWith(200)
  receiver.take()
  await sendDueWebhooks(sale)
  expect(receiver.take()).toHaveLength(6)
  expect((await own.deliveries(id, { status: 'delivered' }))?.nodes).toHaveLength(6)
})

test('what a process took that died is sent by another, once its lease is over', async () => {
  const { id } = await told()
  await takeDeliveries(sale.db, { limit: 10, leaseSeconds: 60, except: [] })
  await sendDueWebhooks(sale)
  expect(receiver.take()).toEqual([])
  const lease = await pauseOf(id)
  expect(lease).toBeGreaterThan(30)
  expect(lease).toBeLessThanOrEqual(60)
  await makeDue(id)
  await sendDueWebhooks(sale)
  expect(receiver.take()).toHaveLength(1)
  expect(await deliveryOf(id)).toMatchObject({ status: 'delivered', attempts: 2 })
})

test('each process sends by itself, and ends while a receiver is still silent', async () => {
  const { id } = await told()
  const errors: unknown[] = []
  const senders = { email: null, whatsapp: null, onDead() {} }
  const options = { db: sale.db, provider: sandboxProvider, senders, privateWebhooks: true }
  const stop = startBackground(options, (error) => errors.push(error))
  await expect.poll(() => receiver.received.length).toBe(1)
  await expect.poll(async () => (await deliveryOf(id))?.status).toBe('delivered')
  // And what nobody reads has a position in the feed all the same.
  await expect.poll(() => sale.db.$count(changes, isNull(changes.feedPosition))).toBe(0)
  receiver.respondUsing(() => {})
  await sell()
  await expect.poll(() => receiver.received.length).toBe(2)
  await stop()
  // It was given back, and not waited for until its time was over.
  expect((await own.deliveries(id, { status: 'pending' }))?.nodes).toMatchObject([
    { attempts: 0, lastError: null },
  ])
  expect(errors).toEqual([])
})

test('a receiver can put in order what comes in any order', async () => {
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
    const of = bodies.filter(({ subject_id }) => subject_id === ticket)
    expect(of.toSorted((one, two) => one.sequence - two.sequence).map(({ type }) => type)).toEqual(types)
  }
})

test('what is on its way is asked for in one statement, and written down in one', async () => {
  await told()
  sale.statements.reset()
  const begun = performance.now()
  await sendDueWebhooks(sale)
  // What is taken, what became of it, and that there is no more. It asks for more as well each second that it waits.
  const seconds = Math.floor((performance.now() - begun) / 1000)
  const written = sale.statements.filter((text) => text.includes('jsonb_to_recordset'))
  expect(written).toHaveLength(1)
  const asked = sale.statements.length - written.length
  expect(asked).toBeGreaterThanOrEqual(2)
  expect(asked).toBeLessThanOrEqual(2 + seconds)
  sale.statements.reset()
  await sendDueWebhooks(sale)
  expect(sale.statements).toHaveLength(1)
})

test('where the setting allows it, a webhook may lead anywhere, but not with a password', async () => {
  const { id } = await own.register('http://localhost:8080/hook')
  expect(await webhookOf(id)).toMatchObject({ url: 'http://localhost:8080/hook' })
  expect(await own.refusal('registerWebhook', { url: 'http://user:pass@localhost/' })).toBe('INVALID url')
})
