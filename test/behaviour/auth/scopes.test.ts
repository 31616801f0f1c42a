import { beforeAll, expect, test } from 'vitest'
import { channelRoutes, integrationRoutes } from '../../../src/app/routes.ts'
import { schema } from '../../../src/app/schema.ts'
import { type IntegrationScope, integrationScopes } from '../../../src/domain/caller/api-key.ts'
import type { FieldNeeds } from '../../../src/engine/graphql/needs.ts'
import { routeKinds } from '../../support/authorization/rest-rows.ts'
import type { Checkout } from '../../support/checkouts.ts'
import { aRateOf } from '../../support/factories.ts'
import { scopedHeaders } from '../../support/modes.ts'
import { restProblems, sharedSale } from '../../support/sale.ts'
import { holdTickets } from '../../support/tickets.ts'

let checkout: Checkout
let keys: Record<IntegrationScope, Record<string, string>>
const sale = sharedSale({ rates: [aRateOf(10)] })
beforeAll(async () => {
  checkout = await holdTickets(sale)
  const entries = integrationScopes.map(async (scope) => [scope, await scopedHeaders(sale, scope)] as const)
  keys = Object.fromEntries(await Promise.all(entries)) as typeof keys
})

// Scope of each root field and each authenticated route, as it says itself.
const scopeOfOperation: Record<string, string> = Object.fromEntries(
  [
    ...[schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap((root) =>
      Object.values(root?.getFields() ?? {}).map(({ name, extensions }) => [
        `${root?.name}.${name}`,
        (extensions.needs as FieldNeeds).scope,
      ]),
    ),
    ...[...channelRoutes, ...integrationRoutes].map(({ method, url, needs }) => [
      `${method} ${url.replace(/:(\w+)/g, '{$1}')}`,
      needs.scope,
    ]),
  ].filter(([, scope]) => scope !== 'none'),
)

// A request for each of them; its arguments need name nothing.
const operations: Record<string, string> = {
  'Query.ticket': '{ ticket(id: "x") { id } }',
  'Query.tickets': '{ tickets { nodes { id } } }',
  'Query.payment': '{ payment(id: "x") { id } }',
  'Query.payments': '{ payments { nodes { id } } }',
  'Query.changes': '{ changes(from: { at: OLDEST }) { nodes { id } } }',
  'Query.webhooks': '{ webhooks { id } }',
  'Query.event': '{ event(by: { id: "evt_1" }) { id } }',
  'Query.events': '{ events { nodes { id } } }',
  'Query.organization': '{ organization(by: { id: "org_1" }) { id } }',
  'Query.organizations': '{ organizations { nodes { id } } }',
  'Query.ticketRate': '{ ticketRate(id: "rate_1") { id } }',
  'Query.discounts': '{ discounts { nodes { id } } }',
  ...Object.fromEntries(
    Object.entries({
      checkInTicket: 'ticket: { ticketId: "x" }, eventId: "x", idempotencyKey: "n"',
      checkInTickets: 'scans: [{ ticket: { ticketId: "x" }, eventId: "evt_1", idempotencyKey: "late" }]',
      redeemSupplement: 'ticket: { ticketId: "x" }, eventId: "x", supplementId: "x", idempotencyKey: "n"',
      refundTickets: 'of: { ticketId: "x" }, idempotencyKey: "n"',
      cancelTickets: 'of: { ticketId: "x" }',
      sellAtBoxOffice: 'items: [], method: CASH, idempotencyKey: "n"',
      issueInvitations: 'ticketRateId: "x", guests: [], idempotencyKey: "n"',
      updateAttendees: 'attendees: [{ ticketId: "x" }]',
      transferTicket: 'ticketId: "x", attendee: { fullName: "Ana", email: "ana@example.com" }',
      resendTickets: 'of: { ticketId: "x" }',
      registerWebhook: 'url: "x", idempotencyKey: "n"',
      updateWebhook: 'webhookId: "x"',
      enableWebhook: 'webhookId: "x"',
      disableWebhook: 'webhookId: "x"',
      deleteWebhook: 'webhookId: "x"',
      rotateWebhookSecret: 'webhookId: "x", idempotencyKey: "n"',
      redeliverWebhook: 'webhookId: "x", changeId: "x"',
    }).map(([name, input]) => [
      `Mutation.${name}`,
      `mutation { ${name}(input: { ${input} }) { __typename } }`,
    ]),
  ),
}

test('each query and mutation with a scope has a request', () => {
  const named = Object.keys(scopeOfOperation).filter((name) => /^(Query|Mutation)\./.test(name))
  expect(Object.keys(operations).sort()).toEqual(named.sort())
})

test.each(
  Object.keys(operations).flatMap((name) => integrationScopes.map((scope) => [name, scope] as const)),
)('%s with a key of the scope %s alone', async (name, scope) => {
  const { errors } = await sale.graphql(operations[name] ?? '', {}, keys[scope])
  const needed = scopeOfOperation[name]
  if (scope === needed) expect(errors).toBeUndefined()
  else
    expect(errors?.map(({ message, extensions }) => [message, extensions?.code])).toEqual([
      [`The key lacks the scope ${needed}.`, 'FORBIDDEN'],
    ])
})

const routes: Record<string, () => string> = {
  'GET /integrations/tickets': () => '/integrations/tickets',
  'GET /integrations/tickets.csv': () => '/integrations/tickets.csv',
  'GET /integrations/tickets.ndjson': () => '/integrations/tickets.ndjson',
  'GET /integrations/tickets/{ticketId}': () => `/integrations/tickets/${checkout.tickets[0]?._id}`,
  'GET /integrations/events/{eventId}/scan-list': () => '/integrations/events/evt_1/scan-list',
  'GET /events/{eventId}': () => '/events/evt_1',
  'GET /payments/{paymentId}': () => `/payments/${checkout.payment_id}`,
}

test.each(Object.keys(routes).flatMap((name) => integrationScopes.map((scope) => [name, scope] as const)))(
  '%s with a key of the scope %s alone',
  async (name, scope) => {
    const answer = await sale.rest('GET', routes[name]?.() ?? '', { headers: keys[scope] })
    const needed = scopeOfOperation[name]
    if (scope === needed) expect(answer.statusCode, answer.body).toBe(200)
    else
      expect([restProblems(answer), answer.json().message]).toEqual([
        ['FORBIDDEN'],
        `The key lacks the scope ${needed}.`,
      ])
  },
)

test('each REST operation of integrations has a scope', () => {
  const ofChannels = /^GET \/(events|tickets(\.\w+)?)$/
  const keyed = Object.keys(routeKinds).filter(
    (route) => routeKinds[route] === 'keyed' && route.startsWith('GET ') && !ofChannels.test(route),
  )
  const documented = keyed.map((route) => route.replace(/:(\w+)/g, '{$1}')).sort()
  expect(Object.keys(routes).sort()).toEqual(documented)
  expect(documented.filter((route) => !scopeOfOperation[route])).toEqual([])
})

test('a node of a type outside of the scopes is not found', async () => {
  const idOf = async (id: string | undefined, scope: IntegrationScope) =>
    (
      await sale.graphql<{ node: object | null }>(
        'query ($id: ID!) { node(id: $id) { id } }',
        { id },
        keys[scope],
      )
    ).data?.node
  const id = checkout.tickets[0]?._id
  expect([await idOf(id, 'tickets:read'), await idOf(id, 'door')]).toEqual([{ id }, null])
  expect([await idOf('evt_1', 'catalogue'), await idOf('evt_1', 'tickets:read')]).toEqual([
    { id: 'evt_1' },
    null,
  ])
})

test('a key without scopes, and a secret, have all of them', async () => {
  for (const headers of [sale.integration.v2, sale.integration.v1])
    for (const query of Object.values(operations))
      expect((await sale.graphql(query, {}, headers)).errors).toBeUndefined()
})

test('each root field that an integration may use has a scope', () => {
  const forAll = new Set([
    ...['Query.node', 'Query.nodes', 'Query.viewer'],
    // Channels and browsers only.
    ...['Query.paymentByUrl', 'Query.quoteCheckout', 'Subscription.payment'],
    ...['Mutation.checkout', 'Mutation.cancelPayment', 'Mutation.returnTicket'],
  ])
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  const names = roots.flatMap((root) =>
    Object.keys(root?.getFields() ?? {}).map((field) => `${root?.name}.${field}`),
  )
  expect(names.filter((name) => !scopeOfOperation[name] && !forAll.has(name))).toEqual([])
})
