import { eq, sql } from 'drizzle-orm'
import type { FastifyInstance } from 'fastify'
import { extendSchema, parse } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { schema } from '../../src/app/schema.ts'
import { refusal } from '../../src/domain/contract/problem-codes.ts'
import { organizations } from '../../src/domain/organization/table.ts'
import { stock } from '../../src/domain/stock/table.ts'
import { findTicket } from '../../src/domain/ticket/loaders.ts'
import { ticketRatesByEventId } from '../../src/domain/ticket-rate/offer-loaders.ts'
import { boxOfficeRows } from '../support/authorization/box-office-rows.ts'
import { catalogueRows } from '../support/authorization/catalogue-rows.ts'
import { checkCredentials, checkOpenRow, checkRow } from '../support/authorization/checker.ts'
import { edgeRules } from '../support/authorization/edge-rows.ts'
import { checkEdges } from '../support/authorization/edges.ts'
import { edgesOf, graphqlEntryPoints } from '../support/authorization/entry-points.ts'
import { withLeakyGateway, withResolver } from '../support/authorization/leaky-gateway.ts'
import { graphqlListRows } from '../support/authorization/list-rows.ts'
import { liveRows } from '../support/authorization/live-rows.ts'
import type { OpenRow, Row } from '../support/authorization/matrix-row.ts'
import { seesSale } from '../support/authorization/oracle.ts'
import { ownerRows } from '../support/authorization/owner-rows.ts'
import { checkPublic, checkTokens } from '../support/authorization/public-routes.ts'
import { routeKinds } from '../support/authorization/rest-rows.ts'
import { openWorld, type World } from '../support/authorization/world.ts'

// Control tests of the authorization matrix: each makes a deliberate leak, which the matrix must find.

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world?.sale.close())

const row = (rows: typeof catalogueRows, at: string) => rows[at] as Row

test('a resolver without an access check is found', async () => {
  const wrong = await withResolver(
    world,
    'Query.ticket',
    () =>
      (_root, { id }, { db }) =>
        findTicket(db, id),
    (matrix) => checkRow(matrix, row(catalogueRows, 'Query.ticket(id)')),
  )
  expect(wrong).toContain('shop reads mk-sale-rival')
  expect(wrong).toContainEqual(expect.stringMatching(/^rival can tell tkt_/))
  // No resolver of a field for callers is run for somebody without credentials.
  expect(wrong).not.toContainEqual(expect.stringMatching(/^nobody can tell/))
})

test('a resolver that reveals the existence of a foreign object is found', async () => {
  const wrong = await withResolver(
    world,
    'Query.payment',
    (original) => async (root, args, ctx, info) => {
      const found = await original(root, args, ctx, info)
      if (!found && world.things.payment.some(({ id }) => id === args.id))
        throw refusal('FORBIDDEN', 'It is of somebody else.')
      return found
    },
    (matrix) => checkRow(matrix, row(catalogueRows, 'Query.payment(id)')),
  )
  expect(wrong).toContainEqual(expect.stringMatching(/^far can tell pay_/))
  expect(wrong.filter((one) => one.includes('reads'))).toEqual([])
})

test('a resolver that shows nothing to permitted callers is found', async () => {
  const wrong = await withResolver(
    world,
    'Query.event',
    () => () => null,
    (matrix) => checkRow(matrix, row(catalogueRows, 'Query.event(by.id)')),
  )
  expect(wrong).toContainEqual(expect.stringMatching(/^shop does not see evt_1/))
})

test('a mutation that writes before it refuses is found', async () => {
  const wrong = await withResolver(
    world,
    'Mutation.cancelTickets',
    (original) => async (root, args, ctx, info) => {
      await ctx.db
        .update(stock)
        .set({ capacity: sql`${stock.capacity} + 1` })
        .where(eq(stock.id, 'rate_1_a'))
      return original(root, args, ctx, info)
    },
    (matrix) => checkRow(matrix, row(ownerRows, 'Mutation.cancelTickets(input.of.ticketId)')),
  )
  expect(wrong).toContainEqual(expect.stringMatching(/^what was refused changed stock /))
})

