import type { IncomingMessage, ServerResponse } from 'node:http'
import { sql } from 'drizzle-orm'
import { describe, expect, onTestFinished, test } from 'vitest'
import { changeGrant } from '../../../src/domain/caller/change-grant.ts'
import { issueChannelKey } from '../../../src/domain/caller/issue-key.ts'
import { revokeKey } from '../../../src/domain/caller/revoke-key.ts'
import { aCatalogueOfTwo } from '../../support/factories.ts'
import { leftIn, openStream, subscribe, watchRates } from '../../support/live.ts'
import { sharedSale } from '../../support/sale.ts'
import { holdTickets } from '../../support/tickets.ts'

const sale = sharedSale(aCatalogueOfTwo(1_000), {
  listen: true,
  settings: {
    STREAMS_PER_KEY: '4',
    FEED_STREAMS_PER_KEY: '2',
    STREAMS_PER_ADDRESS: '12',
    CORS_ORIGINS: 'https://shop.example',
  },
})

const rates = 'subscription { ticketRates(of: { ids: ["rate_1"] }) { availability { available } } }'

async function newChannel(...organizationIds: string[]) {
  const issued = await issueChannelKey(sale.db, { name: 'Shop', organizationIds, mode: 'live' })
  return { ...issued, headers: { 'x-api-key': issued.key } }
}

