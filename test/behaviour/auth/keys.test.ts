import { eq, sql } from 'drizzle-orm'
import { beforeAll, expect, test } from 'vitest'
import { newApiKey } from '../../../src/domain/caller/api-key.ts'
import { changeGrant } from '../../../src/domain/caller/change-grant.ts'
import { issueChannelKey, issueIntegrationKey } from '../../../src/domain/caller/issue-key.ts'
import { revokeKey } from '../../../src/domain/caller/revoke-key.ts'
import { keys } from '../../../src/domain/caller/table.ts'
import { anEntry, checkOut } from '../../support/checkouts.ts'
import {
  anEvent,
  anOrganization,
  aRateNamed,
  channelHeaders,
  integrationHeaders,
} from '../../support/factories.ts'
import { graphqlRefusal, refusal } from '../../support/refusals.ts'
import { sharedSale } from '../../support/sale.ts'

const event = (organization: string) =>
  anEvent({
    organization_id: `org_${organization}`,
    location_id: null,
    ticket_rates: [aRateNamed(organization)],
  })

/** Ticket ids by organization. */
let tickets: Record<string, string>
const sale = sharedSale({
  organizations: [anOrganization(), anOrganization({ _id: 'org_2', name: 'Other' })],
  events: [event('1'), event('2')],
})
beforeAll(async () => {
  const ticketOf = async (organization: string) => {
    const body = { ticket_rate_id: `rate_${organization}`, tickets: [anEntry(`price_${organization}`)] }
    return (await checkOut(sale, body)).json().data.tickets[0]._id
  }
  tickets = { org_1: await ticketOf('1'), org_2: await ticketOf('2') }
})

type Headers = Record<string, string>

const list = (headers: Headers) => sale.rest('GET', '/events', { headers })
const lookUp = (headers: Headers, organization = 'org_1') =>
  sale.rest('GET', `/integrations/tickets/${tickets[organization]}`, { headers })
const buy = (headers: Headers) =>
  sale.rest('POST', '/tickets/checkout', {
    headers,
    body: { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] },
  })
const ask = (headers: Headers) =>
  sale.rest('POST', '/graphql', { headers, body: { query: '{ events { nodes { id } } }' } })

const quote = (headers: Headers) =>
  sale.rest('POST', '/graphql', {
    headers,
    body: { query: '{ quoteCheckout(input: { items: [] }) { __typename } }' },
  })

const flipCharacter = (text: string, at: number) =>
  `${text.slice(0, at)}${text[at] === 'a' ? 'b' : 'a'}${text.slice(at + 1)}`
const keyOf = (headers: Headers) => headers['x-api-key'] ?? ''
const countStatements = async <T>(run: () => Promise<T>): Promise<[T, number]> => {
  sale.statements.reset()
  return [await run(), sale.statements.length]
}

test.each<[what: string, key: () => string]>([
  ['empty', () => ''],
  ['a word', () => 'secret'],
  ['cut off', () => keyOf(sale.channel).slice(0, -1)],
  ['too long', () => `${keyOf(sale.channel)}a`],
  ['mistyped in its secret', () => flipCharacter(keyOf(sale.channel), 40)],
  ['mistyped in its checksum', () => flipCharacter(keyOf(sale.channel), keyOf(sale.channel).length - 1)],
  ['mistyped in its public part', () => flipCharacter(keyOf(sale.channel), 12)],
  ['of another mode', () => keyOf(sale.channel).replace('_live_', '_test_')],
  ['in capitals', () => keyOf(sale.channel).toUpperCase()],
  ['quoted', () => `"${keyOf(sale.channel)}"`],
  ['prefixed with a scheme', () => `Bearer ${keyOf(sale.channel)}`],
  ['sent twice', () => `${keyOf(sale.channel)}, ${keyOf(sale.channel)}`],
  ['SQL', () => "' or ''='"],
  ['far too long', () => 'box_test_'.repeat(1000)],
])('a malformed key, %s, is refused without SQL', async (_what, key) => {
  const headers = { 'x-api-key': key() }
  for (const call of [list, lookUp, buy]) {
    const [answer, statements] = await countStatements(() => call(headers))
    expect([refusal(answer), statements]).toEqual(['401 UNAUTHENTICATED x-api-key', 0])
  }
  const [answer, statements] = await countStatements(() => ask(headers))
  expect([graphqlRefusal(answer), statements]).toEqual(['401 UNAUTHENTICATED x-api-key', 0])
})