test('an edge to a foreign object is found', async () => {
  const wrong = await withResolver(
    world,
    'Event.organization',
    () =>
      async (_root, _args, { db }) =>
        (await db.select().from(organizations).where(eq(organizations.id, 'org_2')))[0],
    async (matrix) => {
      await checkRow(matrix, row(catalogueRows, 'Query.event(by.id)'))
      return checkEdges(matrix, edgeRules)
    },
  )
  expect(wrong).toContain('Event.organization leads shop to Organization org_2')
})

test('an edge from a sold ticket to what its event offers now is found', async () => {
  const wrong = await withResolver(
    world,
    'Event.ticketRates',
    () =>
      ({ id }, _args, { loaders }) =>
        loaders.load(ticketRatesByEventId, id),
    async (matrix) => {
      await checkRow(matrix, row(catalogueRows, 'Query.ticket(id)'))
      return checkEdges(matrix, edgeRules)
    },
  )
  expect(wrong).toContain('Event.ticketRates leads lapsed to TicketRate rate_1_b')
  expect(wrong.filter((one) => !one.includes('lapsed'))).toEqual([])
})

test('a field without authentication is found', async () => {
  const wrong = await withResolver(
    world,
    'Query.webhooks',
    () => () => [],
    (matrix) => checkOpenRow(matrix, ownerRows['Query.webhooks'] as OpenRow),
  )
  expect(wrong).toEqual([expect.stringMatching(/^page is answered 200/)])
})

test('bad credentials that are accepted are found', async () => {
  const matrix = { world, app: world.sale.app, seen: [] }
  const event = row(catalogueRows, 'Query.event(by.id)')
  expect(await checkCredentials(matrix, event, world.callers.shop.headers)).toContainEqual(
    expect.stringMatching(/^let in: 200/),
  )
})

const looks: Row = {
  kind: 'ticket',
  sees: seesSale,
  ask: (_caller, id) => ({ method: 'GET', url: `/leak/${id}` }),
}

test('an unlisted route is found', async () => {
  const { db } = world.sale
  const addLeak = (app: FastifyInstance) =>
    app.get<{ Params: { id: string } }>('/leak/:id', ({ params }) => findTicket(db, params.id).then(Boolean))
  const { routes, result } = await withLeakyGateway(world, addLeak, (matrix) => checkRow(matrix, looks))
  expect(routes.filter((route) => !(route in routeKinds))).toEqual(['GET /leak/:id', 'HEAD /leak/:id'])
  expect(result).toContainEqual(expect.stringMatching(/^nobody can tell tkt_/))
})

test('a page that opens by a known ID or depends on the caller is found', async () => {
  const addHint = (app: FastifyInstance) =>
    app.addHook('onSend', async ({ url, headers }, reply) => {
      if (url.startsWith('/pay/pay_')) reply.header('x-known', 'yes')
      if (url === '/' && headers['x-api-key']) reply.header('x-known', 'yes')
    })
  const { result } = await withLeakyGateway(world, addHint, async (matrix) => [
    await checkTokens(matrix),
    await checkPublic(matrix, 'GET /'),
  ])
  expect(result[0]).toContainEqual(expect.stringMatching(/^GET \/pay\/\*: pay_\w+ can be told/))
  expect(result[1]).toHaveLength(1)
})

test('a field, an input field, a node type and an edge without a row are found', () => {
  const more = extendSchema(
    schema,
    parse(`extend type Query { leak(id: ID!): String }
      extend input CheckoutInput { leakId: ID }
      extend input QuoteCheckoutInput { leakId: ID }
      type Leak implements Node { id: ID! owner: Organization }`),
  )
  const rows = { ...catalogueRows, ...ownerRows, ...boxOfficeRows, ...graphqlListRows, ...liveRows }
  const known = new Set(Object.keys(rows))
  expect(graphqlEntryPoints(more).filter((at) => !known.has(at))).toEqual([
    'Query.quoteCheckout(input.leakId)',
    'Query.node(id) Leak',
    'Query.nodes(ids) Leak',
    'Query.leak(id)',
    'Mutation.checkout(input.leakId)',
  ])
  expect(edgesOf(more).filter((edge) => !edgeRules.has(edge))).toEqual(['Leak.owner'])
})
