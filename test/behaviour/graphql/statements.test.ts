// Runs in: postgres

import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { anEntry, checkOut, mustCheckOut } from '../../support/checkouts.ts'
import { aDiscount } from '../../support/discounts.ts'
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
import { ownersOf } from '../../support/modes.ts'
import { sharedSale } from '../../support/sale.ts'

const organizationIds = ['org_1', 'org_2', 'org_3']

const rates = () =>
  Array.from({ length: 3 }, () =>
    aRate({ prices: [aPrice(), aPrice()], supplements: [aSupplement()], questions: [aQuestion()] }),
  )

const catalogue = aCatalogue({
  organizations: organizationIds.map((_id) =>
    anOrganization({ _id, discounts: [aDiscount({ _id: `dsc_${_id}` })] }),
  ),
  locations: organizationIds.map((_id) => aLocation({ _id: `loc_${_id}`, organization_id: _id })),
  events: Array.from({ length: 60 }, (_, index) => {
    const organization_id = organizationIds[index % 3] ?? ''
    return anEvent({ organization_id, location_id: `loc_${organization_id}`, ticket_rates: rates() })
  }),
})

const sale = sharedSale(catalogue)

const everything = `query ($first: Int!) { events(first: $first) { pageInfo { hasNextPage } nodes {
  id name organization { name } location { name organization { name } }
  ticketRates { id available availability { sold available } warranty { percentage endsAt } event { name organization { id } }
    prices { id price { amount currency } } currentPrice { id } supplements { id } questions { id } } } } }`

type Nested = { events: { nodes: { ticketRates: { prices: unknown[]; event: { name: string } }[] }[] } }

/** Gives every event a new revision, so that this process reads it again. */
const forget = () => sale.db.execute(sql`update events set name = name`)

async function costOf(read: () => Promise<unknown>): Promise<number> {
  sale.statements.reset()
  await read()
  return sale.statements.length
}

// Authentication, event ids, and one statement for everything not cached.
test.each([1, 5, 50])(
  'a page of %i events with all fields over GraphQL takes 3 statements, or up to 6 uncached',
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

// REST shows neither organizations nor locations.
test.each([1, 5, 50])(
  'a page of %i events with all fields over REST takes 3 statements, or 5 uncached',
  async (limit) => {
    const read = async () => {
      const answer = await sale.rest('GET', `/events?populate=*&limit=${limit}`, { headers: sale.channel })
      expect(answer.json().data).toHaveLength(limit)
    }
    await forget()
    expect(await costOf(read)).toBe(5)
    expect(await costOf(read)).toBe(3)
  },
)

test('a page of events without ticket rates takes 2 statements, or 3 uncached', async () => {
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
    'selected twice',
    `query ($no: Boolean!) { events { nodes { ${priced} } nodes { ticketRates { name questions { id } } id @skip(if: $no) } } }`,
    3,
  ],
  [
    'with aliases',
    `query ($no: Boolean!) { page: events { nodes { rates: ticketRates { id @skip(if: $no) offers: prices { id } } } } }`,
    3,
  ],
  [
    'that may be left out and are not',
    `query ($no: Boolean!) { events { nodes { id ${priced.replace(' {', ' @skip(if: $no) {')} } } }`,
    3,
  ],
])('a page of events reads each level once with fields %s', async (_where, query, statements) => {
  const read = async () => {
    const { data, errors } = await sale.graphql(query, { no: false }, sale.channel)
    expect(errors).toBeUndefined()
    expect(JSON.stringify(data)).toContain('price_')
  }
  await read()
  expect(await costOf(read)).toBe(statements)
})

test('a page of events reads nothing for a skipped field', async () => {
  const query = `query ($no: Boolean!) { events { nodes { id ${priced.replace(' {', ' @include(if: $no) {')} } } }`
  await sale.graphql(query, { no: false }, sale.channel)
  sale.statements.reset()
  const { errors } = await sale.graphql(query, { no: false }, sale.channel)
  expect(errors).toBeUndefined()
  expect(sale.statements).toHaveLength(2)
})