const issueKey = async (mode: 'live' | 'test' = 'live') => {
  const { key } = await issueChannelKey(sale.db, { name: 'Shop', organizationIds: ['org_1'], mode })
  return { headers: { 'x-api-key': key }, id: key.split('_')[2] ?? '' }
}

test.each<[what: string, headers: () => Promise<Headers>]>([
  ['never issued', async () => ({ 'x-api-key': newApiKey('test').key })],
  [
    'with the public part of a valid one',
    async () => {
      const { id } = await issueKey()
      const { id: other, key } = newApiKey('test')
      await sale.db.update(keys).set({ id: other }).where(eq(keys.id, id))
      return { 'x-api-key': key }
    },
  ],
  [
    'issued for the other mode',
    async () => {
      const { headers, id } = await issueKey()
      await sale.db.update(keys).set({ mode: 'test' }).where(eq(keys.id, id))
      return headers
    },
  ],
  [
    'expired by the clock of the database',
    async () => {
      const { headers, id } = await issueKey()
      await sale.db.update(keys).set({ expiresAt: sql`now()` }).where(eq(keys.id, id))
      return headers
    },
  ],
  [
    'that is revoked',
    async () => {
      const { headers, id } = await issueKey('live')
      await revokeKey(sale.db, id)
      return headers
    },
  ],
  [
    'of a revoked integration',
    async () => {
      const { integrationId, key } = await issueIntegrationKey(sale.db, {
        name: 'Door',
        organizationId: 'org_1',
        mode: 'live',
      })
      await revokeKey(sale.db, integrationId)
      return { 'x-api-key': key }
    },
  ],
])('a key %s is refused everywhere', async (_what, headersOf) => {
  const headers = await headersOf()
  for (const call of [list, lookUp, buy])
    expect(refusal(await call(headers))).toBe('401 UNAUTHENTICATED x-api-key')
  expect(graphqlRefusal(await ask(headers))).toBe('401 UNAUTHENTICATED x-api-key')
})

test('requests without credentials are refused without SQL', async () => {
  for (const call of [list, lookUp, buy]) {
    const [answer, statements] = await countStatements(() => call({}))
    expect([refusal(answer), statements]).toEqual(['401 UNAUTHENTICATED', 0])
  }
})

test('a key of the wrong kind is refused before any other error', async () => {
  const { v1, v2 } = sale.integration
  expect(refusal(await lookUp(sale.channel))).toBe('403 FORBIDDEN')
  for (const headers of [v1, v2]) {
    expect(refusal(await buy(headers))).toBe('403 FORBIDDEN')
    expect(graphqlRefusal(await quote(headers))).toBe('200 FORBIDDEN')
    const broken = { ...headers, 'content-type': 'application/json' }
    expect(refusal(await sale.rest('POST', '/tickets/checkout', { headers: broken, body: '{' }))).toBe(
      '403 FORBIDDEN',
    )
  }
})

test('two keys of a channel: revoking one leaves the other', async () => {
  const { channelId, key } = await issueChannelKey(sale.db, {
    name: 'Shop',
    organizationIds: ['org_1'],
    mode: 'live',
  })
  const next = await issueChannelKey(sale.db, { channelId, mode: 'live' })
  const answers = async () => {
    const both = [{ 'x-api-key': key }, { 'x-api-key': next.key }].map(
      async (headers) => (await list(headers)).statusCode,
    )
    return Promise.all(both)
  }
  expect(await answers()).toEqual([200, 200])
  await revokeKey(sale.db, key)
  expect(await answers()).toEqual([401, 200])
  await revokeKey(sale.db, channelId)
  expect(await answers()).toEqual([401, 401])
})

