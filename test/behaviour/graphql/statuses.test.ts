import { afterAll, beforeAll, expect, test } from 'vitest'
import { aCatalogue } from '../../support/factories.ts'
import { openSale, type Sale } from '../../support/sale.ts'

// Status of an answer without data, by its media type: GraphQL over HTTP lets `application/json` say what is wrong with an
// operation in its body alone, whatever that is.

let sale: Sale
beforeAll(async () => {
  sale = await openSale(aCatalogue())
})
afterAll(() => sale.close())

const byId = 'query ($id: ID!) { ticketRate(id: $id) { id } }'
const page = 'query ($first: Int) { events(first: $first) { totalCount } }'

// Operations that are refused as a whole, by what is wrong with them.
const refused: [what: string, body: Record<string, unknown>][] = [
  ['a mistake of syntax', { query: '{ events {' }],
  ['no operation', { query: 'fragment F on Event { id }' }],
  ['an unknown field', { query: '{ nothing }' }],
  ['an unknown argument', { query: '{ events(nothing: 1) { totalCount } }' }],
  ['a literal of another type', { query: '{ events(first: "one") { totalCount } }' }],
  ['a variable that is missing', { query: byId }],
  ['a variable that is null', { query: byId, variables: { id: null } }],
  ['a variable of another type', { query: page, variables: { first: 'one' } }],
  ['a number out of range', { query: page, variables: { first: 2 ** 40 } }],
  [
    'an input with an unknown field',
    {
      query: 'query ($filter: EventFilter) { events(filter: $filter) { totalCount } }',
      variables: { filter: { nothing: 1 } },
    },
  ],
  ['two operations and no name', { query: 'query A { __typename } query B { __typename }' }],
  ['a name of no operation', { query: 'query A { __typename }', operationName: 'B' }],
  ['an unknown variable', { query: '{ ticketRate(id: $id) { id } }' }],
  ['an unknown directive', { query: '{ __typename @nothing }' }],
  ['a type that needs a selection', { query: '{ events }' }],
  [
    'too many levels',
    {
      query: `{ events { nodes { ${'organization { events { nodes { '.repeat(5)} id ${'} } } '.repeat(5)} } } }`,
    },
  ],
  [
    'too many aliases',
    { query: `{ ${Array.from({ length: 40 }, (_, index) => `a${index}: __typename`).join(' ')} }` },
  ],
]

const callers = () => [sale.channel, sale.integration.v2, {}] as Record<string, string>[]

test.each(refused)(
  'an operation with %s has the same status as any other that is refused',
  async (_what, body) => {
    for (const headers of callers())
      for (const [accept, status] of [
        ['application/json', 200],
        ['application/graphql-response+json', 400],
      ] as const) {
        const answer = await sale.app.inject({
          method: 'POST',
          url: '/graphql',
          headers: { ...headers, accept },
          payload: body,
        })
        expect([answer.statusCode, answer.headers['content-type']], answer.body).toEqual([
          status,
          `${accept}; charset=utf-8`,
        ])
        expect(answer.json()).toEqual({ errors: [expect.anything()].concat(answer.json().errors.slice(1)) })
      }
  },
)

test('control: what HTTP refuses keeps its status in both media types', async () => {
  const url = `/graphql?query=${encodeURIComponent('mutation { __typename }')}`
  for (const accept of ['application/json', 'application/graphql-response+json']) {
    const headers = { ...sale.channel, accept }
    expect((await sale.app.inject({ method: 'GET', url, headers })).statusCode).toBe(405)
    const sent = { ...headers, 'content-type': 'application/json' }
    expect(
      (await sale.app.inject({ method: 'POST', url: '/graphql', headers: sent, payload: '{' })).statusCode,
    ).toBe(400)
  }
})