test('a page of events counts them only if totalCount is selected', async () => {
  const counts = () => sale.statements.filter((text) => text.includes('count(*)')).length
  sale.statements.reset()
  await sale.graphql('{ events { nodes { id } } }', {}, sale.channel)
  expect(counts()).toBe(0)
  await sale.graphql('{ events { totalCount } }', {}, sale.channel)
  expect(counts()).toBe(1)
})

// Authentication with the rate, and the hold; the lookup of an idempotency key comes between them.
test('a checkout of any size takes 2 statements, or 3 with an idempotency key or a discount', async () => {
  const answer = await sale.rest('GET', '/events?populate=*&limit=1', { headers: sale.channel })
  const [rate] = answer.json().data[0].ticket_rates
  const statementsOf = async (count: number, headers = {}, more = {}) => {
    sale.statements.reset()
    const tickets = Array.from({ length: count }, () => anEntry(rate.prices[0]._id))
    expect((await checkOut(sale, { ticket_rate_id: rate._id, tickets, ...more }, headers)).statusCode).toBe(
      200,
    )
    return sale.statements.length
  }
  expect(await statementsOf(1)).toBe(2)
  expect(await statementsOf(20)).toBe(2)
  expect(await statementsOf(1, { 'idempotency-key': 'one' })).toBe(3)
  // Only a code makes the discounts be read.
  expect(sale.statements.filter((text) => text.includes('from "discounts"'))).toEqual([])
  expect(await statementsOf(1, {}, { discount_code: 'ten' })).toBe(3)
  expect(await statementsOf(20, {}, { discount_code: 'ten' })).toBe(3)
})

// Authentication with the ticket; the rows of its edges share one. A ticket is read with some facts of its edges.
test('the edges of a ticket read nothing for what its row has, and their rows for anything else', async () => {
  const answer = await sale.rest('GET', '/events?populate=*&limit=1', { headers: sale.channel })
  const [event] = answer.json().data
  const [rate] = event.ticket_rates
  const sold = await mustCheckOut(sale, { ticket_rate_id: rate._id, tickets: [anEntry(rate.prices[0]._id)] })
  const read = (edges: string) =>
    sale.graphql<{ ticket: object }>(
      `{ ticket(id: "${sold.tickets[0]?._id}") { ${edges} } }`,
      {},
      sale.channel,
    )
  const ids = 'event { id } ticketRate { id __typename } channel { id } payment { id }'
  const { data } = await read(ids)
  expect(data).toEqual({
    ticket: {
      event: { id: event._id },
      ticketRate: { id: rate._id, __typename: 'TicketRate' },
      channel: { id: (await ownersOf(sale)).channelId },
      payment: { id: sold.payment_id },
    },
  })
  expect(await costOf(() => read(ids))).toBe(1)
  const known =
    'event { minimumAge } ticketRate { name slug } price { price { amount } includes additionalInfo }'
  const facts = (await read(known)).data?.ticket
  expect(facts).toMatchObject({
    ticketRate: { name: rate.name, slug: rate.slug },
    price: { includes: rate.prices[0].includes },
  })
  expect(await costOf(() => read(known))).toBe(1)
  // The same facts from the rows: asked for beside others, and of tickets that were read without them.
  const besideOthers = await read(
    'event { name minimumAge } ticketRate { name slug admits } price { name price { amount } includes additionalInfo }',
  )
  expect(besideOthers.data?.ticket).toMatchObject({ ...facts })
  const ofPayment = await read(`payment { tickets { ${known} } }`)
  expect(ofPayment.data?.ticket).toEqual({ payment: { tickets: [facts] } })
  expect(await costOf(() => read('event { id name } ticketRate { id name } channel { name }'))).toBe(2)
  expect(await costOf(() => read('event { ... { name } }'))).toBe(2)
})

test('control: a loop over rows shows in the count of statements', async () => {
  await sale.graphql(everything, { first: 3 }, sale.channel)
  sale.statements.reset()
  const { data } = await sale.graphql<{ events: { nodes: { id: string }[] } }>(
    '{ events(first: 3) { nodes { id } } }',
    {},
    sale.channel,
  )
  for (const { id } of data?.events.nodes ?? [])
    await sale.graphql(`{ event(by: { id: "${id}" }) { id } }`, {}, sale.channel)
  expect(sale.statements).toHaveLength(2 + 3 * 2)
})
