import { eq, sql } from 'drizzle-orm'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { webhookDeliveries, webhooks } from '../../../src/domain/change/table.ts'
import { aRateOf, channelHeaders } from '../../support/factories.ts'
import { sharedSale } from '../../support/sale.ts'
import { buyTickets } from '../../support/tickets.ts'
import { sendDueWebhooks, startReceiver, webhooksOf } from '../../support/webhooks.ts'

// Management of webhooks by their caller.

let own: ReturnType<typeof webhooksOf>
let foreign: ReturnType<typeof webhooksOf>[]
const sale = sharedSale({ rates: [aRateOf(1000)] })
beforeAll(async () => {
  own = webhooksOf(sale)
  foreign = [webhooksOf(sale, await channelHeaders(sale.db)), webhooksOf(sale, sale.integration.v2)]
})
beforeEach(async () => {
  for (const { id } of await own.list()) await own.call('deleteWebhook', { webhookId: id })
})

const url = 'https://receiver.example/hook'

async function sell(count = 1) {
  for (let sold = 0; sold < count; sold++) await buyTickets(sale)
}

test('webhook is registered for all types, and its secret is shown once', async () => {
  const { webhook, secret = '' } = await own.call('registerWebhook', { url })
  expect(webhook).toMatchObject({ url, status: 'ENABLED', disabledReason: null, failingSince: null })
  expect(webhook?.types).toBeNull()
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  const listed = await own.list()
  expect(listed).toEqual([webhook])
  const { data } = await sale.graphql<{ __type: { fields: { name: string }[] } }>(
    '{ __type(name: "Webhook") { fields { name } } }',
    {},
    sale.channel,
  )
  expect(data?.__type.fields.map(({ name }) => name)).not.toContain('secret')
  for (const name of ['enableWebhook', 'disableWebhook', 'updateWebhook'] as const)
    expect(JSON.stringify(await own.call(name, { webhookId: webhook?.id }))).not.toContain(secret)
})