test("an organization's own channel gets neither a key nor a grant", async () => {
  const before = await sale.db.$count(keys)
  const absent = await issueChannelKey(sale.db, { channelId: 'chn_0', mode: 'live' }).catch((error) => error)
  for (const refused of [
    () => issueChannelKey(sale.db, { channelId: 'org_1', mode: 'live' }),
    () => changeGrant(sale.db, { channelId: 'org_1', organizationId: 'org_1', granted: true }),
  ])
    await expect(refused()).rejects.toMatchObject({
      code: absent.code,
      message: 'There is no channel org_1.',
    })
  expect(await sale.db.$count(keys)).toBe(before)
})

test('a lookup accepts either method, and both if of one organization', async () => {
  const { v1, v2 } = sale.integration
  const another = await integrationHeaders(sale.db, 'org_1')
  for (const headers of [v1, v2, { ...v1, ...v2 }, { ...v1, ...another.v2 }])
    expect((await lookUp(headers)).json().data._id).toBe(tickets.org_1)
})

test('a 401 names the headers that were sent, where several methods were', async () => {
  const names = ['X-Api-Key', 'integration_id', 'secret'] as const
  const values = async (): Promise<Record<(typeof names)[number], string[]>> => ({
    'X-Api-Key': [sale.integration.v2['x-api-key'] ?? '', '', 'nonsense'],
    integration_id: [sale.integration.v1.integration_id ?? '', '', 'int_none'],
    secret: [sale.integration.v1.secret ?? '', '', 'nonsense'],
  })
  let refused = 0
  for (const [name, given] of Object.entries(await values()))
    for (const value of given)
      for (const others of names.flatMap((other) => [[], [other]])) {
        const sent = [...new Set([name, ...others])].sort()
        const good = await values()
        const headers = Object.fromEntries(
          sent.map((one) => [
            one.toLowerCase(),
            one === name ? value : (good[one as typeof name & keyof typeof good]?.[0] ?? ''),
          ]),
        )
        const answers = [
          await lookUp(headers),
          await sale.rest('POST', '/graphql', { headers, body: { query: '{ events { totalCount } }' } }),
        ]
        const messages = answers.flatMap((answer) => {
          const { message, errors } = answer.json()
          return message ?? errors?.[0]?.message ?? []
        })
        const isMixed = sent.includes('X-Api-Key') && sent.length > 1
        for (const message of messages) {
          refused++
          const found = /The request has the headers ([^:]*), and all that are sent must be good/.exec(
            message,
          )?.[1]
          expect(found?.split(', ').sort(), JSON.stringify(headers)).toEqual(isMixed ? sent : undefined)
        }
      }
  expect(refused).toBeGreaterThan(20)
})

test.each<[what: string, headers: () => Promise<Headers>, answer: string]>([
  [
    'an integration without a secret',
    async () => ({ integration_id: sale.integration.v1.integration_id ?? '' }),
    '401 UNAUTHENTICATED secret',
  ],
  [
    'a secret without an integration',
    async () => ({ secret: sale.integration.v1.secret ?? '' }),
    '401 UNAUTHENTICATED integration_id',
  ],
  ['an empty secret', async () => ({ ...sale.integration.v1, secret: '' }), '401 UNAUTHENTICATED secret'],
  [
    'a wrong secret',
    async () => ({ ...sale.integration.v1, secret: 'x'.repeat(43) }),
    '401 UNAUTHENTICATED secret',
  ],
  [
    'an unknown integration',
    async () => ({ ...sale.integration.v1, integration_id: 'int_1' }),
    '401 UNAUTHENTICATED secret',
  ],
  [
    'SQL',
    async () => ({ ...sale.integration.v1, integration_id: "' or ''='" }),
    '401 UNAUTHENTICATED secret',
  ],
  [
    'the secret of another integration',
    async () => ({ ...sale.integration.v1, secret: (await integrationHeaders(sale.db)).v1.secret }),
    '401 UNAUTHENTICATED secret',
  ],
  [
    'credentials of two organizations',
    async () => ({ ...sale.integration.v1, ...(await integrationHeaders(sale.db, 'org_2')).v2 }),
    '401 UNAUTHENTICATED integration_id',
  ],
  [
    'a secret and the key of a channel without a grant from its organization',
    async () => ({
      ...sale.integration.v1,
      ...(await channelHeaders(sale.db, 'org_2')),
    }),
    '401 UNAUTHENTICATED integration_id',
  ],
  [
    'a secret and the key of a channel with a grant from its organization',
    async () => ({ ...sale.integration.v1, ...(await channelHeaders(sale.db, 'org_1')) }),
    '403 FORBIDDEN',
  ],
  [
    'a valid secret and a bad key',
    async () => ({ ...sale.integration.v1, 'x-api-key': newApiKey('test').key }),
    '401 UNAUTHENTICATED x-api-key',
  ],
  [
    'a valid key and a bad secret',
    async () => ({ ...sale.integration.v1, ...sale.integration.v2, secret: 'x' }),
    '401 UNAUTHENTICATED secret',
  ],
  [
    'a valid key and a secret without an integration id',
    async () => ({ ...sale.integration.v2, secret: 'x' }),
    '401 UNAUTHENTICATED integration_id',
  ],
])('a lookup with %s is refused', async (_what, headers, answer) => {
  expect(refusal(await lookUp(await headers()))).toBe(answer)
})

