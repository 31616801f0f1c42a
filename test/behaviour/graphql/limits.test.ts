import { getNamedType, isLeafType, isObjectType, isRequiredArgument } from 'graphql'
import { expect, test } from 'vitest'
import { schema } from '../../../src/app/schema.ts'
import { aLocation, anEvent, aPrice, aQuestion, aRate, aSupplement } from '../../support/factories.ts'
import { sharedSale } from '../../support/sale.ts'

const rates = () =>
  Array.from({ length: 4 }, () =>
    aRate({ prices: [aPrice(), aPrice()], supplements: [aSupplement()], questions: [aQuestion()] }),
  )

const artists = [{ name: 'One', image_url: null }]
const sale = sharedSale({
  locations: [aLocation()],
  events: Array.from({ length: 100 }, () => anEvent({ artists, ticket_rates: rates() })),
})

/** Selects every field of a type and of everything below it, without going back up, and without pages within a page. */
function everythingOf(typename: string, above: string[] = []): string {
  const type = schema.getType(typename)
  const fields = isObjectType(type) ? Object.values(type.getFields()) : []
  return fields
    .filter(({ args }) => !args.some((arg) => arg.name === 'first' || isRequiredArgument(arg)))
    .flatMap((field) => {
      const named = getNamedType(field.type)
      if (isLeafType(named)) return [field.name]
      if ([...above, typename].includes(named.name)) return []
      return [`${field.name} { ${everythingOf(named.name, [...above, typename])} }`]
    })
    .join(' ')
}

const everything = everythingOf('EventConnection')
const codesOf = async (query: string, variables = {}, headers: Record<string, string> = sale.channel) => {
  const { errors } = await sale.graphql(query, variables, headers)
  return [...new Set(errors?.map(({ extensions }) => extensions?.code))]
}
const times = (count: number, textAt: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => textAt(i)).join(' ')

type Page = { events: { nodes: { ticketRates: { prices: unknown[] }[] }[] } }

test.each([50, 100])('GraphQL limits allow %i events with all fields', async (first) => {
  expect(everything).toMatch(/edges .*ticketRates .*prices .*nodes .*ticketRates .*currentPrice .*totalCount/)
  const query = `query ($first: Int!) { events(first: $first) { nodes { ${everythingOf('Event')} } } }`
  const { data, errors } = await sale.graphql<Page>(query, { first }, sale.channel)
  expect(errors).toBeUndefined()
  expect(data?.events.nodes).toHaveLength(first)
  expect(data?.events.nodes.flatMap(({ ticketRates }) => ticketRates)).toHaveLength(first * 4)
})

test('GraphQL limits allow 50 events with all fields through nodes, edges and the count', async () => {
  expect(await codesOf(`{ events { ${everything} } }`)).toEqual([])
})

test.each([
  ['in the document', (index: number) => `p${index}: events(first: 50, filter: { search: "${index}" })`, {}],
  [
    'in a variable',
    (index: number) => `p${index}: events(first: $first, filter: { search: "${index}" })`,
    { first: 50 },
  ],
  ['by default', (index: number) => `p${index}: events(filter: { search: "${index}" })`, {}],
])('GraphQL limits refuse ten pages of all fields with first %s', async (_where, page, variables) => {
  const pages = times(10, (index) => `${page(index)} { ...Everything }`)
  const query = `query ${'first' in variables ? '($first: Int!)' : ''} { ${pages} }
    fragment Everything on EventConnection { nodes { ${everythingOf('Event')} } }`
  sale.statements.reset()
  expect(await codesOf(query, variables)).toEqual(['QUERY_TOO_COMPLEX'])
  // Only the caller was read.
  expect(sale.statements).toHaveLength(1)
})

test('GraphQL limits allow ten pages of one event with all fields', async () => {
  const query = `{ ${times(10, (index) => `p${index}: events(first: 1, filter: { search: "${index}" }) { ...Everything }`)} }
    fragment Everything on EventConnection { nodes { ${everythingOf('Event')} } }`
  expect(await codesOf(query)).toEqual([])
})

test.each(['nodes { %s }', 'edges { node { %s } }'])('GraphQL cost is multiplied through %s', async (way) => {
  const cost = async (first: number) => {
    const rate = 'event { ticketRates { event { ticketRates { event { ticketRates { id } } } } } }'
    const query = `{ events(first: ${first}) { ${way.replace('%s', `ticketRates { ${rate} }`)} } }`
    const { errors } = await sale.graphql(query, {}, sale.channel)
    return Number(/complexity (\d+)/.exec(errors?.[0]?.message ?? '')?.[1])
  }
  const search = 5_000
  expect((await cost(20)) - search).toBe(2 * ((await cost(10)) - search))
})

// Types that channels see nothing of, and that lead back to the catalogue or sum up.
const forIntegrations = ['Discount', 'Attendance']

test('GraphQL limits allow all fields of a payment and refuse a circle through its tickets', async () => {
  expect(await codesOf(`{ payment(id: "x") { ${everythingOf('Payment', forIntegrations)} } }`)).toEqual([])
  const deeper = '{ payment(id: "x") { tickets { payment { tickets { payment { tickets { id } } } } } } }'
  expect(await codesOf(deeper)).toEqual(['QUERY_TOO_COMPLEX'])
})

