// Runs in: long, first

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { schema } from '../../src/app/schema.ts'
import { boxOfficeRows } from '../support/authorization/box-office-rows.ts'
import { badCredentialNames } from '../support/authorization/callers.ts'
import { catalogueRows, refusedRows, salesRows } from '../support/authorization/catalogue-rows.ts'
import {
  checkCredentials,
  checkOpenRow,
  checkRow,
  findChanges,
  type Matrix,
} from '../support/authorization/checker.ts'
import { edgeRules } from '../support/authorization/edge-rows.ts'
import { checkEdges, reachedEdges } from '../support/authorization/edges.ts'
import {
  edgesOf,
  graphqlEntryPoints,
  openApiEntryPoints,
  watchRoutes,
} from '../support/authorization/entry-points.ts'
import { invalidRequests } from '../support/authorization/invalid-requests.ts'
import { exportRows, graphqlListRows } from '../support/authorization/list-rows.ts'
import { liveRows } from '../support/authorization/live-rows.ts'
import { byGet, type OpenRow, type Row } from '../support/authorization/matrix-row.ts'
import { ownerRows } from '../support/authorization/owner-rows.ts'
import { checkPublic, checkTokens } from '../support/authorization/public-routes.ts'
import { headRows, restRows, routeKinds } from '../support/authorization/rest-rows.ts'
import { buyAs } from '../support/authorization/sell-as.ts'
import { openWorld } from '../support/authorization/world.ts'
import { readDocument } from '../support/openapi/document.ts'

// A foreign object gets the same response as an absent one, byte for byte, for every caller and every entry
// point (DECISIONS, access).

// Mutations come before reads, so that reads cover every state of a ticket.
const graphqlRows = { ...ownerRows, ...boxOfficeRows, ...catalogueRows, ...graphqlListRows, ...liveRows }
const rows = { ...graphqlRows, ...salesRows, ...restRows, ...exportRows, ...headRows }

let matrix: Matrix
let routes: string[]
beforeAll(async () => {
  // A busy machine may take longer than the usual deadline for hundreds of requests at once.
  const options = { settings: { CORS_ORIGINS: 'https://shop.example' }, answerTimeoutMs: 120_000 }
  const watched = await watchRoutes(() => openWorld(options))
  routes = watched.routes
  matrix = { world: watched.result, app: watched.result.sale.app, seen: [] }
})
afterAll(() => matrix?.world.sale.close())

describe('the matrix is complete', () => {
  test('GraphQL entry points and rows match one to one', () => {
    expect(Object.keys(graphqlRows).sort()).toEqual(graphqlEntryPoints(schema).sort())
  })

  test('operations and identifiers of the OpenAPI document match the rows one to one', async () => {
    const document = await readDocument(matrix.world.sale.app)
    expect(Object.keys(restRows).sort()).toEqual(openApiEntryPoints(document).sort())
  })

  test('routes and rows match one to one', () => {
    expect(Object.keys(routeKinds).sort()).toEqual([...routes].sort())
  })

  test('edges between objects and rows match one to one', () => {
    expect([...edgeRules.keys()].sort()).toEqual(edgesOf(schema).sort())
  })
})

test.each(Object.entries(rows))('%s', async (_at, row) => {
  expect(await ('open' in row ? checkOpenRow(matrix, row) : checkRow(matrix, row))).toEqual([])
})

test.each(['Query.ticket(id)', 'Query.event(by.id)', 'Query.node(id) Payment'])('%s by GET', async (at) => {
  expect(await checkRow(matrix, byGet(catalogueRows[at] as Row))).toEqual([])
})

test('a mutation by GET is refused', async () => {
  const { world, app } = matrix
  const row = byGet(ownerRows['Mutation.cancelTickets(input.of.ticketId)'] as Row)
  const wrong = await findChanges(matrix, [], async () => {
    const answers = world.things.ticket.map(async ({ id }) => {
      const { url } = row.ask(world.callers.door, id, world)
      return app.inject({ method: 'GET', url, headers: world.callers.door.headers })
    })
    const statuses = (await Promise.all(answers)).map(({ statusCode }) => statusCode)
    return [...new Set(statuses)].filter((status) => status !== 405).map((status) => `answered ${status}`)
  })
  expect(wrong).toEqual([])
})

test.each(Object.entries(refusedRows))('%s shows nothing foreign', async (_what, row) => {
  expect(await checkOpenRow(matrix, row as OpenRow)).toEqual([])
})

test('every edge was reached, and none led to a foreign object', async () => {
  expect([...reachedEdges(matrix)].sort()).toEqual([...edgeRules.keys()].sort())
  expect(await checkEdges(matrix, edgeRules)).toEqual([])
})

