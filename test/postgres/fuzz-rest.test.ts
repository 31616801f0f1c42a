import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorld, type World } from '../support/authorization/world.ts'
import { expectSafe, findLogLeaks } from '../support/fuzz/answer-checks.ts'
import { requestsOf } from '../support/fuzz/requests.ts'
import { fuzzRuns, seed } from '../support/fuzz/seed.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { createRouteFinder, mistakeInAnswer } from '../support/openapi/answer-checker.ts'
import { type Route, readDocument, routesOf } from '../support/openapi/document.ts'

// Random requests of every route in the OpenAPI document.

const lines: string[] = []
let world: World
let routes: Route[]
let findRoute: ReturnType<typeof createRouteFinder>
beforeAll(async () => {
  world = await openWorld({ settings: { LOG_LEVEL: 'trace' }, onLog: (line) => lines.push(line) })
  const document = await readDocument(world.sale.app)
  routes = routesOf(document)
  findRoute = createRouteFinder(document)
})
afterAll(() => world?.sale.close())

// Checkouts that were made: their texts are shown again by the lists.
const stored: string[] = []

const ids = [
  'GET /events',
  'GET /events/{eventId}',
  'GET /payments/{paymentId}',
  'POST /tickets/checkout',
  'GET /tickets',
  'GET /integrations/tickets',
  'GET /integrations/tickets/{ticketId}',
  'GET /integrations/events/{eventId}/scan-list',
]

describe(`REST with FUZZ_SEED=${seed}`, () => {
  test('every documented route is fuzzed', () => {
    expect(routes.map(({ method, path }) => `${method} ${path}`)).toEqual(ids)
  })

  test.each(ids)('%s gives random requests a documented response', async (id) => {
    const route = routes.find(({ method, path }) => `${method} ${path}` === id)
    if (!route) throw new Error(`there is no ${id}`)
    const statuses = new Map<number, number>()
    const property = fc.asyncProperty(requestsOf(route, world), async ({ caller, request }) => {
      const answer = await world.sale.app.inject(request)
      const { statusCode, body } = answer
      statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1)
      const sent = JSON.stringify(request)
      if (request.method === 'POST' && statusCode === 200) stored.push(sent)
      expectSafe(answer, caller, world, sent, stored)
      // Without an identifier, the address of a lookup may be that of a list with a slash at its end.
      const routed = findRoute(route.method, answer.raw.req.url ?? '/') ?? route
      expect(mistakeInAnswer(routed, answer), `${statusCode} ${body.slice(0, 500)}`).toBeNull()
    })
    await fc.assert(property, fuzzRuns(300, 15))
    // Guards against a generator whose requests are all refused, or all for the same reason.
    expect(statuses.get(200)).toBeGreaterThan(3)
    expect(statuses.get(400)).toBeGreaterThan(3)
    expect(statuses.get(401)).toBeGreaterThan(3)
    // Every kind of caller may list events, so these three are all that the list answers to them.
    expect(statuses.size).toBeGreaterThan(id === 'GET /events' ? 2 : 3)
  })

  test('random requests break no invariant and log no personal data', async () => {
    expect(await brokenInvariants(world.sale.db)).toEqual([])
    expect(lines.length).toBeGreaterThan(100)
    expect(findLogLeaks(lines, world)).toEqual([])
  })
})

test('control: undocumented responses and log leaks are found', () => {
  const [route] = routes
  if (!route) throw new Error('there is a route')
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  const mistakeOf = (statusCode: number, body: unknown) =>
    mistakeInAnswer(route, { statusCode, headers, body: JSON.stringify(body) })
  expect(mistakeOf(200, { success: true, data: [] })).toBeNull()
  expect(mistakeOf(200, { success: true, data: [{ _id: 1 }] })).toMatch(/data\/data\/0/)
  expect(mistakeOf(400, { success: false })).toMatch(/must have required property/)
  expect(mistakeOf(409, {})).toBe('409 is not documented')
  const person = JSON.stringify({
    level: 'info',
    time: 1_700_000_000_000,
    msg: 'request',
    email: 'ana@example.com',
  })
  expect(findLogLeaks([person], world)).toHaveLength(2)
})