const post = (query: string, headers: Record<string, string>, signal?: AbortSignal) =>
  fetch(`${sale.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...sale.channel, ...headers },
    body: JSON.stringify({ query }),
    signal: signal ?? null,
  })
const codeOf = async (response: Response) =>
  ((await response.json()) as { errors: { extensions: { code: string; path?: string } }[] }).errors[0]
    ?.extensions

describe('the protocol', () => {
  test('a query is answered by one event and the end', async () => {
    const response = await post('{ events { totalCount } }', { accept: 'text/event-stream' })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(await response.text()).toBe(
      'event: next\ndata: {"data":{"events":{"totalCount":2}}}\n\nevent: complete\ndata:\n\n',
    )
  })

  test('a query of a client that accepts JSON as well is answered as JSON', async () => {
    const accept = 'text/event-stream, application/json;q=0.5'
    const response = await post('{ events { totalCount } }', { accept })
    expect(response.headers.get('content-type')).toContain('application/json')
  })

  test('errors of a document are an event, because the client expects a stream', async () => {
    const response = await post('subscription { nothing }', { accept: 'text/event-stream' })
    expect(response.status).toBe(200)
    expect(await response.text()).toMatch(
      /^event: next\ndata: \{"errors":\[.*BAD_REQUEST.*\n\nevent: complete\n/,
    )
  })

  test.each(['application/json', '*/*', 'application/graphql-response+json'])(
    'a subscription is refused as %s',
    async (accept) => {
      const response = await post(rates, { accept })
      expect(response.status).toBe(406)
      expect(await codeOf(response)).toMatchObject({ code: 'NOT_ACCEPTABLE' })
    },
  )

  test('a subscription may come by GET, a mutation may not', async () => {
    const get = (query: string) => {
      const controller = new AbortController()
      onTestFinished(() => controller.abort())
      return fetch(`${sale.url}/graphql?${new URLSearchParams({ query })}`, {
        headers: { accept: 'text/event-stream', ...sale.channel, origin: 'https://shop.example' },
        signal: controller.signal,
      })
    }
    const stream = await get(rates)
    expect(stream.status).toBe(200)
    expect(stream.headers.get('access-control-allow-origin')).toBe('https://shop.example')
    expect(stream.headers.get('x-request-id')).toBeTruthy()
    const mutation = await get('mutation { cancelTickets(input: { of: { ticketId: "x" } }) { __typename } }')
    expect(await mutation.text()).toContain('METHOD_NOT_ALLOWED')
  })

  test.each([
    ['no credentials', { 'x-api-key': '' }],
    ['an unknown key', { 'x-api-key': `box_live_${'a'.repeat(60)}` }],
  ])('%s: 401', async (_what, headers) => {
    const response = await post(rates, { accept: 'text/event-stream', ...headers })
    expect(response.status).toBe(401)
    expect(await codeOf(response)).toMatchObject({ code: 'UNAUTHENTICATED' })
  })

  test.each([
    [
      'cost',
      `subscription { checkIns(eventId: "x") { node { ticket { event { ${'ticketRates { event { '.repeat(4)} id ${'} }'.repeat(4)} } } } } }`,
    ],
    [
      'aliases',
      `subscription { ticketRates(of: { ids: ["rate_1"] }) { ${Array.from({ length: 31 }, (_, n) => `a${n}: status`).join(' ')} } }`,
    ],
    ['tokens', `subscription { ticketRates(of: { ids: ["rate_1"] }) { ${'status '.repeat(2_000)} } }`],
  ])('the limit of %s holds', async (_what, query) => {
    const response = await post(query, { accept: 'text/event-stream' })
    expect(await response.text()).toContain('QUERY_TOO_COMPLEX')
  })

  test.each([
    ['always left out', 'subscription { changes(from: { at: OLDEST }) @skip(if: true) { cursor } }'],
    [
      'sometimes left out',
      'subscription ($no: Boolean!) { changes(from: { at: OLDEST }) @include(if: $no) { cursor } }',
    ],
    [
      'left out by a fragment',
      'subscription { ...F @skip(if: true) } fragment F on Subscription { changes(from: { at: OLDEST }) { cursor } }',
    ],
    [
      'left out in a fragment',
      'subscription { ... on Subscription { changes(from: { at: OLDEST }) @skip(if: true) { cursor } } }',
    ],
  ])('a field that is %s is refused', async (_what, query) => {
    const response = await fetch(`${sale.url}/graphql`, {
      method: 'POST',
      headers: { ...sale.channel, accept: 'text/event-stream', 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables: { no: false } }),
    })
    const text = await response.text()
    expect(text).toContain('remove @skip and @include')
    expect(text).toContain('"code":"BAD_REQUEST"')
  })

  test('variables are checked', async () => {
    const refused = subscribe(sale.url, sale.channel, {
      query: 'subscription ($ids: [ID!]!) { ticketRates(of: { ids: $ids }) { status } }',
      variables: { ids: [{}] },
    })
    await expect.poll(refused.isComplete).toBe(true)
    expect(refused.errors).toMatchObject([{ code: 'BAD_REQUEST', path: expect.stringMatching(/^ids/) }])
  })
})

describe('rights', () => {
  test('a stream ends with its key', async () => {
    const { key, headers } = await newChannel('org_1')
    const watched = watchRates(sale.url, headers, 'rate_1')
    await watched.until(() => true)
    await revokeKey(sale.db, key)
    await expect.poll(watched.isComplete).toBe(true)
    expect(watched.errors).toEqual([{ code: 'UNAUTHENTICATED', path: 'x-api-key' }])
  })

  test('a stream ends with the grant that it needs, and no other', async () => {
    const { channelId, headers } = await newChannel('org_1', 'org_2')
    const [first, second] = ['rate_1', 'rate_2'].map((rate) => watchRates(sale.url, headers, rate))
    await Promise.all([first?.until(() => true), second?.until(() => true)])
    await changeGrant(sale.db, { channelId, organizationId: 'org_2', granted: false })
    await expect.poll(() => second?.isComplete()).toBe(true)
    expect(second?.errors).toEqual([{ code: 'NOT_FOUND', path: 'of.ids.0' }])
    const leftNow = () => first?.received.map(leftIn).at(-1)
    const left = leftNow() ?? 0
    await holdTickets(sale)
    await expect.poll(leftNow).toBe(left - 1)
    expect(first?.isComplete()).toBe(false)
  })
})

test('subscribers of the same operation share its statements', async () => {
  const { headers } = await newChannel('org_2')
  await watchRates(sale.url, headers, 'rate_2').until(() => true)
  sale.statements.reset()
  const others = Array.from({ length: 3 }, () => watchRates(sale.url, headers, 'rate_2'))
  await Promise.all(others.map((other) => other.until(() => true)))
  expect(sale.statements.filter((text) => text.includes('from "prices"')).length).toBeLessThanOrEqual(3)
})

describe('limits', () => {
  const isOpenedAgain = (headers: Record<string, string>, query: string) =>
    expect
      .poll(async () => {
        const again = await openStream(sale.url, headers, { query })
        again.close()
        return again.response.status
      })
      .toBe(200)

  test('streams of a key, and of an address; those that are over count no more', async () => {
    const keys = await Promise.all(Array.from({ length: 4 }, () => newChannel('org_1')))
    const [{ headers = {} } = {}, ...others] = keys
    const open = (given: Record<string, string>) => openStream(sale.url, given, { query: rates })
    const ofKey = await Promise.all(Array.from({ length: 4 }, () => open(headers)))
    const refused = await open(headers)
    expect(refused.response.status).toBe(429)
    expect(refused.response.headers.get('retry-after')).toBe('5')
    await expect.poll(refused.text).toContain('"path":"x-api-key"')
    const more = await Promise.all(
      others.flatMap((other) => Array.from({ length: 4 }, () => open(other.headers))),
    )
    const tooMany = more.filter(({ response }) => response.status === 429)
    await expect.poll(() => tooMany[0]?.text()).toContain('"path":"address"')
    for (const stream of [...ofKey, ...more]) stream.close()
    await isOpenedAgain(headers, rates)
  })

  describe('a client that leaves while its stream is opened', () => {
    // Two such clients: a table that their source reads is locked until the gateway knows that they have left.
    async function leaveEarly(
      table: 'changes' | 'stock',
      query: string,
      headers: Record<string, string>,
      meanwhile = async () => {},
    ) {
      const { server } = sale.app
      let left = 0
      const countLeaving = (_request: IncomingMessage, response: ServerResponse) =>
        response.once('close', () => left++)
      server.on('request', countLeaving)
      await sale.db.transaction(async (tx) => {
        await tx.execute(sql`lock table ${sql.identifier(table)} in access exclusive mode`)
        const controller = new AbortController()
        const open = () => post(query, { accept: 'text/event-stream', ...headers }, controller.signal)
        sale.statements.reset()
        const answers = [open(), open()]
        await hasRead(table)
        await meanwhile()
        controller.abort()
        await Promise.allSettled(answers)
        await expect.poll(() => left).toBe(2)
      })
      server.off('request', countLeaving)
    }

    const hasRead = (table: string) =>
      expect.poll(() => sale.statements.some((text) => text.includes(`"${table}"`))).toBe(true)

    test('takes no place among the streams of its key', async () => {
      const { headers } = await newChannel('org_1')
      const query = 'subscription { changes(from: { at: OLDEST }) { cursor } }'
      await leaveEarly('changes', query, headers)
      await isOpenedAgain(headers, query)
    })

    test('leaves the source to the others', async () => {
      const { headers } = await newChannel('org_1')
      let staying: ReturnType<typeof openStream> | undefined
      await leaveEarly('stock', rates, headers, async () => {
        sale.statements.reset()
        staying = openStream(sale.url, headers, { query: rates })
        await hasRead('keys')
      })
      const stream = await staying
      await expect.poll(() => stream?.text()).toContain('event: next')
      expect(stream?.isOver()).toBe(false)
      const before = stream?.text()
      await holdTickets(sale)
      await expect.poll(() => stream?.text()).not.toBe(before)
    })
  })

  test('streams of changes and check-ins of a key; those of rates are not among them', async () => {
    const { headers } = await newChannel('org_1')
    const open = (query: string) => openStream(sale.url, headers, { query })
    const feed = 'subscription { changes(from: { at: OLDEST }) { cursor } }'
    const feeds = await Promise.all([open(feed), open(feed)])
    const refused = await open(feed)
    expect(refused.response.status).toBe(429)
    await expect.poll(refused.text).toContain('"path":"x-api-key"')
    const ofRates = await open(rates)
    expect(ofRates.response.status).toBe(200)
    for (const stream of [...feeds, ofRates]) stream.close()
  })
})
