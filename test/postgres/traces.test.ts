// Runs in: postgres

import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { importCatalogue } from '../../src/domain/import/import-catalogue.ts'
import type { OpenDatabase } from '../../src/engine/database/database.ts'
import { anEntry } from '../support/checkouts.ts'
import { type Collector, type ReceivedSpan, startCollector } from '../support/collector.ts'
import { toItems } from '../support/contract-input.ts'
import { aCatalogue, anEvent, aRateOf, channelHeaders } from '../support/factories.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { mustStartServer, type ServerProcess } from '../support/processes.ts'

// Traces of the built service, as a collector receives them.

let database: TestDatabase
let opened: OpenDatabase
let collector: Collector
let service: ServerProcess
let channel: Record<string, string>

const settings = () => ({
  ...database.settings,
  RATE_LIMIT: 'off',
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_BSP_SCHEDULE_DELAY: '50',
})

beforeAll(async () => {
  database = await createTestDatabase()
  opened = await database.open()
  await importCatalogue(opened.db, aCatalogue({ events: [anEvent({ ticket_rates: [aRateOf(1_000)] })] }))
  channel = await channelHeaders(opened.db)
  collector = await startCollector()
  service = await mustStartServer(settings())
})
afterAll(async () => {
  await service.stop()
  await collector.close()
  await opened.close()
  await database.drop()
})

const person = { full_name: 'Secretia Ñandú', email: 'secretia@example.com' }
const newTrace = () => crypto.randomUUID().replaceAll('-', '')
const callerSpan = '00f067aa0ba902b7'
const below = (traceId: string, flags = '01') => ({ traceparent: `00-${traceId}-${callerSpan}-${flags}` })

const send = (path: string, body: unknown, headers: Record<string, string>) =>
  fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { ...channel, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
const checkOut = (headers: Record<string, string>) =>
  send('/tickets/checkout', { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1', person)] }, headers)

const mutation = `mutation Secretia($input: CheckoutInput!) { checkout(input: $input) {
  ... on CheckoutPayload { payment { id } } } }`
const input = {
  items: toItems('rate_1', [{ priceId: 'price_1', fullName: person.full_name, email: person.email }]),
}

/** Waits until the span of the request has arrived, which ends last. Returns the spans of its trace. */
async function traceOf(traceId: string): Promise<ReceivedSpan[]> {
  const ofTrace = () => collector.spans.filter((span) => span.traceId === traceId)
  await vi.waitFor(
    () => expect(ofTrace().map(({ parentSpanId }) => parentSpanId)).toContain(callerSpan),
    20_000,
  )
  return ofTrace()
}

/** Names of the spans from the request's down to one. */
function pathTo(spans: ReceivedSpan[], span: ReceivedSpan): string[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId)
  return parent ? [...pathTo(spans, parent), span.name] : [span.name]
}

test('a request, its operation, its batch and its statements are one trace below the caller', async () => {
  const traceId = newTrace()
  expect((await send('/graphql', { query: mutation, variables: { input } }, below(traceId))).status).toBe(200)
  const spans = await traceOf(traceId)
  const paths = spans.map((span) => pathTo(spans, span))
  expect(paths).toContainEqual(['POST /graphql'])
  expect(paths).toContainEqual(['POST /graphql', 'read together'])
  const written = paths.find((path) => path.at(-1) === 'SELECT hold')
  expect(written?.slice(0, -1)).toEqual(['POST /graphql', 'mutation checkout', 'holds'])
  const [root] = spans.filter(({ name }) => name === 'POST /graphql')
  expect(root?.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/graphql',
    'http.response.status_code': 200,
    'boxoffice.operation': 'mutation checkout',
  })
  expect(collector.services[0]).toMatchObject({ 'service.name': 'boxoffice' })
})

test('a batch of several requests is below one of them and linked to the others', async () => {
  const traces = Array.from({ length: 24 }, newTrace)
  const answers = await Promise.all(traces.map((traceId) => checkOut(below(traceId))))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  const spans = (await Promise.all(traces.map(traceOf))).flat()
  const requests = new Set(
    spans.filter(({ parentSpanId }) => parentSpanId === callerSpan).map(({ spanId }) => spanId),
  )
  expect(requests.size).toBe(24)
  const batches = spans.filter(({ name }) => name === 'holds')
  const members = batches.flatMap(({ parentSpanId, links }) => [parentSpanId, ...links])
  expect(batches.length).toBeLessThan(24)
  expect(new Set(members)).toEqual(requests)
  for (const { attributes, links } of batches)
    expect(attributes['boxoffice.batch.size']).toBe(links.length + 1)
  expect(
    batches.map(({ spanId }) => spans.filter(({ parentSpanId }) => parentSpanId === spanId).length),
  ).not.toContain(0)
})

test('the log line names the trace and the span; a malformed traceparent begins a trace', async () => {
  const traceId = newTrace()
  await checkOut({ ...below(traceId), 'x-request-id': 'traced-1' })
  await checkOut({ traceparent: `00-${traceId}-nothing-01`, 'x-request-id': 'traced-2' })
  const lineOf = (requestId: string) =>
    vi.waitFor(() => {
      const line = service
        .output()
        .split('\n')
        .find((text) => text.includes(requestId))
      return JSON.parse(line ?? '') as Record<string, string>
    })
  const [root] = (await traceOf(traceId)).filter(({ parentSpanId }) => parentSpanId === callerSpan)
  expect(await lineOf('traced-1')).toMatchObject({
    trace_id: traceId,
    span_id: root?.spanId,
    parent_id: callerSpan,
  })
  const { trace_id, span_id, parent_id } = await lineOf('traced-2')
  expect([trace_id === traceId, parent_id]).toEqual([false, undefined])
  await vi.waitFor(() => expect(collector.spans.map(({ spanId }) => spanId)).toContain(span_id))
})

test('no span of what the caller does not sample, of probes, or of background jobs', async () => {
  const traceId = newTrace()
  await checkOut(below(traceId, '00'))
  await fetch(`${service.url}/ready`)
  const last = newTrace()
  await checkOut(below(last))
  await traceOf(last)
  expect(collector.spans.filter((span) => span.traceId === traceId)).toEqual([])
  const roots = new Set(
    collector.spans.filter(({ parentSpanId }) => parentSpanId === '').map(({ name }) => name),
  )
  expect([...roots].filter((name) => !/^(GET|POST)/.test(name) || name.includes('ready'))).toEqual([])
})

test('a refusal and a failure are told by their codes, and nothing personal by any span', async () => {
  const traceId = newTrace()
  const refused = await send('/tickets/checkout', { ticket_rate_id: 'rate_2', tickets: [] }, below(traceId))
  expect(refused.status).toBe(404)
  const [root] = (await traceOf(traceId)).filter(({ parentSpanId }) => parentSpanId === callerSpan)
  expect(root?.attributes).toMatchObject({ 'error.type': 'NOT_FOUND', 'http.response.status_code': 404 })
  expect(collector.spans.length).toBeGreaterThan(50)
  expect(collector.received()).not.toMatch(/secretia|box_live_|rate_1|= \$1|127\.0\.0\.1/i)
})

test('a collector that is away slows nobody down, and the service ends in time', async () => {
  const away = await mustStartServer({
    ...settings(),
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
  })
  expect((await fetch(`${away.url}/schema.graphql`)).status).toBe(200)
  await vi.waitFor(() => expect(away.output()).toContain('spans could not be sent to the collector'), 20_000)
  expect(await away.stop()).toBe(0)
})