test('a ticket of another organization is answered exactly like an absent one', async () => {
  const { v1, v2 } = sale.integration
  for (const headers of [v1, v2]) {
    const foreign = await lookUp(headers, 'org_2')
    const absent = await sale.rest('GET', '/integrations/tickets/tkt_01jtz3v9e8k2m4n6p8q0r2s4t6', { headers })
    const bodyOf = (answer: typeof foreign) => answer.body.replace(/"request_id":"[^"]*"/, '')
    expect(refusal(foreign)).toBe('404 NOT_FOUND ticket_id')
    expect(bodyOf(foreign)).toBe(bodyOf(absent))
    const namesOf = (answer: typeof foreign) => Object.keys(answer.headers)
    expect(namesOf(foreign)).toEqual(namesOf(absent))
  }
})

const fields = `ticket(id: $ticket) { id payment { id pageUrl } event { id } } payment(id: $payment) { id pageUrl }`
const own = `query ($ticket: ID!, $payment: ID!) { ${fields} }`

test('payments and tickets are readable by their own channel only', async () => {
  const { data } = await sale.graphql<{ ticket: { payment: { id: string; pageUrl: string } } }>(
    'query ($id: ID!) { ticket(id: $id) { payment { id pageUrl } } }',
    { id: tickets.org_1 },
    sale.channel,
  )
  const payment = data?.ticket.payment
  const variables = { ticket: tickets.org_1, payment: payment?.id }
  const read = async (headers: Headers) => (await sale.graphql(own, variables, headers)).data
  expect(payment?.pageUrl).toMatch(/\/pay\//)
  expect(await read(sale.channel)).toMatchObject({ ticket: { payment, event: {} }, payment })
  expect(await read(await channelHeaders(sale.db))).toEqual({ ticket: null, payment: null })
  expect(await read((await integrationHeaders(sale.db, 'org_2')).v2)).toEqual({ ticket: null, payment: null })
  // An integration reads the payment, but not the address at which anybody may pay it.
  expect(await read(sale.integration.v1)).toMatchObject({
    ticket: { id: tickets.org_1, payment: { pageUrl: null } },
    payment: { pageUrl: null },
  })
})

test('without credentials the schema is readable and every other field is an error', async () => {
  const query =
    '{ __schema { queryType { name } } __typename event(by: { id: "x" }) { id } events { nodes { id } } }'
  const [{ status, data, errors }, statements] = await countStatements(() => sale.graphql(query))
  expect([status, statements]).toEqual([200, 0])
  expect(data).toEqual({
    __schema: { queryType: { name: 'Query' } },
    __typename: 'Query',
    event: null,
    events: null,
  })
  expect(errors?.map(({ path, extensions }) => [path, extensions?.code])).toEqual([
    [['event'], 'UNAUTHENTICATED'],
    [['events'], 'UNAUTHENTICATED'],
  ])
  const input = { items: [{ ticketRateId: 'rate_1', tickets: [] }], idempotencyKey: 'once' }
  const refused = await sale.graphql(
    'mutation ($input: CheckoutInput!) { checkout(input: $input) { __typename } }',
    { input },
  )
  expect([refused.data, refused.errors?.[0]?.extensions?.code]).toEqual([
    { checkout: null },
    'UNAUTHENTICATED',
  ])
})
