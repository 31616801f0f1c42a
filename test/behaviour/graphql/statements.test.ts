import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anEntry, checkOut } from '../../support/checkouts.ts'
import {
  aCatalogue,
  aLocation,
  anEvent,
  anOrganization,
  aPrice,
  aQuestion,
  aRate,
  aSupplement,
} from '../../support/factories.ts'
import { openSale, type Sale } from '../../support/sale.ts'

const organizationIds = ['org_1', 'org_2', 'org_3']

const rates = () =>
  Array.from({ length: 3 }, () =>
    aRate({ prices: [aPrice(), aPrice()], supplements: [aSupplement()], questions: [aQuestion()] }),
  )

const catalogue = aCatalogue({
  organizations: organizationIds.map((_id) => anOrganization({ _id })),
  locations: organizationIds.map((_id) => aLocation({ _id: `loc_${_id}`, organization_id: _id })),
  events: Array.from({ length: 60 }, (_, index) => {
    const organization_id = organizationIds[index % 3] ?? ''
    return anEvent({ organization_id, location_id: `loc_${organization_id}`, ticket_rates: rates() })
  }),
})

let sale: Sale
beforeAll(async () => {
  sale = await openSale(catalogue)
})
afterAll(() => sale.close())

const everything = `query ($first: Int!) { events(first: $first) { pageInfo { hasNextPage } nodes {
  id name organization { name } location { name organization { name } }
  ticketRates { id available availability { sold available } warranty { enabled } event { name organization { id } }
    prices { id price } currentPrice { id } supplements { id } questions { id } } } } }`

type Nested = { events: { nodes: { ticketRates: { prices: unknown[]; event: { name: string } }[] }[] } }

/** Makes this process read every event anew. */
const forget = () => sale.db.execute(sql`update events set name = name`)

async function costOf(read: () => Promise<unknown>): Promise<number> {
  sale.statements.reset()
  await read()
  return sale.statements.length
}

// Who asks, which events, and, of all kinds, what is not remembered.
test.each([1, 5, 50])(
  'reads a page of %i events with everything under them in 3 statements',
  async (first) => {
    const read = async () => {
      const { data, errors } = await sale.graphql<Nested>(everything, { first }, sale.channel)
      expect(errors).toBeUndefined()
      expect(data?.events.nodes).toHaveLength(first)
      expect(data?.events.nodes.every(({ ticketRates }) => ticketRates.length === 3)).toBe(true)
    }
    await forget()
    expect(await costOf(read)).toBeLessThanOrEqual(6)
    expect(await costOf(read)).toBe(3)
  },
)

// REST shows no organization and no location.
test.each([1, 5, 50])('and over REST in 5, or 3 where its rows are remembered', async (limit) => {
  const read = async () => {
    const answer = await sale.rest('GET', `/events?populate=*&limit=${limit}`, { headers: sale.channel })
    expect(answer.json().data).toHaveLength(limit)
  }
  await forget()
  expect(await costOf(read)).toBe(5)
  expect(await costOf(read)).toBe(3)
})

test('reads a page without ticket rates in 3 statements, or 2', async () => {
  const read = () => sale.rest('GET', '/events', { headers: sale.channel })
  await forget()
  expect(await costOf(read)).toBe(3)
  expect(await costOf(read)).toBe(2)
})

const priced = 'ticketRates { id prices { id } currentPrice { id } available }'

test.each([
  [
    'in a fragment',
    `query ($no: Boolean!) { events { nodes { ...Priced } } } fragment Priced on Event { id @skip(if: $no) ${priced} }`,
    3,
  ],
  [
    'in fragments of an interface',
    `query ($no: Boolean!) { events { edges { node { ... on Node { ... on Event { id @skip(if: $no) ${priced} } } } } } }`,
    3,
  ],
  [
    'twice',
    `query ($no: Boolean!) { events { nodes { ${priced} } nodes { ticketRates { name questions { id } } id @skip(if: $no) } } }`,
    3,
  ],
  [
    'under another name',
    `query ($no: Boolean!) { page: events { nodes { rates: ticketRates { id @skip(if: $no) offers: prices { id } } } } }`,
    3,
  ],
  [
    'where it may be left out, and is not',
    `query ($no: Boolean!) { events { nodes { id ${priced.replace(' {', ' @skip(if: $no) {')} } } }`,
    3,
  ],
])('reads each level once where it is asked for %s', async (_where, query, statements) => {
  const read = async () => {
    const { data, errors } = await sale.graphql(query, { no: false }, sale.channel)
    expect(errors).toBeUndefined()
    expect(JSON.stringify(data)).toContain('price_')
  }
  await read()
  expect(await costOf(read)).toBe(statements)
})

test('reads nothing of what is left out', async () => {
  sale.statements.reset()
  const query = `query ($no: Boolean!) { events { nodes { id ${priced.replace(' {', ' @include(if: $no) {')} } } }`
  const { errors } = await sale.graphql(query, { no: false }, sale.channel)
  expect(errors).toBeUndefined()
  expect(sale.statements).toHaveLength(2)
})

test('counts the events only when the count is asked for', async () => {
  const counts = () => sale.statements.filter((text) => text.includes('count(*)')).length
  sale.statements.reset()
  await sale.graphql('{ events { nodes { id } } }', {}, sale.channel)
  expect(counts()).toBe(0)
  await sale.graphql('{ events { totalCount } }', {}, sale.channel)
  expect(counts()).toBe(1)
})

// Who calls with what is sold, and the hold; an idempotency key is looked for between them.
test('checks out any number of tickets in 2 statements, and in 3 under an idempotency key', async () => {
  const answer = await sale.rest('GET', '/events?populate=*&limit=1', { headers: sale.channel })
  const [rate] = answer.json().data[0].ticket_rates
  const statementsOf = async (count: number, headers = {}) => {
    sale.statements.reset()
    const tickets = Array.from({ length: count }, () => anEntry(rate.prices[0]._id))
    expect((await checkOut(sale, { ticket_rate_id: rate._id, tickets }, headers)).statusCode).toBe(200)
    return sale.statements.length
  }
  expect(await statementsOf(1)).toBe(2)
  expect(await statementsOf(20)).toBe(2)
  expect(await statementsOf(1, { 'idempotency-key': 'one' })).toBe(3)
})

test('finds what it looks for: a loop over rows would show in the count', async () => {
  sale.statements.reset()
  const { data } = await sale.graphql<{ events: { nodes: { id: string }[] } }>(
    '{ events(first: 3) { nodes { id } } }',
    {},
    sale.channel,
  )
  for (const { id } of data?.events.nodes ?? [])
    await sale.graphql(`{ event(id: "${id}") { id } }`, {}, sale.channel)
  expect(sale.statements).toHaveLength(2 + 3 * 2)
})