test('webhook rotation returns a new secret and the end of the old one', async () => {
  const { id, secret } = await own.register(url)
  const rotated = await own.call('rotateWebhookSecret', { webhookId: id })
  expect(rotated.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(rotated.secret).not.toBe(secret)
  const hours = (Date.parse(rotated.webhook?.previousSecretUntil ?? '') - Date.now()) / 3_600_000
  expect(hours).toBeCloseTo(24, 0)
})

test.each([
  ['http://receiver.example/', 'INVALID url'],
  ['ftp://receiver.example/', 'INVALID url'],
  ['receiver.example', 'INVALID url'],
  ['', 'INVALID url'],
  [`https://receiver.example/${'x'.repeat(2048)}`, 'INVALID url'],
  ['https://user@receiver.example/', 'INVALID url'],
  ['https://user:pass@receiver.example/', 'INVALID url'],
  ['https://127.0.0.1/', 'ADDRESS_NOT_ALLOWED url'],
  ['https://2130706433/', 'ADDRESS_NOT_ALLOWED url'],
  ['https://[::1]/', 'ADDRESS_NOT_ALLOWED url'],
  ['https://[::ffff:127.0.0.1]/', 'ADDRESS_NOT_ALLOWED url'],
  ['https://[64:ff9b::7f00:1]/', 'ADDRESS_NOT_ALLOWED url'],
  ['https://10.1.2.3/', 'ADDRESS_NOT_ALLOWED url'],
  ['https://100.64.0.1/', 'ADDRESS_NOT_ALLOWED url'],
  ['https://169.254.169.254/latest', 'ADDRESS_NOT_ALLOWED url'],
  ['https://0.0.0.0/', 'ADDRESS_NOT_ALLOWED url'],
  ['https://224.0.0.1/', 'ADDRESS_NOT_ALLOWED url'],
  ['https://localhost:8443/', 'ADDRESS_NOT_ALLOWED url'],
  ['https://api.localhost./', 'ADDRESS_NOT_ALLOWED url'],
  ...[
    'metadata.google.internal',
    'api.shop.svc',
    'api.svc.cluster.local',
    'printer.local.',
    'a.INTERNAL',
    ...[
      'foo.lan',
      'foo.home.arpa',
      'foo.lan.',
      'FOO.Lan',
      'foo.ｌａｎ',
      '1.0.0.10.in-addr.arpa',
      'foo.home',
      'foo.corp',
    ],
    ...['foo.mail', 'foo.intranet', 'foo.private', 'foo.localdomain', 'foo.test', 'foo.invalid', 'foo.alt'],
    'a2d4.onion',
  ].map((host) => [`https://${host}/`, 'ADDRESS_NOT_ALLOWED url']),
  ['https://receiver.example:22/', 'ADDRESS_NOT_ALLOWED url'],
  ['https://receiver.example:80/', 'ADDRESS_NOT_ALLOWED url'],
  ['https://receiver.example:1023/', 'ADDRESS_NOT_ALLOWED url'],
  ['https://receiver.example:0/', 'ADDRESS_NOT_ALLOWED url'],
  ['https://198.51.100.1:25/', 'ADDRESS_NOT_ALLOWED url'],
  ['https://intranet/', 'ADDRESS_NOT_ALLOWED url'],
  ['https://intranet./hook', 'ADDRESS_NOT_ALLOWED url'],
  ['https://com:8443/', 'ADDRESS_NOT_ALLOWED url'],
])('webhook URL %s is refused', async (url, refusal) => {
  expect(await own.refusal('registerWebhook', { url })).toBe(refusal)
})

test.each([
  'https://receiver.example:443/',
  'https://receiver.example:8443/',
  'https://a.b.',
  'https://internal.example/',
  'https://lan.home.example.com/',
  'https://a.homes/',
  'https://a.email/',
])('webhook URL %s is accepted', async (url) => {
  const { id } = await own.register(url)
  expect((await own.list()).map((webhook) => webhook.url)).toContain(new URL(url).href)
  await own.call('deleteWebhook', { webhookId: id })
})

test('webhook URL refused at registration is refused as an update', async () => {
  const { id } = await own.register(url)
  for (const [given, refusal] of [
    ['http://receiver.example/', 'INVALID url'],
    ['https://10.1.2.3/', 'ADDRESS_NOT_ALLOWED url'],
    ['https://receiver.example:22/', 'ADDRESS_NOT_ALLOWED url'],
    ['https://intranet/', 'ADDRESS_NOT_ALLOWED url'],
  ])
    expect(await own.refusal('updateWebhook', { webhookId: id, url: given })).toBe(refusal)
  expect((await own.list()).map(({ url }) => url)).toEqual([url])
})

test('webhook with no types or an unknown one is refused', async () => {
  expect(await own.refusal('registerWebhook', { url, types: [] })).toBe('INVALID types')
  const { id } = await own.register(url)
  expect(await own.refusal('updateWebhook', { webhookId: id, types: [] })).toBe('INVALID types')
  const unknown = await sale.graphql(
    `mutation { registerWebhook(input: { url: "${url}", types: [EVERYTHING], idempotencyKey: "once" }) { __typename } }`,
    {},
    sale.channel,
  )
  expect(unknown.errors).toMatchObject([{ extensions: { code: 'BAD_REQUEST' } }])
})

test('webhook limit: the eleventh is refused, also if all come at once', async () => {
  const results = await Promise.all(Array.from({ length: 12 }, () => own.call('registerWebhook', { url })))
  expect(results.filter(({ webhook }) => webhook)).toHaveLength(10)
  const refused = results.flatMap(({ errors }) => errors ?? [])
  expect(refused).toEqual([
    { code: 'TOO_MANY_WEBHOOKS', path: null, max: 10, message: expect.stringContaining('10') },
    { code: 'TOO_MANY_WEBHOOKS', path: null, max: 10, message: expect.stringContaining('10') },
  ])
  const [first] = await own.list()
  await own.call('deleteWebhook', { webhookId: first?.id })
  await own.register(url)
})

test('webhook of another caller is answered like an absent one', async () => {
  const { id } = await own.register(url)
  await sell()
  const [delivery] = (await own.deliveries(id))?.nodes ?? []
  const changeId = delivery?.change.id
  const before = await sale.db.select().from(webhooks)
  for (const other of foreign) {
    for (const name of [
      'updateWebhook',
      'enableWebhook',
      'disableWebhook',
      'rotateWebhookSecret',
      'deleteWebhook',
    ] as const)
      for (const asked of [id, 'whk_none', '', 'x\0', 'ñ'])
        expect(
          await other.refusal(name, { webhookId: asked, ...(name === 'updateWebhook' && { url }) }),
        ).toBe('NOT_FOUND webhookId')
    for (const asked of [id, 'whk_none', 'x\0'])
      expect(await other.refusal('redeliverWebhook', { webhookId: asked, changeId })).toBe(
        'NOT_FOUND webhookId',
      )
    expect(await other.deliveries(id)).toBeNull()
    expect(await other.list()).toEqual([])
  }
  expect(await sale.db.select().from(webhooks)).toEqual(before)
})

test('webhooks without credentials are refused', async () => {
  for (const query of [
    '{ webhooks { id } }',
    `mutation { registerWebhook(input: { url: "${url}", idempotencyKey: "once" }) { __typename } }`,
    'mutation { deleteWebhook(input: { webhookId: "whk_1" }) { __typename } }',
  ])
    expect((await sale.graphql(query)).errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }])
})