test('GraphQL limits allow all fields of a checkout', async () => {
  const input = '{ items: [{ ticketRateId: "x", tickets: [] }], idempotencyKey: "once" }'
  const answer = `... on CheckoutPayload { payment { ${everythingOf('Payment', forIntegrations)} } tickets { ${everythingOf('Ticket', forIntegrations)} } }`
  expect(await codesOf(`mutation { checkout(input: ${input}) { ${answer} } }`)).toEqual([])
})

const bomb = (doublings: number, leaf: string) =>
  `{ events(first: 1) { nodes { ...F0 } } } ${times(
    doublings,
    (index) =>
      `fragment F${index} on Event { ${index === doublings - 1 ? leaf : `...F${index + 1} ...F${index + 1}`} }`,
  )}`

test.each([
  ['fragments that double thirty times', bomb(30, 'id')],
  ['fragments that double a hundred times', bomb(100, 'id')],
  [
    'fragments that double with aliases',
    `{ events { nodes { ...F0 } } } ${times(20, (index) => `fragment F${index} on Event { a: ticketRates { event { ${index === 19 ? 'id' : `...F${index + 1}`} } } b: ticketRates { event { ${index === 19 ? 'id' : `...F${index + 1}`} } } }`)}`,
  ],
  ['31 aliases', `{ ${times(31, (index) => `a${index}: event(by: { id: "x" }) { id }`)} }`],
  ['31 aliases of __typename', `{ ${times(31, (index) => `a${index}: __typename`)} }`],
  [
    '31 aliases of __typename in fragments',
    `{ ${times(30, (index) => `a${index}: __typename`)} ...F } fragment F on Query { a: __typename }`,
  ],
  ['31 aliases of introspection', `{ ${times(31, (index) => `a${index}: __schema { types { name } }`)} }`],
  ['2001 tokens', `{ ${times(1999, () => '__typename')} }`],
  ['a flood of directives', `{ __typename ${times(400, () => '@skip(if: false)')} }`],
  ['a field a thousand times', `{ ${times(1990, () => '__typename')} }`],
  ['a field with a selection 400 times', `{ ${times(400, () => 'viewer { kind }')} }`],
  [
    'a field with a selection 400 times, in a fragment that nobody uses',
    `{ viewer { kind } } fragment F on Query { ${times(400, () => 'viewer { kind }')} }`,
  ],
  [
    'two hundred fragments at one level',
    `{ events { nodes { ${times(200, (index) => `...F${index}`)} } } } ${times(200, (index) => `fragment F${index} on Event { id }`)}`,
  ],
  [
    'a field that is nested too deep',
    `{ events(first: 1) { nodes { ${times(4, () => 'ticketRates { event {')} id ${'} }'.repeat(4)} } } }`,
  ],
  [
    'thirty searches',
    `{ ${times(30, (index) => `a${index}: events(first: 1, filter: { search: "${index}" }) { totalCount }`)} }`,
  ],
])('GraphQL limits refuse %s', async (_what, query) => {
  sale.statements.reset()
  expect(await codesOf(query)).toEqual(['QUERY_TOO_COMPLEX'])
  expect(sale.statements.length).toBeLessThan(2)
})

test.each([
  [
    'circular introspection',
    '{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }',
  ],
  ['a flood of unknown directives', `{ __typename ${times(900, () => '@x')} }`],
  ['a selection as deep as the tokens reach', `{ ${'a { '.repeat(600)} b ${'}'.repeat(600)} }`],
  ['a literal as deep as the tokens reach', `{ event(by: ${'['.repeat(900)}${']'.repeat(900)}) { id } }`],
  [
    'fragments in a circle',
    '{ events { nodes { ...A } } } fragment A on Event { ...B } fragment B on Event { ...A }',
  ],
])('GraphQL refuses %s at once', async (_what, query) => {
  const started = performance.now()
  expect(await codesOf(query)).toEqual(['BAD_REQUEST'])
  expect(performance.now() - started).toBeLessThan(5_000)
})

test('GraphQL refuses a document over 50,000 characters, so that none of that size is cached', async () => {
  expect(await codesOf(`#${'x'.repeat(50_000)}\n{ __typename }`)).toEqual(['INVALID'])
})

test('GraphQL limits refuse the whole operation, cheap fields too', async () => {
  const expensive = `events(first: 100) { nodes { ticketRates { event { ticketRates { event { id } } } } } }`
  expect(await codesOf(`{ event(by: { id: "x" }) { id } ${expensive} }`)).toEqual(['QUERY_TOO_COMPLEX'])
})

test('GraphQL limits allow twenty fragments of thirty fields at one level', async () => {
  const type = schema.getType('Event')
  const fields = Object.values(isObjectType(type) ? type.getFields() : {})
    .filter((field) => isLeafType(getNamedType(field.type)) && !field.args.some(isRequiredArgument))
    .map(({ name }) => name)
    .slice(0, 30)
  expect(fields.length).toBeGreaterThan(10)
  const query = `{ events(first: 1) { nodes { ${times(20, (index) => `...F${index}`)} } } }
    ${times(20, (index) => `fragment F${index} on Event { ${fields.join(' ')} }`)}`
  expect(await codesOf(query)).toEqual([])
})
