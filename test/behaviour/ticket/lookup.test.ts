// Runs in: postgres

import { beforeAll, beforeEach, expect, test } from 'vitest'
import { newApiKey } from '../../../src/domain/caller/api-key.ts'
import { anEntry, mustCheckOut } from '../../support/checkouts.ts'
import { anEvent, anOrganization, aRateNamed, integrationHeaders } from '../../support/factories.ts'
import { refusal } from '../../support/refusals.ts'
import { sharedSale } from '../../support/sale.ts'

const event = (organization: string) =>
  anEvent({
    organization_id: organization,
    location_id: null,
    ticket_rates: [aRateNamed(organization)],
  })
const organizationIds = ['org_1', 'org_2']

/** A ticket of each organization, and the headers of an integration of each. */
let tickets: string[]
let callers: Headers[]
const sale = sharedSale({
  organizations: organizationIds.map((_id) => anOrganization({ _id })),
  events: organizationIds.map(event),
})
beforeAll(async () => {
  tickets = await Promise.all(
    organizationIds.map(async (organization) => {
      const body = { ticket_rate_id: `rate_${organization}`, tickets: [anEntry(`price_${organization}`)] }
      return (await mustCheckOut(sale, body)).tickets[0]?._id ?? ''
    }),
  )
  callers = await Promise.all(organizationIds.map(async (id) => (await integrationHeaders(sale.db, id)).v2))
})
beforeEach(() => sale.statements.reset())

type Headers = Record<string, string>

const overRest = (headers: Headers = {}, id = '') =>
  sale.rest('GET', `/integrations/tickets/${id}`, { headers })
const fields = '{ id attendee { fullName } amounts { total { amount } } settlement { paid { amount } } }'
const edges = '{ id event { minimumAge } ticketRate { name slug } price { includes } }'
const overGraphql = (headers: Headers = {}, id = '') =>
  sale.graphql<{ ticket: { id: string; attendee: { fullName: string } } | null }>(
    `query ($id: ID!) { ticket(id: $id) ${fields} }`,
    { id },
    headers,
  )

test('a lookup takes one statement, with authentication', async () => {
  const [door] = callers
  expect((await overRest(door, tickets[0])).json().data.rate_name).toBe('Entrance')
  expect(sale.statements).toHaveLength(1)
  sale.statements.reset()
  expect((await overGraphql(door, tickets[0])).data?.ticket?.attendee.fullName).toBe('Ana Núñez')
  expect(sale.statements).toHaveLength(1)
})

test('event, rate and price of a lookup take no statement more, where it reads what is asked of them', async () => {
  const { data } = await sale.graphql(`{ ticket(id: "${tickets[0]}") ${edges} }`, {}, callers[0])
  expect(data).toMatchObject({
    ticket: { id: tickets[0], ticketRate: { name: 'Entrance', slug: 'entrance' } },
  })
  expect(sale.statements).toHaveLength(1)
})

test.each([
  ['an inline id', (id: string) => `{ ticket(id: "${id}") ${fields} }`, 1],
  ['an alias', (id: string) => `{ mine: ticket(id: "${id}") ${fields} }`, 1],
  ['a fragment', (id: string) => `{ ...T } fragment T on Query { ticket(id: "${id}") ${fields} }`, 2],
  ['another field beside it', (id: string) => `{ __typename ticket(id: "${id}") ${fields} }`, 2],
  [
    'twice the same ticket',
    (id: string) => `{ a: ticket(id: "${id}") { id } b: ticket(id: "${id}") ${fields} }`,
    2,
  ],
])('a lookup over GraphQL with %s finds the ticket', async (_what, query, statements) => {
  const { data, errors } = await sale.graphql<Record<string, unknown>>(
    query(tickets[0] ?? ''),
    {},
    callers[0],
  )
  expect(errors).toBeUndefined()
  expect(JSON.stringify(data)).toContain('"fullName":"Ana Núñez"')
  expect(sale.statements).toHaveLength(statements)
})

test.each<[what: string, variables: Record<string, unknown>]>([
  ['a malformed id', { id: 'no id at all' }],
  ['a number', { id: 5 }],
  ['an absent id', { id: 'tkt_01jtz3v9e8k2m4n6p8q0r2s4t6' }],
])('a lookup over GraphQL of %s is null', async (_what, variables) => {
  const query = 'query ($id: ID!) { ticket(id: $id) { id } }'
  const { data, errors } = await sale.graphql(query, variables, callers[0])
  expect([data, errors]).toEqual([{ ticket: null }, undefined])
})

test('a lookup over GraphQL without its variable is refused', async () => {
  const { errors } = await sale.graphql('query ($id: ID!) { ticket(id: $id) { id } }', {}, callers[0])
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_REQUEST', path: 'id' })
})

test('concurrent lookups of several organizations are batched, and each sees its own', async () => {
  const asks = callers.flatMap((door) => tickets.map((id) => ({ door, id })))
  const rest = await Promise.all(asks.map(({ door, id }) => overRest(door, id)))
  expect(rest.map(({ statusCode }) => statusCode)).toEqual([200, 404, 404, 200])
  const graphql = await Promise.all(asks.map(({ door, id }) => overGraphql(door, id)))
  expect(graphql.map(({ data }) => data?.ticket?.id ?? null)).toEqual([tickets[0], null, null, tickets[1]])
  expect(sale.statements.filter((text) => text.includes('"tickets"')).length).toBeLessThan(8)
})

test('a lookup by an unknown caller is refused alike for existing and absent tickets', async () => {
  const headers = { 'x-api-key': newApiKey('test').key }
  for (const id of [tickets[0], 'tkt_nobody', 'no id at all'])
    expect(refusal(await overRest(headers, encodeURIComponent(id ?? '')))).toBe(
      '401 UNAUTHENTICATED x-api-key',
    )
  expect((await overGraphql(headers, tickets[0])).status).toBe(401)
})

test('a ticket below a payment has its rate too', async () => {
  const { data, errors } = await sale.graphql<{ ticket: { payment: { tickets: unknown[] } } }>(
    `query ($id: ID!) { ticket(id: $id) { payment { tickets ${edges} } } }`,
    { id: tickets[0] },
    callers[0],
  )
  expect(errors).toBeUndefined()
  expect(data?.ticket.payment.tickets).toMatchObject([{ id: tickets[0], ticketRate: { name: 'Entrance' } }])
})

test.each<[what: string, headers: Headers]>([
  ['none', {}],
  ['a malformed key', { 'x-api-key': 'secret' }],
  ['a malformed key beside a secret', { 'x-api-key': 'secret', integration_id: 'int_1', secret: 'secret' }],
  ['a secret without an integration id', { secret: 'secret' }],
])('a lookup with credentials that are %s costs no SQL', async (_what, headers) => {
  expect((await overRest(headers, tickets[0])).statusCode).toBe(401)
  const { data, errors } = await overGraphql(headers, tickets[0])
  expect(data?.ticket ?? null).toBeNull()
  expect(errors?.[0]?.extensions?.code).toBe('UNAUTHENTICATED')
  expect(sale.statements).toHaveLength(0)
})