test('webhook of an integration is visible by either of its credentials', async () => {
  const byKey = webhooksOf(sale, sale.integration.v2)
  const { id } = await byKey.register(url)
  expect(await webhooksOf(sale, sale.integration.v1).list()).toMatchObject([{ id }])
  expect(await own.list()).toEqual([])
  expect(await byKey.call('deleteWebhook', { webhookId: id })).toEqual({ webhookId: id })
  expect(await byKey.list()).toEqual([])
})

test('webhook deliveries are listed by page, newest first, and by status', async () => {
  const { id } = await own.register(url, ['PAYMENT_PAID'])
  await sell(5)
  const all = (await own.deliveries(id))?.nodes.map(({ change }) => change.id) ?? []
  expect(all).toHaveLength(5)
  expect(all).toEqual(all.toSorted().reverse())
  const paged: string[] = []
  let after: string | undefined
  for (;;) {
    const page = await own.deliveries(id, { first: 2, after })
    expect(page?.pageInfo.hasPreviousPage).toBe(after !== undefined)
    paged.push(...(page?.nodes.map(({ change }) => change.id) ?? []))
    if (!page?.pageInfo.hasNextPage) break
    after = page.pageInfo.endCursor ?? undefined
  }
  expect(paged).toEqual(all)
  await sale.db
    .update(webhookDeliveries)
    .set({ status: 'dead' })
    .where(eq(webhookDeliveries.changeId, all[1] ?? ''))
  const dead = await own.deliveries(id, { status: 'DEAD' })
  expect(dead?.nodes.map(({ change }) => change.id)).toEqual([all[1]])
  expect((await own.deliveries(id, { status: 'PENDING' }))?.nodes).toHaveLength(4)
  expect((await own.deliveries(id, { status: 'DELIVERED' }))?.nodes).toEqual([])
  for (const more of [{ first: 0 }, { first: 101 }, { after: 'x' }, { after: 'Y2hnX3gA' }]) {
    const { data, errors } = await sale.graphql(
      `query ($id: ID!, $first: Int! = 50, $after: String) {
        node(id: $id) { id ... on Webhook { deliveries(first: $first, after: $after) { nodes { status } } } } }`,
      { id, ...more },
      sale.channel,
    )
    expect(errors).toMatchObject([{ extensions: { code: 'INVALID' } }])
    expect(data).toEqual({ node: { id, deliveries: null } })
  }
})

