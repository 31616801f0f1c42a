// Runs in: pglite, postgres, citus, slow-forms

import { beforeAll, expect, test } from 'vitest'
import { aBuyer, mustSell } from '../../support/box-office.ts'
import type { Checkout } from '../../support/checkouts.ts'
import { anEvent, anOrganization, aRateNamed, channelHeaders } from '../../support/factories.ts'
import { inTestMode, publishableHeaders } from '../../support/modes.ts'
import { cancelPayment, refundTickets } from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { stubProvider } from '../../support/stub-provider.ts'
import { holdTickets, payFor, ticketOf } from '../../support/tickets.ts'

// The list of payments over GraphQL: who sees which, filters, and pages in both directions.

let rival: Record<string, string>
// Payments in the order of their checkouts, by a name for each.
const ids: Record<string, string> = {}
const nameOf = (id: string) => Object.keys(ids).find((name) => ids[name] === id) ?? id

async function order(name: string, rate: string, emails: string[], headers = {}): Promise<Checkout> {
  const entries = emails.map((email) => ({ email }))
  const checkout = await holdTickets(sale, { rate, entries, headers })
  ids[name] = checkout.payment_id
  return checkout
}
async function buy(...given: Parameters<typeof order>): Promise<Checkout> {
  const checkout = await order(...given)
  await payFor(sale, checkout)
  return checkout
}

const far = { _id: 'evt_far', organization_id: 'org_2', location_id: undefined }
const sale = sharedSale({
  organizations: [anOrganization(), anOrganization({ _id: 'org_2' })],
  events: [
    anEvent({ _id: 'evt_1', ticket_rates: [aRateNamed('1'), aRateNamed('2')] }),
    anEvent({ _id: 'evt_2', ticket_rates: [aRateNamed('3')] }),
    anEvent({ ...far, ticket_rates: [aRateNamed('far')] }),
  ],
  provider: stubProvider({ refund: async ({ id }) => ({ kind: 'succeeded', reference: id }) }),
})
beforeAll(async () => {
  rival = await channelHeaders(sale.db, 'org_1')
  const family = await buy('family', '1', ['ana@example.com', 'Ben@Example.com', 'ben@example.com'])
  await buy('second', '2', ['ben@example.com'])
  await order('unpaid', '3', ['luz@example.com'])
  const given = await order('left', '1', ['luz@example.com'])
  await cancelPayment(sale, given.payment_id)
  await buy('rivals', '1', ['ana@example.com'], rival)
  await buy('far', 'far', ['ana@example.com'])
  const sold = await mustSell(sale, { tickets: [aBuyer('price_1', { email: 'otto@example.com' })] })
  ids.door = sold.payment.id
  const { refunds } = await refundTickets(sale, { ticketId: ticketOf(family) })
  expect(refunds).toMatchObject([{ status: 'SUCCEEDED' }])
})

type Page = {
  nodes: { id: string; createdAt: string; invoiceReference: string | null }[]
  edges: { cursor: string }[]
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string; endCursor: string }
}

const query = `query ($filter: PaymentFilter, $orderBy: PaymentOrder, $first: Int, $after: String, $last: Int, $before: String) {
  payments(filter: $filter, orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before) {
    nodes { id createdAt invoiceReference } edges { cursor }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`

type Variables = Record<string, unknown>
const ask = (variables: Variables, headers: Record<string, string>) =>
  sale.graphql<{ payments: Page | null }>(query, variables, headers)
async function pageOf(variables: Variables, headers: Record<string, string> = sale.integration.v2) {
  const { data, errors } = await ask(variables, headers)
  expect(errors).toBeUndefined()
  if (!data?.payments) throw new Error('the list has data')
  return data.payments
}
const namesOf = async (variables: Variables, headers?: Record<string, string>) =>
  (await pageOf(variables, headers)).nodes.map(({ id }) => nameOf(id))

const ofOrganization = ['door', 'rivals', 'left', 'unpaid', 'second', 'family']

test('an integration lists the payments of its organization, a channel its own, newest first', async () => {
  expect(await namesOf({})).toEqual(ofOrganization)
  expect(await namesOf({}, sale.integration.v1)).toEqual(ofOrganization)
  expect(await namesOf({}, sale.channel)).toEqual(['far', 'left', 'unpaid', 'second', 'family'])
  expect(await namesOf({}, rival)).toEqual(['rivals'])
  const testing = await inTestMode(sale)
  for (const headers of [testing.channel, testing.integration.v2])
    expect(await namesOf({}, headers)).toEqual([])
})