test.each(badCredentialNames)('%s gets a 401 that reveals nothing', async (name) => {
  const headers = matrix.world.bad[name]
  const wrong = await findChanges(matrix, [], async () => {
    const found = Object.entries(rows).map(async ([at, row]) =>
      (await checkCredentials(matrix, row, headers)).map((wrong) => `${at}: ${wrong}`),
    )
    return (await Promise.all(found)).flat()
  })
  expect(wrong).toEqual([])
})

test.each(invalidRequests)(
  'a caller without access to %s is refused before its input is validated',
  async (_name, ask, isFor) => {
    expect(
      await checkOpenRow(matrix, { open: true, isFor: isFor.split(' ') as OpenRow['isFor'], ask: () => ask }),
    ).toEqual([])
  },
)

const named: [what: string, query: string, callers: ['shop' | 'door', 'rival' | 'side']][] = [
  [
    'an idempotency key',
    `mutation { named: checkout(input: { idempotencyKey: "the-same", items: [{ ticketRateId: "rate_1_a", tickets: [
      { priceId: "price_1_a", attendee: { fullName: "Ana", email: "ana@example.com" } }] }] }) {
      ... on CheckoutPayload { replayed payment { id } } } }`,
    ['shop', 'rival'],
  ],
  [
    'an idempotency key of the box office',
    `mutation { named: issueInvitations(input: { ticketRateId: "rate_1_a", idempotencyKey: "the-same", guests: [
      { fullName: "mk-sale-matrix", email: "ana@example.com" }] }) { ... on IssueInvitationsPayload { replayed } } }`,
    ['door', 'side'],
  ],
  [
    'an idempotency key of a till',
    `mutation { named: sellAtBoxOffice(input: { idempotencyKey: "the-tills", method: CASH, items: [{ ticketRateId: "rate_1_a",
      tickets: [{ priceId: "price_1_a", attendee: { fullName: "mk-sale-matrix", email: "ana@example.com" } }] }] }) {
      ... on SellAtBoxOfficePayload { replayed } } }`,
    ['door', 'side'],
  ],
  [
    'an idempotency key of a refund',
    `mutation { named: refundTickets(input: { of: { ticketId: "$bought" }, idempotencyKey: "the-same",
      amount: { amount: "1.00", currency: "EUR" } }) { ... on RefundTicketsPayload { replayed } } }`,
    ['door', 'side'],
  ],
  [
    'an idempotency key of a secret',
    `mutation { named: registerWebhook(input: { url: "https://hooks.example/mk-sale-matrix", idempotencyKey: "the-same" }) {
      ... on RegisterWebhookPayload { replayed secret } } }`,
    ['door', 'side'],
  ],
  [
    'an idempotency key of mails',
    `mutation { named: resendTickets(input: { of: { ticketId: "$bought" }, idempotencyKey: "again" }) {
      ... on ResendTicketsPayload { replayed } } }`,
    ['door', 'side'],
  ],
  [
    'the key of a scan',
    'mutation { named: checkInTicket(input: { ticket: { ticketId: "x" }, eventId: "evt_1", idempotencyKey: "the-same" }) { ... on CheckInTicketPayload { replayed } } }',
    ['door', 'side'],
  ],
  [
    'the key of a redemption',
    `mutation { named: redeemSupplement(input: { ticket: { ticketId: "x" }, eventId: "evt_1", supplementId: "x", idempotencyKey: "the-same" }) {
      ... on RedeemSupplementPayload { replayed } } }`,
    ['door', 'side'],
  ],
]

test.each(named)('%s is scoped to its sender', async (_what, query, [one, other]) => {
  const { sale, callers } = matrix.world
  const asked = query.replace('$bought', await buyAs(sale, callers.shop, 1))
  const replayed = async ({ headers }: { headers: Record<string, string> }) =>
    (await sale.graphql<{ named: { replayed: boolean } }>(asked, {}, headers)).data?.named.replayed
  expect([await replayed(callers[one]), await replayed(callers[other])]).toEqual([false, false])
  expect([await replayed(callers[one]), await replayed(callers[other])]).toEqual([true, true])
})

describe('routes without credentials', () => {
  test('a route with a token opens by the token only and is the same for every caller', async () => {
    expect(await checkTokens(matrix)).toEqual([])
  })

  test.each(Object.keys(routeKinds).filter((route) => routeKinds[route] === 'public'))(
    '%s is the same for every caller',
    async (route) => {
      expect(await checkPublic(matrix, route)).toEqual([])
    },
  )
})