test('webhook deliveries of several webhooks take one statement, whatever page of each is asked for', async () => {
  const [one, other] = [await own.register(url, ['PAYMENT_PAID']), await own.register(url)]
  await sell(3)
  const query = `{ webhooks { id deliveries(first: 1) { nodes { change { type } } pageInfo { hasNextPage } }
    dead: deliveries(status: DEAD) { nodes { status } } } }`
  sale.statements.reset()
  const { data } = await sale.graphql(query, {}, sale.channel)
  const page = (type: string) => ({ nodes: [{ change: { type } }], pageInfo: { hasNextPage: true } })
  expect(data).toEqual({
    webhooks: [
      { id: one.id, deliveries: page('PAYMENT_PAID'), dead: { nodes: [] } },
      { id: other.id, deliveries: page('TICKET_ACTIVATED'), dead: { nodes: [] } },
    ],
  })
  expect(sale.statements.filter((text) => text.includes('from "webhook_deliveries"'))).toHaveLength(1)
})

test('webhook update keeps what is omitted; null means all types, and is no URL', async () => {
  const { id } = await own.register(url, ['PAYMENT_PAID'])
  const moved = 'https://moved.example/'
  expect((await own.call('updateWebhook', { webhookId: id, url: moved })).webhook?.types).toEqual([
    'PAYMENT_PAID',
  ])
  const { webhook } = await own.call('updateWebhook', { webhookId: id, types: null })
  expect(webhook).toMatchObject({ url: moved, types: null })
  expect((await own.call('updateWebhook', { webhookId: id })).webhook).toEqual(webhook)
  expect(await own.refusal('updateWebhook', { webhookId: id, url: null })).toBe('INVALID url')
  await sell()
  const types = (await own.deliveries(id))?.nodes.map(({ change }) => change.type)
  expect(types?.toSorted()).toEqual(['PAYMENT_PAID', 'TICKET_ACTIVATED'])
})

/** Moves the day in which a secret is shown again into the past. */
const endReplays = () =>
  sale.db.update(webhooks).set({
    createdAt: sql`${webhooks.createdAt} - interval '1 day'`,
    previousSecretUntil: sql`${webhooks.previousSecretUntil} - interval '1 day'`,
  })

test('webhook registered twice under one idempotency key is one, with its secret, for a day', async () => {
  const input = { url, types: ['PAYMENT_PAID'], idempotencyKey: 'once' }
  const answers = await Promise.all(Array.from({ length: 5 }, () => own.call('registerWebhook', input)))
  const { webhook, secret } = answers[0] ?? {}
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1)
  for (const answer of answers) expect(answer).toMatchObject({ webhook, secret })
  expect(await own.list()).toEqual([webhook])
  for (const other of [{ url: `${url}/b` }, { types: null }, { types: ['TICKET_ACTIVATED'] }])
    expect(await own.refusal('registerWebhook', { ...input, ...other })).toBe(
      'IDEMPOTENCY_KEY_REUSED idempotencyKey',
    )
  // Keys are the caller's own.
  for (const other of foreign) {
    const { replayed, ...made } = await other.call('registerWebhook', input)
    expect([replayed, made.webhook?.id === webhook?.id, made.secret === secret]).toEqual([
      false,
      false,
      false,
    ])
    await other.call('deleteWebhook', { webhookId: made.webhook?.id })
  }
  // A replay is no eleventh webhook.
  for (let count = 1; count < 10; count++) await own.register(url)
  expect(await own.call('registerWebhook', input)).toEqual({ webhook, secret, replayed: true })
  expect(await own.refusal('registerWebhook', { ...input, idempotencyKey: 'other' })).toBe(
    'TOO_MANY_WEBHOOKS',
  )
  expect(await own.refusal('registerWebhook', { ...input, idempotencyKey: 'a b' })).toBe(
    'INVALID idempotencyKey',
  )
  await endReplays()
  expect(await own.refusal('registerWebhook', input)).toBe('TOO_MANY_WEBHOOKS')
})

