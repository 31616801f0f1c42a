import { isNotNull } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tickets } from '../../src/domain/ticket/table.ts'
import { openWorld, type World } from '../support/authorization/world.ts'
import { expectHealthyAnswer, findLogLeaks } from '../support/fuzz/answer-checks.ts'
import { mutatedFrom } from '../support/fuzz/from-json-schema.ts'
import { fuzzRuns, seed } from '../support/fuzz/seed.ts'
import { anything, json, text } from '../support/fuzz/values.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { formType } from '../support/payment-page-buyer.ts'
import { internalDetails } from '../support/refusals.ts'
import { type StubEvent, signEvent, webhookSecret } from '../support/stub-stripe.ts'

// Random requests to routes without a key: pages, documents, the provider's webhook.

const lines: string[] = []
let world: World
let tokens: string[]
beforeAll(async () => {
  world = await openWorld({ settings: { LOG_LEVEL: 'trace' }, onLog: (line) => lines.push(line) })
  const rows = await world.sale.db
    .select({ token: tickets.documentToken })
    .from(tickets)
    .where(isNotNull(tickets.documentToken))
  tokens = rows.map(({ token }) => token ?? '')
})
afterAll(() => world?.sale.close())

const encoded = (text: string) => (text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80')
const known = '/ /health /ready /schema.graphql /docs /docs/json /openapi.json /docs/static/index.html'.split(
  ' ',
)
// GraphiQL and the REST documentation are third-party bundles that contain file names of their own.
const built = /^\/(docs|graphql)/

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const

describe(`pages with FUZZ_SEED=${seed}`, () => {
  test('random URLs, methods and forms never cause a server error', async () => {
    const statuses = new Set<number>()
    const address = fc.oneof(
      fc.constantFrom(...known, '/graphql', '/pay/', '/webhooks/stripe'),
      fc.constantFrom(...world.pages),
      fc.constantFrom(...tokens.map((token) => `/tickets/${token}.pdf`)),
      fc
        .tuple(
          fc.constantFrom('/', '/pay/', '/tickets/', '/docs/', '/docs/static/', '/graphql/', '/events/'),
          text,
        )
        .map(([path, rest]) => `${path}${encoded(rest).slice(0, 300)}`),
    )
    const query = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('', '?paid', '?paid=1&paid=2') },
      fc.tuple(text, text).map(([name, value]) => `?${encoded(name)}=${encoded(value)}`),
    )
    const form = fc.oneof(
      fc.constantFrom(
        'action=look',
        'action=cancel',
        'action=pay',
        'action=pay&action=cancel',
        'action[]=pay',
        '',
      ),
      text.map((value) => `action=${encoded(value)}`),
      text,
    )
    const property = fc.asyncProperty(
      fc.constantFrom('GET' as const, 'GET' as const, 'POST' as const, ...methods),
      address,
      query,
      form,
      fc.constantFrom(formType, formType, 'application/json', 'multipart/form-data', 'text/plain'),
      fc.constantFrom('text/html', '*/*', 'application/json'),
      async (method, address, query, form, type, accept) => {
        const hasBody = !['GET', 'HEAD', 'OPTIONS'].includes(method)
        const answer = await world.sale.app.inject({
          method,
          url: `${address}${query}`,
          headers: { accept, ...(hasBody && { 'content-type': type }) },
          payload: hasBody ? form : undefined,
        })
        statuses.add(answer.statusCode)
        expectHealthyAnswer(answer)
        if (!built.test(address) && !String(answer.headers['content-type']).includes('pdf'))
          expect(internalDetails.exec(answer.body)?.[0]).toBeUndefined()
      },
    )
    await fc.assert(property, fuzzRuns(350, 15))
    expect([...statuses]).toEqual(expect.arrayContaining([200, 404, 405]))
  })

  test('an event without a valid signature is never accepted', async () => {
    const signature = fc.oneof(
      fc.constantFrom(
        't=,v1=',
        't=1,v1=x',
        't=1',
        'v1=x',
        '=',
        ',',
        't=1e400,v1=',
        `t=${'9'.repeat(400)},v1=00`,
      ),
      fc.string({ unit: 'grapheme-ascii' }),
      fc.nat().map((time) => `t=${time},v1=${'0'.repeat(64)}`),
    )
    const property = fc.asyncProperty(
      signature,
      fc.oneof(
        json.map((body) => JSON.stringify(body)),
        text,
      ),
      async (given, body) => {
        const answer = await world.sale.rest('POST', '/webhooks/stripe', {
          body,
          headers: { 'content-type': 'application/json', 'stripe-signature': given },
        })
        expectHealthyAnswer(answer)
        expect(answer.statusCode).toBe(400)
      },
    )
    await fc.assert(property, fuzzRuns(100, 6))
  })

  test('random signed events never cause a server error', async () => {
    const types = ['completed', 'async_payment_succeeded', 'async_payment_failed', 'expired'].map(
      (type) => `checkout.session.${type}`,
    )
    const ids = [...world.things.payment.map(({ id }) => id), 'pay_0']
    const event = fc.record({
      id: fc.oneof(fc.constantFrom('evt_1', 'evt_2'), fc.uuid()),
      object: fc.constant('event'),
      type: fc.constantFrom(...types, 'refund.updated', 'refund.failed', 'x'),
      data: fc.record({
        object: fc.record({
          id: fc.constantFrom('cs_1', 're_1'),
          status: fc.constantFrom('open', 'complete', 'expired', 'succeeded', 'failed'),
          payment_status: fc.constantFrom('paid', 'unpaid', 'no_payment_required'),
          payment_intent: fc.constantFrom('pi_1', 'pi_2', null),
          amount_total: fc.constantFrom(0, -1, 1, 2675, 2 ** 53, 0.5),
          currency: fc.constantFrom('eur', 'jpy', 'xxx', ''),
          metadata: fc.record({
            payment_id: fc.constantFrom(...ids),
            refund_id: fc.constantFrom('ref_0', 'x\0'),
          }),
        }),
      }),
    })
    const statuses = new Set<number>()
    const events = fc.oneof(
      { weight: 1, arbitrary: event },
      { weight: 2, arbitrary: mutatedFrom(event) },
      anything,
    )
    const property = fc.asyncProperty(events, async (event) => {
      const answer = await world.sale.rest(
        'POST',
        '/webhooks/stripe',
        signEvent(event as StubEvent, webhookSecret),
      )
      statuses.add(answer.statusCode)
      expectHealthyAnswer(answer)
    })
    await fc.assert(property, fuzzRuns(200, 10))
    expect([...statuses].sort()).toEqual([200, 400])
  })

  test('random requests break no invariant and log no personal data', async () => {
    expect(await brokenInvariants(world.sale.db)).toEqual([])
    expect(lines.length).toBeGreaterThan(100)
    expect(findLogLeaks(lines, world)).toEqual([])
  })
})
