import fc from 'fast-check'
import { execute, parse, validate } from 'graphql'
import { describe, expect, test } from 'vitest'
import { schema } from '../../../src/app/schema.ts'
import { Credentials } from '../../../src/domain/caller/credentials.ts'
import { yogaPlugins } from '../../../src/engine/graphql-server/execute.ts'
import { createContext } from '../../../src/engine/request/context.ts'
import { anEvent, aRateOf } from '../../support/factories.ts'
import { fuzzRuns, seed } from '../../support/fuzz/seed.ts'
import { subscribe } from '../../support/live.ts'
import { sharedSale } from '../../support/sale.ts'
import { testServices } from '../../support/test-services.ts'

// A document has one answer, in whichever form it is sent and executed: that of graphql-js. Documents are drawn with what
// is seldom written: nulls for arguments and conditions that have defaults, and response keys that mean something else in
// JavaScript.

const event = anEvent({ _id: 'evt_1', ticket_rates: [aRateOf(10)] })
const sale = sharedSale({ events: [event], listen: true })

type Headers = Record<string, string>
type Asked = { query: string; variables: Record<string, unknown> }
type Answer = { status: number; body: string }

const sorted = (items: unknown[] | undefined) =>
  items?.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))

/** Leaves out what differs from request to request: its identifier, and the order in which fields fail. */
function comparable(body: string): string {
  const { errors, ...others } = JSON.parse(body.replaceAll(/,?"request_id":"[^"]*"/g, ''))
  return JSON.stringify({ errors: sorted(errors), ...others })
}

const post = async (asked: Asked, headers: Headers): Promise<Answer> => {
  const { statusCode, body } = await sale.rest('POST', '/graphql', { headers, body: asked })
  return { status: statusCode, body }
}
const get = async ({ query, variables }: Asked, headers: Headers): Promise<Answer> => {
  const sent = new URLSearchParams({ query, variables: JSON.stringify(variables) })
  const { statusCode, body } = await sale.rest('GET', `/graphql?${sent}`, { headers })
  return { status: statusCode, body }
}
const streamed =
  (ask: typeof post) =>
  async (asked: Asked, headers: Headers): Promise<Answer> => {
    const { status, body } = await ask(asked, { ...headers, accept: 'text/event-stream' })
    return { status, body: /^event: next\ndata: (.*)$/m.exec(body)?.[1] ?? body }
  }
const throughYoga =
  (ask: typeof post) =>
  async (asked: Asked, headers: Headers): Promise<Answer> => {
    yogaPlugins.push({})
    return await ask(asked, headers).finally(() => yogaPlugins.pop())
  }

const reads = { get, 'get through Yoga': throughYoga(get), 'get as events': streamed(get) }
const forms = {
  post,
  'post again': post,
  'post through Yoga': throughYoga(post),
  'post as events': streamed(post),
}

async function askComparably(ask: typeof post, asked: Asked, headers: Headers): Promise<Answer> {
  const { status, body } = await ask(asked, headers)
  return { status, body: comparable(body) }
}

/** Asks in every form, and expects the same of each. */
async function askAlike(asked: Asked, headers: Headers): Promise<Answer> {
  const first = await askComparably(post, asked, headers)
  const isRead = !asked.query.startsWith('mutation')
  for (const [form, ask] of Object.entries({ ...forms, ...(isRead && reads) }))
    expect({ form, ...(await askComparably(ask, asked, headers)) }, JSON.stringify(asked)).toEqual({
      form,
      ...first,
    })
  expect(first.body, JSON.stringify(asked)).not.toContain('INTERNAL')
  return first
}

/** Answers as graphql-js does by itself: its data as text, and the places of its errors. */
async function byGraphqlJs({ query, variables }: Asked, headers: Headers) {
  const document = parse(query)
  expect(validate(schema, document), query).toEqual([])
  const contextValue = await createContext(testServices(sale.db), new Credentials(headers))
  const { data, errors } = await execute({ schema, document, variableValues: variables, contextValue })
  return { data: JSON.stringify(data), paths: sorted(errors?.map(({ path }) => path)) }
}

const placesIn = (body: string) => {
  const { errors } = JSON.parse(body) as { errors?: { path?: unknown }[] }
  return sorted(errors?.map(({ path }) => path))
}

// Names of what JavaScript and JSON treat apart, and of parts of a response.
const keys = [
  ...['then', 'catch', 'finally', '__proto__', 'constructor', 'toJSON', 'toString', 'valueOf', 'prototype'],
  ...['hasOwnProperty', '__defineGetter__', 'length', 'name', 'data', 'errors', 'extensions', 'stringify'],
  ...['json', 'response', 'source', 'key0', 'value0', 'isPromise', 'e1', 'e2'],
]

// Types of the variables, which are drawn as absent, null or a value.
const variables: Record<string, [type: string, ...values: unknown[]]> = {
  n: ['Int', null, 1, 2, undefined],
  o: ['EventOrder', null, 'START_DATE_DESC', undefined],
  d: ['EventOrder = START_DATE_DESC', null, undefined],
  r: ['Float', null, 3, 5, undefined],
  s: ['Boolean = false', null, false, true, false, true, undefined],
  k: ['[ID!] = "evt_1"', null, ['evt_1'], undefined],
  i: ['Boolean = true', null, false, true, true, true, undefined],
}
const conditions = ['', '', '', ' @skip(if: $s)', ' @include(if: $i)', ' @skip(if: $s) @include(if: $i)']
const pages = [
  ...['first: $n', 'first: 2', 'orderBy: $o', 'first: $n, orderBy: $o', 'orderBy: $d'],
  ...['first: 3, filter: { near: { latitude: 1, longitude: 1, radius: $r } }'],
]

/** Draws a query. Each response key stands once at its level, so that no two conflict. */
function drawQuery(draw: fc.GeneratorValue): Asked {
  const one = <T>(items: readonly T[]): T => items[draw(fc.nat, { max: items.length - 1 })] as T
  // Without conditions and fragments, all fields are known ahead of the variables.
  const isPlain = draw(fc.boolean)
  const condition = () => (isPlain ? '' : one(conditions))
  const each = (textOf: () => string) =>
    draw(() => fc.subarray(keys, { minLength: 1, maxLength: 3 }))
      .map((key) => `${key}: ${textOf()}`)
      .join(' ')
  const leaves = () => each(() => `${one(['id', 'name', '__typename'])}${condition()}`)
  const events = () =>
    `events(${one(pages)})${condition()} { t: __typename ...${condition()} { nodes { ${leaves()} } } }`
  const event = () =>
    `event(by: { id: "evt_1" })${condition()} { ${leaves()} rates: ticketRates { ${leaves()} } }`
  // A root field that is never null: if it fails, the whole answer is.
  const nodes = () =>
    `nodes(ids: ${one(['"evt_1"', '["evt_1", "none"]', '$k'])})${condition()} { ${each(() => one(['id', '__typename']))} }`
  const typename = () => `__typename${condition()}`
  const selection = each(() => one([events, events, event, nodes, ...(isPlain ? [] : [typename])])())
  const text = isPlain
    ? `{ ${selection} }`
    : `{ ${selection} ...T${condition()} } fragment T on Query { t: ${typename()} }`
  const used = Object.entries(variables).filter(([name]) => text.includes(`$${name}`))
  const declared = used.map(([name, [type]]) => `$${name}: ${type}`).join(' ')
  const given = used.flatMap(([name, [, ...values]]) => {
    const value = one(values)
    return value === undefined ? [] : [[name, value]]
  })
  return { query: `query${declared && ` (${declared})`} ${text}`, variables: Object.fromEntries(given) }
}

let failed = 0
let whole = 0

describe(`forms with FUZZ_SEED=${seed}`, () => {
  test.each(['a caller', 'a stranger'])('all forms answer as graphql-js does: %s', async (who) => {
    const headers = who === 'a caller' ? sale.channel : {}
    const compare = async (draw: fc.GeneratorValue) => {
      const asked = drawQuery(draw)
      const { body } = await askAlike(asked, headers)
      const { data, paths } = await byGraphqlJs(asked, headers)
      expect(JSON.stringify(JSON.parse(body).data), JSON.stringify(asked)).toBe(data)
      expect(placesIn(body), JSON.stringify(asked)).toEqual(paths)
      if (paths) failed++
      else whole++
    }
    await fc.assert(fc.asyncProperty(fc.gen(), compare), fuzzRuns(25, 10))
  })

  test('control: some failed in part, and some did not', () => {
    expect(failed).toBeGreaterThan(3)
    expect(whole).toBeGreaterThan(3)
  })
})

const mustNotBeNull = expect.stringMatching(/^Argument "\w+" .*(must not be null|has invalid value)\.$/)
const scan = (alias: string, more: string) =>
  `${alias}: checkInTicket(input: { ticket: { qrCode: "x" }, eventId: "evt_1", idempotencyKey: "${alias}"${more} }) { ... on CheckInTicketPayload { checkIn { outcome } } }`
const notFound = { checkIn: { outcome: 'NOT_FOUND' } }

test.each<[what: string, query: string, variables: object, data: unknown, paths: unknown[]]>([
  [
    'a page of null',
    'query ($n: Int) { e: events(first: $n) { nodes { id } } x: __typename }',
    { n: null },
    { e: null, x: 'Query' },
    [['e']],
  ],
  [
    'an order of null',
    'query ($o: EventOrder) { e: events(orderBy: $o) { nodes { id } } x: __typename }',
    { o: null },
    { e: null, x: 'Query' },
    [['e']],
  ],
  [
    'a null within an input',
    'query ($r: Float) { e: events(filter: { near: { latitude: 1, longitude: 1, radius: $r } }) { nodes { id } } x: __typename }',
    { r: null },
    { e: null, x: 'Query' },
    [['e']],
  ],
  [
    'a condition of null at the root',
    'query ($s: Boolean = false) { e: events { nodes { id } } x: __typename @skip(if: $s) }',
    { s: null },
    null,
    [undefined],
  ],
  [
    'a condition of null below a field',
    'query ($s: Boolean = false) { event(by: { id: "evt_1" }) { id @include(if: $s) } x: __typename }',
    { s: null },
    { event: null, x: 'Query' },
    [['event']],
  ],
  [
    'nulls in a mutation',
    `mutation ($p: Int, $f: Boolean) { ${scan('a', '')} ${scan('b', ', people: $p')} ${scan('c', ', force: $f')} ${scan('d', '')} }`,
    { p: null, f: null },
    { a: notFound, b: null, c: null, d: notFound },
    [['b'], ['c']],
  ],
])('%s fails a field, and the rest is answered', async (_what, query, variables, data, paths) => {
  const { status, body } = await askAlike({ query, variables: { ...variables } }, sale.integration.v2)
  const answered = JSON.parse(body)
  expect([status, answered.data]).toEqual([200, data])
  expect(answered.errors.map(({ path }: { path?: unknown }) => path)).toEqual(paths)
  for (const { message, extensions } of answered.errors)
    expect([message, extensions]).toEqual([mustNotBeNull, { code: 'BAD_REQUEST' }])
})

test('an operation that is too complex is refused, whatever fails in it', async () => {
  const rates = 'event { ticketRates { prices { id name includes } } }'
  const all = `nodes { ticketRates { a: ${rates} b: ${rates} c: ${rates} d: ${rates} } }`
  const query = `query ($n: Int, $s: Boolean = false) {
    failing: events(first: $n) { nodes { id } } events(first: 100) { ${all} } t: __typename @skip(if: $s) }`
  for (const variables of [{ n: null }, { n: null, s: null }, { n: 1 }]) {
    const { body } = await askAlike({ query, variables }, sale.channel)
    expect(JSON.parse(body)).toMatchObject({ errors: [{ extensions: { code: 'QUERY_TOO_COMPLEX' } }] })
  }
  // Control: the field that fails costs nothing.
  const failing = `query ($n: Int) { events(first: $n) { ${all} } }`
  expect(
    JSON.parse((await askAlike({ query: failing, variables: { n: null } }, sale.channel)).body),
  ).toMatchObject({
    data: { events: null },
    errors: [{ extensions: { code: 'BAD_REQUEST' } }],
  })
})

test('a response key has its value, whatever it means elsewhere', async () => {
  for (const each of [['then'], keys])
    for (const headers of [sale.channel, {}])
      expect(
        await askAlike(
          { query: `{ ${each.map((key) => `${key}: __typename`).join(' ')} }`, variables: {} },
          headers,
        ),
      ).toEqual({
        status: 200,
        body: `{"data":{${each.map((key) => `"${key}":"Query"`).join()}}}`,
      })
})

test.each([
  [
    'an argument',
    'event { organization { events(first: $n) { nodes { id } } } }',
    { n: null },
    [{ ticketRates: { t: 'rate_1', event: { organization: { events: null } } } }],
  ],
  ['a condition', 'event { id @skip(if: $s) }', { s: null }, []],
  ['a condition beside it', 'id @skip(if: $s)', { s: null }, []],
])(
  'a subscription with %s of null is answered with a field error',
  async (_what, selection, variables, data) => {
    const used = Object.keys(variables).map((name) => (name === 'n' ? '$n: Int' : '$s: Boolean = false'))
    const query = `subscription (${used}) { ticketRates(of: { ids: ["rate_1"] }) { t: id ${selection} } }`
    const subscription = subscribe(sale.url, sale.channel, { query, variables })
    await expect.poll(() => subscription.errors, { interval: 10 }).toEqual([{ code: 'BAD_REQUEST' }])
    expect([subscription.failure(), subscription.received]).toEqual([null, data])
  },
)