test('webhook rotated twice under one idempotency key has one new secret, until it is rotated again', async () => {
  const [{ id, secret: old }, { id: other }] = [await own.register(url), await own.register(url)]
  const input = { webhookId: id, idempotencyKey: 'rotate' }
  const answers = await Promise.all(Array.from({ length: 5 }, () => own.call('rotateWebhookSecret', input)))
  const [{ secret } = {}] = answers
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1)
  expect(new Set(answers.map(({ secret }) => secret))).toEqual(new Set([secret]))
  const rowOf = async () => (await sale.db.select().from(webhooks).where(eq(webhooks.id, id)))[0]
  expect(await rowOf()).toMatchObject({ secret, previousSecret: old })
  expect(await own.refusal('rotateWebhookSecret', { ...input, webhookId: other })).toBe(
    'IDEMPOTENCY_KEY_REUSED idempotencyKey',
  )
  const next = await own.call('rotateWebhookSecret', { webhookId: id })
  expect(await rowOf()).toMatchObject({ secret: next.secret, previousSecret: secret })
  const late = await own.call('rotateWebhookSecret', input)
  expect([late.replayed, late.secret === secret]).toEqual([false, false])
  await endReplays()
  expect((await own.call('rotateWebhookSecret', input)).replayed).toBe(false)
})

test('webhook can be disabled and enabled; once deleted it is gone', async () => {
  const { id } = await own.register(url)
  expect((await own.call('disableWebhook', { webhookId: id })).webhook).toMatchObject({
    status: 'DISABLED',
    disabledReason: 'REQUESTED',
  })
  for (let again = 0; again < 2; again++)
    expect((await own.call('enableWebhook', { webhookId: id })).webhook).toMatchObject({
      status: 'ENABLED',
      disabledReason: null,
    })
  expect(await own.call('deleteWebhook', { webhookId: id })).toEqual({ webhookId: id })
  expect(await own.list()).toEqual([])
  expect(await own.deliveries(id)).toBeNull()
  expect(await own.refusal('enableWebhook', { webhookId: id })).toBe('NOT_FOUND webhookId')
  expect(await own.refusal('deleteWebhook', { webhookId: id })).toBe('NOT_FOUND webhookId')
})

// Registered under a public URL, then moved to a receiver on this machine: tests send nothing to others.
async function withReceiver() {
  const receiver = await startReceiver()
  const { id } = await own.register(url, ['PAYMENT_PAID'])
  await sale.db.update(webhooks).set({ url: receiver.url }).where(eq(webhooks.id, id))
  await sell()
  return { receiver, id }
}

test('webhook disabled or deleted is sent nothing more, queued deliveries included', async () => {
  for (const name of ['disableWebhook', 'deleteWebhook'] as const) {
    const { receiver, id } = await withReceiver()
    await own.call(name, { webhookId: id })
    await sendDueWebhooks(sale)
    expect(receiver.take()).toEqual([])
    receiver.close()
  }
  const [forgotten] = await sale.db.select().from(webhooks).where(eq(webhooks.status, 'deleted')).limit(1)
  expect(forgotten).toMatchObject({ secret: '', previousSecret: null })
  const left = sql`${webhooks.status} = 'deleted' and ${webhookDeliveries.status} = 'pending'`
  const [row] = await sale.db
    .select({ count: sql<number>`count(*)::integer` })
    .from(webhookDeliveries)
    .innerJoin(webhooks, eq(webhooks.id, webhookDeliveries.webhookId))
    .where(left)
  expect(row?.count).toBe(0)
})