const filters: [filter: object, found: string[]][] = [
  [{ eventIds: 'evt_1' }, ['door', 'rivals', 'left', 'second', 'family']],
  [{ eventIds: 'evt_2' }, ['unpaid']],
  [{ eventIds: 'evt_far' }, []],
  [{ eventIds: ['evt_2', 'evt_1'] }, ofOrganization],
  [{ eventIds: ['evt_2', 'evt_far'] }, ['unpaid']],
  [{ ticketRateIds: 'rate_1' }, ['door', 'rivals', 'left', 'family']],
  [{ ticketRateIds: ['rate_2', 'rate_3', 'rate_3'] }, ['unpaid', 'second']],
  [{ ticketRateIds: 'rate_1', eventIds: 'evt_2' }, []],
  [{ status: 'PAID' }, ['door', 'rivals', 'second']],
  [{ status: ['PAID', 'PARTIALLY_REFUNDED'] }, ['door', 'rivals', 'second', 'family']],
  [{ status: ['CANCELLED', 'EXPIRED', 'FAILED'] }, ['left']],
  [{ status: ['PENDING', 'CANCELLED'], eventIds: ['evt_1', 'evt_2'] }, ['left', 'unpaid']],
  [{ status: 'PENDING' }, ['unpaid']],
  [{ status: 'CANCELLED' }, ['left']],
  [{ status: 'FAILED' }, []],
  [{ status: 'CANCELLED', eventIds: 'evt_2' }, []],
  // A payment with several tickets of one address is listed once.
  [{ email: 'BEN@example.com' }, ['second', 'family']],
  [{ email: 'ana@example.com' }, ['rivals', 'family']],
  [{ email: 'luz@example.com', status: 'PENDING' }, ['unpaid']],
  [{ email: 'ben@example.com', ticketRateIds: 'rate_1' }, ['family']],
  [{ email: 'nobody@example.com' }, []],
]

test.each(filters)('%j finds its payments', async (filter, found) => {
  expect(await namesOf({ filter })).toEqual(found)
  expect(await namesOf({ filter, orderBy: 'CREATED_ASC' })).toEqual(found.toReversed())
})

test('a filter shows a channel nothing of others', async () => {
  expect(await namesOf({ filter: { email: 'ana@example.com' } }, sale.channel)).toEqual(['far', 'family'])
  expect(await namesOf({ filter: { eventIds: 'evt_far' } }, sale.channel)).toEqual(['far'])
  expect(await namesOf({ filter: { eventIds: 'evt_far' } }, rival)).toEqual([])
  expect(await namesOf({ filter: { ticketRateIds: 'rate_1' } }, rival)).toEqual(['rivals'])
})

test('an invoice leads to its payment, for whoever sees that', async () => {
  const { nodes } = await pageOf({})
  const invoiceReference = nodes.find(({ id }) => nameOf(id) === 'family')?.invoiceReference ?? ''
  const found = (more: object, headers?: Record<string, string>) =>
    namesOf({ filter: { invoiceReference, ...more } }, headers)
  expect(await found({})).toEqual(['family'])
  // Series of both organizations begin with the same reference.
  expect(await found({}, sale.channel)).toEqual(['far', 'family'])
  expect(await found({}, rival)).toEqual([])
  expect(await found({}, (await inTestMode(sale)).integration.v2)).toEqual([])
  const year = invoiceReference.slice(1, 5)
  expect(await found({ invoiceReference: `R${year}-000001` })).toEqual(['family'])
  for (const unknown of [`F${year}-000099`, `F${year}-1`, `TEST-F${year}-000001`, 'F9999-999999999'])
    expect(await found({ invoiceReference: unknown }), unknown).toEqual([])
  expect(await found({ status: 'PARTIALLY_REFUNDED', eventIds: 'evt_1' })).toEqual(['family'])
  expect(await found({ status: 'PAID' })).toEqual([])
  expect(await found({ ticketRateIds: 'rate_2' })).toEqual([])
  expect(await found({ email: 'ben@example.com' })).toEqual(['family'])
  expect(await found({ email: 'luz@example.com' })).toEqual([])
})

