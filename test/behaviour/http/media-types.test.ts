import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sharedSale } from '../../support/sale.ts'

// Media types in every form that means the same (RFC 9110, 5.6.6, 8.3.1, 12.5.1), on both surfaces.

const sale = sharedSale()

const space = fc.constantFrom('', ' ', '\t', '  ')
const inAnyCase = (text: string) =>
  fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map((upper) => [...text].map((letter, index) => (upper[index] ? letter.toUpperCase() : letter)).join(''))
const inAnyQuotes = (value: string) =>
  fc.constantFrom(value, `"${value}"`, `"${[...value].map((letter) => `\\${letter}`).join('')}"`)

/** A parameter in any form. */
const parameter = (name: string, values: fc.Arbitrary<string>) =>
  fc
    .tuple(space, space, inAnyCase(name), values)
    .map(([before, behind, name, value]) => `${before};${behind}${name}=${value}`)
// Separators within quotes, which end nothing.
const other = parameter(
  'profile',
  fc.constantFrom('x', '"a;b"', '"a, text/html;q=1"', '"\\"; charset=latin1"', '""'),
)
const charset = (name: string) => parameter('charset', inAnyCase(name).chain(inAnyQuotes))
const parameters = (name: string) =>
  fc
    .tuple(fc.array(other, { maxLength: 2 }), charset(name))
    .chain(([others, given]) =>
      fc.shuffledSubarray([...others, given], { minLength: others.length + 1 }).map((all) => all.join('')),
    )
const typeOf = (name: string, charset: string | null) =>
  fc
    .tuple(
      inAnyCase(name),
      charset === null ? fc.array(other, { maxLength: 2 }).map((all) => all.join('')) : parameters(charset),
    )
    .map((parts) => parts.join(''))

const runs = { numRuns: 8 }

describe('Content-Type', () => {
  const graphql = (type: string) =>
    sale.app.inject({
      ...{ method: 'POST', url: '/graphql', payload: '{"query":"{ __typename }"}' },
      headers: { ...sale.channel, 'content-type': type, accept: 'application/json' },
    })
  // Read and then refused, since it has no tickets.
  const rest = (type: string) =>
    sale.app.inject({
      ...{ method: 'POST', url: '/tickets/checkout', payload: '{}' },
      headers: { ...sale.channel, 'content-type': type },
    })
  const statusesOf = async (type: string) =>
    (await Promise.all([graphql(type), rest(type)])).map(({ statusCode }) => statusCode)

  test.each([
    ['of JSON', 'application/json', null, [200, 400]],
    ['of JSON in UTF-8', 'application/json', 'utf-8', [200, 400]],
    ['of JSON in UTF-8 by another name', 'application/json', 'utf8', [200, 400]],
    ['of JSON in another charset', 'application/json', 'iso-8859-1', [415, 415]],
    ['of text', 'text/plain', null, [415, 415]],
    ['of a form', 'application/x-www-form-urlencoded', null, [415, 415]],
    ['of JSON of another kind', 'application/ld+json', 'utf-8', [415, 415]],
  ] as const)(
    '%s means the same in every form and on both surfaces',
    async (_what, name, charset, statuses) => {
      await fc.assert(
        fc.asyncProperty(typeOf(name, charset), async (type) => {
          expect(await statusesOf(type)).toEqual(statuses)
        }),
        runs,
      )
    },
  )

  test.each(['application/json ; charset=utf-8', 'application/json;charset="utf-8"', 'application/json;'])(
    '%s is read, with every parameter in the address, too',
    async (type) => {
      expect(await statusesOf(type)).toEqual([200, 400])
      const answer = await sale.app.inject({
        ...{ method: 'POST', url: '/graphql?a=b', payload: '{"query":"{ events { nodes { id } } }"}' },
        headers: { ...sale.channel, 'content-type': type, accept: 'application/json' },
      })
      expect([answer.statusCode, Object.keys(answer.json())]).toEqual([200, ['data']])
    },
  )

  test.each([
    'text',
    'application/json, text/plain',
    'application/json charset=utf-8',
    ';',
    '/',
    'json',
    '"',
  ])('%s is refused in our form', async (type) => {
    for (const answer of [await graphql(type), await rest(type)]) {
      expect(answer.statusCode).toBe(415)
      const { code, errors } = answer.json()
      expect(code ?? errors[0].extensions.code).toBe('UNSUPPORTED_MEDIA_TYPE')
    }
  })
})