test('webhook deleted while a sale is queued for it does not fail the sale', async () => {
  const { receiver, id } = await withReceiver()
  await own.call('deleteWebhook', { webhookId: id })
  const [delivery] = await sale.db.select().from(webhookDeliveries).where(eq(webhookDeliveries.webhookId, id))
  // Queues as a transaction would that read the webhook before it was deleted.
  await sale.db.delete(webhookDeliveries).where(eq(webhookDeliveries.webhookId, id))
  await sale.db
    .insert(webhookDeliveries)
    .values({ organizationId: 'org_1', webhookId: id, changeId: delivery?.changeId ?? '' })
  await sendDueWebhooks(sale)
  expect(receiver.take()).toEqual([])
  receiver.close()
})

test.each([{ status: 200 }, { status: 500 }])(
  'webhook delivery answered with $status can be repeated on demand',
  async ({ status }) => {
    const { receiver, id } = await withReceiver()
    receiver.respondWith(status)
    await sendDueWebhooks(sale)
    const [before] = (await own.deliveries(id))?.nodes ?? []
    const asked = { webhookId: id, changeId: before?.change.id }
    receiver.respondWith(200)
    for (let again = 0; again < 2; again++) {
      const { delivery } = await own.call('redeliverWebhook', asked)
      expect(delivery).toMatchObject({ status: 'PENDING', attempts: 0, deliveredAt: null })
      await sendDueWebhooks(sale)
    }
    const got = receiver.take()
    expect(got.map(({ headers }) => headers['webhook-id'])).toEqual(Array(3).fill(before?.change.id))
    expect((await own.deliveries(id))?.nodes).toMatchObject([{ status: 'DELIVERED', attempts: 1 }])
    receiver.close()
  },
)

test('webhook delivery never queued, or of a disabled webhook, cannot be repeated', async () => {
  const { receiver, id } = await withReceiver()
  const [delivery] = (await own.deliveries(id))?.nodes ?? []
  const { id: other } = await own.register(url)
  for (const changeId of [delivery?.change.id, 'chg_none', 'x\0'])
    expect(await own.refusal('redeliverWebhook', { webhookId: other, changeId })).toBe('NOT_FOUND changeId')
  await own.call('disableWebhook', { webhookId: id })
  const { errors } = await own.call('redeliverWebhook', { webhookId: id, changeId: delivery?.change.id })
  expect(errors).toEqual([
    { code: 'ILLEGAL_TRANSITION', path: 'webhookId', message: expect.stringContaining('disabled') },
  ])
  receiver.close()
})

test('webhook with a new URL receives at once what waited for the old one', async () => {
  const { receiver, id } = await withReceiver()
  receiver.respondWith(500)
  await sendDueWebhooks(sale)
  receiver.respondWith(200)
  await sendDueWebhooks(sale)
  expect(receiver.take()).toHaveLength(1)
  const { webhook } = await own.call('updateWebhook', { webhookId: id, url: 'https://new.example/hook#part' })
  expect(webhook).toMatchObject({ url: 'https://new.example/hook', failingSince: null })
  await sale.db.update(webhooks).set({ url: receiver.url }).where(eq(webhooks.id, id))
  await sendDueWebhooks(sale)
  expect(receiver.take()).toHaveLength(1)
  receiver.close()
})

test.each([
  ['a name of this machine', 'http://localhost'],
  ['127.0.0.1', 'http://127.0.0.1'],
  ['[::1]', 'http://[::1]'],
  ['[::ffff:127.0.0.1]', 'http://[::ffff:127.0.0.1]'],
  ['10.x', 'http://10.0.0.1'],
  ['169.254.169.254', 'http://169.254.169.254'],
])('webhook to %s is never sent, whatever is registered', async (_name, origin) => {
  const { receiver, id } = await withReceiver()
  await sale.db
    .update(webhooks)
    .set({ url: `${origin}:${receiver.port}` })
    .where(eq(webhooks.id, id))
  await sendDueWebhooks(sale, { privateWebhooks: false })
  expect(receiver.take()).toEqual([])
  expect((await own.deliveries(id))?.nodes).toMatchObject([
    { status: 'PENDING', attempts: 1, lastStatus: null, lastError: 'ADDRESS_NOT_ALLOWED' },
  ])
  receiver.close()
})