test('a range of times includes its beginning and not its end', async () => {
  const { nodes } = await pageOf({})
  const at = nodes.find(({ id }) => nameOf(id) === 'unpaid')?.createdAt
  expect(await namesOf({ filter: { created: { from: at } } })).toEqual(['door', 'rivals', 'left', 'unpaid'])
  expect(await namesOf({ filter: { created: { until: at } } })).toEqual(['second', 'family'])
  expect(await namesOf({ filter: { created: { from: at, until: at } } })).toEqual([])
  expect(await namesOf({ filter: { created: { until: at }, email: 'ana@example.com' } })).toEqual(['family'])
  expect(await namesOf({ filter: { created: { from: at }, status: 'PAID' } })).toEqual(['door', 'rivals'])
  const after = new Date(Date.parse(at ?? '') + 1).toISOString()
  expect(await namesOf({ filter: { created: { from: at, until: after } } })).toEqual(['unpaid'])
  expect(await namesOf({ filter: { created: { from: after, until: at } } })).toEqual([])
  expect(await namesOf({ filter: { created: {} } })).toEqual(ofOrganization)
})

test.each([
  { orderBy: 'CREATED_ASC' },
  { orderBy: 'CREATED_DESC' },
  { filter: { eventIds: 'evt_1' } },
  { filter: { email: 'ana@example.com' } },
])('pages of %j lead through the list and back', async (list) => {
  const all = await namesOf(list)
  const forth: string[] = []
  for (let after: string | undefined, isMore = true; isMore; ) {
    const { nodes, pageInfo } = await pageOf({ ...list, first: 2, after })
    forth.push(...nodes.map(({ id }) => nameOf(id)))
    expect(pageInfo.hasPreviousPage).toBe(after !== undefined)
    after = pageInfo.endCursor
    isMore = pageInfo.hasNextPage
  }
  expect(forth).toEqual(all)
  const back: string[] = []
  for (let before: string | undefined, isMore = true; isMore; ) {
    const { nodes, pageInfo } = await pageOf({ ...list, last: 2, before })
    back.unshift(...nodes.map(({ id }) => nameOf(id)))
    expect(pageInfo.hasNextPage).toBe(before !== undefined)
    before = pageInfo.startCursor
    isMore = pageInfo.hasPreviousPage
  }
  expect(back).toEqual(all)
})

test('a cursor of another list, and filters out of bounds, are refused where they are wrong', async () => {
  const [edge] = (await pageOf({ filter: { email: 'ana@example.com' } })).edges
  const refused: [variables: Variables, path: string][] = [
    [{ first: 101 }, 'first'],
    [{ first: 1, last: 1 }, 'last'],
    [{ after: 'x' }, 'after'],
    [{ filter: { email: 'x' } }, 'filter.email'],
    [{ filter: { eventIds: '%' } }, 'filter.eventIds.0'],
    [{ filter: { eventIds: [] } }, 'filter.eventIds'],
    [{ filter: { ticketRateIds: [] } }, 'filter.ticketRateIds'],
    [{ filter: { status: [] } }, 'filter.status'],
    [{ filter: { status: Array(101).fill('PAID') } }, 'filter.status'],
    [{ filter: { invoiceReference: 'F-1' } }, 'filter.invoiceReference'],
  ]
  for (const [variables, path] of refused) {
    const { data, errors } = await ask(variables, sale.channel)
    expect(data?.payments).toBeNull()
    expect(errors?.map(({ extensions }) => extensions)).toMatchObject([{ code: 'INVALID', path }])
  }
  // Both lists have the order of checkouts: a place in one is a place in the other.
  expect(await namesOf({ after: edge?.cursor })).toEqual(['left', 'unpaid', 'second', 'family'])
})

test('a publishable key and nobody see no payments', async () => {
  const codeOf = async (headers: Record<string, string>) =>
    (await ask({}, headers)).errors?.map(({ extensions }) => extensions?.code)
  expect(await codeOf(await publishableHeaders(sale))).toEqual(['FORBIDDEN'])
  expect(await codeOf({})).toEqual(['UNAUTHENTICATED'])
})