describe('Accept', () => {
  const get = async (url: string, accept: string) => {
    const { statusCode, headers } = await sale.app.inject({ url, headers: { ...sale.channel, accept } })
    return statusCode === 406 ? 406 : String(headers['content-type']).split(';')[0]
  }
  const surfaces = [
    ['GraphQL', '/graphql?query=%7B__typename%7D'],
    ['a list', '/tickets'],
    ['an unknown address', '/nothing'],
  ] as const

  /** A list of ranges in any form: their order is that of the list where they weigh the same. */
  const listOf = (ranges: [name: string, q: number | null][]) =>
    fc
      .tuple(
        ...ranges.map(([name, q]) =>
          fc
            .tuple(
              name.includes('*') ? inAnyCase(name) : typeOf(name, null),
              q === null ? fc.constant('') : parameter('q', fc.constantFrom(String(q), q.toFixed(3))),
              space,
              space,
            )
            .map(([range, q, before, behind]) => `${before}${range}${q}${behind}`),
        ),
      )
      .map((all) => all.join(','))

  const json = 'application/json'
  const csv = 'text/csv'
  const page = 'text/html'
  const cases: [ranges: [string, number | null][], types: (string | number)[]][] = [
    [[[json, null]], [json, json, json]],
    [[['*/*', null]], [json, json, json]],
    [[['application/*', 0.5]], [json, json, json]],
    [
      [
        [json, null],
        [page, 0],
      ],
      [json, json, json],
    ],
    [
      [
        [page, 0],
        ['*/*', null],
      ],
      [json, json, json],
    ],
    [
      [
        [json, null],
        [page, 0.9],
      ],
      [json, json, json],
    ],
    [
      [
        [page, null],
        [json, 0.9],
      ],
      [page, json, page],
    ],
    [
      [
        [page, null],
        ['*/*', 0.1],
      ],
      [page, json, page],
    ],
    [
      [
        [csv, null],
        [json, 0.5],
      ],
      [json, csv, json],
    ],
    [
      [
        [csv, 0.4],
        [json, 0.5],
      ],
      [json, json, json],
    ],
    [
      [
        [json, 0],
        [csv, 0.1],
        ['*/*', 0.001],
      ],
      ['application/graphql-response+json', csv, page],
    ],
    [[['application/graphql-response+json', null]], ['application/graphql-response+json', 406, json]],
    [[['image/png', null]], [406, 406, json]],
    [[['*/*', 0]], [406, 406, json]],
  ]
  test.each(cases)('of %j means the same in every form', async (ranges, types) => {
    await fc.assert(
      fc.asyncProperty(listOf(ranges), async (accept) => {
        expect(await Promise.all(surfaces.map(([, url]) => get(url, accept)))).toEqual(types)
      }),
      runs,
    )
  })

  test.each([
    ['application/json; charset="utf-8"', json],
    ['application/json;charset=utf8', json],
    ['application/json; charset="latin1"', 406],
    ['application/json;profile="a,text/html', json],
  ])('of %s chooses %s on every surface', async (accept, type) => {
    for (const [, url] of surfaces.slice(0, 2)) expect(await get(url, accept)).toBe(type)
  })
})

test.each([
  ['text/event-stream;q=0, text/*', 406],
  ['text/event-stream;q=0, application/json', 200],
  ['TEXT/Event-Stream ; charset="utf-8"', 200],
])('an event stream for a client that accepts %s: %i', async (accept, status) => {
  const answer = await sale.app.inject({
    url: '/graphql?query=%7B__typename%7D',
    headers: { ...sale.channel, accept },
  })
  expect(answer.statusCode).toBe(status)
  expect(String(answer.headers['content-type']).startsWith('text/event-stream')).toBe(
    accept.startsWith('TEXT'),
  )
})
