// Runs in: postgres

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { importCatalogue } from '../../src/domain/import/import-catalogue.ts'
import { queues as allQueues } from '../../src/domain/sale/report/queues.ts'
import type { OpenDatabase } from '../../src/engine/database/database.ts'
import { anEntry } from '../support/checkouts.ts'
import { aCatalogue, anEvent, aRateOf, channelHeaders } from '../support/factories.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { metricsUrlOf, parseMetrics, scrape, sumOf } from '../support/metrics.ts'
import { mustStartServer, type ServerProcess } from '../support/processes.ts'

// Metrics of the built service, as Prometheus scrapes them.

const listed = 'query Listed { events { nodes { id } } }'

let folder: string
let database: TestDatabase
let opened: OpenDatabase
let service: ServerProcess
let metrics: string
let channel: Record<string, string>

const settings = () => ({ ...database.settings, RATE_LIMIT: 'off', METRICS_PORT: '0' })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-metrics-'))
  const manifest = join(folder, 'documents.json')
  await writeFile(manifest, JSON.stringify({ listed }))
  database = await createTestDatabase()
  opened = await database.open()
  await importCatalogue(opened.db, aCatalogue({ events: [anEvent({ ticket_rates: [aRateOf(4)] })] }))
  channel = await channelHeaders(opened.db)
  service = await mustStartServer({
    ...settings(),
    TRUSTED_DOCUMENTS: manifest,
    // The primary itself, which is no replica.
    DATABASE_REPLICA_URLS: database.settings.DATABASE_URL ?? '',
  })
  metrics = metricsUrlOf(service)
})
afterAll(async () => {
  await service.stop()
  await opened.close()
  await database.drop()
  await rm(folder, { recursive: true })
})

const send = async (path: string, body: unknown, headers: Record<string, string> = channel) => {
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await answer.json()) as { data: { payment_url: string } }
}
const ask = (query: string) => send('/graphql', { query })
const checkOut = (count: number) =>
  send('/tickets/checkout', {
    ticket_rate_id: 'rate_1',
    tickets: Array.from({ length: count }, () => anEntry('price_1')),
  })

test('a sale, a refusal and a stranger are counted by route, operation and code', async () => {
  const paid = await checkOut(2)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  await fetch(paid.data.payment_url, {
    method: 'POST',
    headers: form,
    body: 'action=pay',
    redirect: 'manual',
  })
  await checkOut(1)
  await checkOut(3)
  await fetch(`${service.url}/events`)
  await fetch(`${service.url}/events`, { headers: channel })
  await fetch(`${service.url}/events`, { headers: channel })
  await ask(listed)
  await ask('query Mine { events { nodes { id } } more: events { nodes { name } } }')
  await ask('{ events { nodes { id } } __typename }')
  await ask('{ nothing }')
  // A request is counted once its answer is written, which the client may read first.
  const samples = await vi.waitFor(async () => {
    const scraped = await scrape(metrics)
    expect(sumOf(scraped, 'boxoffice_requests_total')).toBe(11)
    return scraped
  })
  const requests = (labels: Record<string, string>) => sumOf(samples, 'boxoffice_requests_total', labels)
  const checkouts = { method: 'POST', route: '/tickets/checkout' }
  expect(requests({ ...checkouts, status: '200', code: 'NONE' })).toBe(2)
  expect(requests({ ...checkouts, status: '409', code: 'INSUFFICIENT_AVAILABILITY' })).toBe(1)
  expect(requests({ method: 'POST', route: '/pay/*', status: '200' })).toBe(1)
  expect(requests({ route: '/events', status: '401', code: 'UNAUTHENTICATED' })).toBe(1)
  const operations = samples
    .filter(({ name, labels }) => name === 'boxoffice_requests_total' && labels.route === '/graphql')
    .map(({ labels }) => `${labels.operation} ${labels.code}`)
  expect(operations.sort()).toEqual([
    'query Listed NONE',
    'query events NONE',
    'query other BAD_REQUEST',
    'query several NONE',
  ])
  expect(sumOf(samples, 'boxoffice_request_duration_seconds_count', checkouts)).toBe(3)
  const changes = (type: string) => sumOf(samples, 'boxoffice_changes_total', { type, mode: 'live' })
  expect(['payment.paid', 'ticket.activated', 'payment.expired'].map(changes)).toEqual([1, 2, 0])
  for (const queue of ['holds', 'payments']) {
    expect(sumOf(samples, 'boxoffice_batch_size_count', { queue })).toBeGreaterThan(0)
    expect(sumOf(samples, 'boxoffice_batch_waiting', { queue })).toBe(0)
  }
  const hits = { cache: 'responses', result: 'hit' }
  expect(sumOf(samples, 'boxoffice_cache_lookups_total', hits)).toBeGreaterThan(0)
})

test('the database tells what holds places and what waits; the pool, its connections', async () => {
  const samples = await scrape(metrics)
  expect(sumOf(samples, 'boxoffice_database_ready')).toBe(1)
  expect(sumOf(samples, 'boxoffice_shards_unreachable')).toBe(0)
  expect(sumOf(samples, 'boxoffice_prepared_transactions')).toBe(0)
  expect(sumOf(samples, 'boxoffice_payments', { status: 'pending' })).toBe(1)
  const queues = samples
    .filter(({ name }) => name === 'boxoffice_jobs_late')
    .map(({ labels }) => labels.queue)
  expect(queues).toEqual(Object.keys(allQueues))
  expect(sumOf(samples, 'boxoffice_jobs_late')).toBe(0)
  expect(sumOf(samples, 'boxoffice_pool_max_connections', { database: 'primary' })).toBe(10)
  expect(sumOf(samples, 'boxoffice_pool_connections')).toBeGreaterThan(0)
  expect(sumOf(samples, 'boxoffice_pool_waiting')).toBe(0)
  expect(sumOf(samples, 'nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0)
})

test('names, paths and methods that strangers make up add no series', async () => {
  // Node's own tell the kinds of resources that are open just now, and jobs begin by the clock.
  const seriesOf = async () =>
    (await scrape(metrics)).filter(({ name }) => /^boxoffice_(?!job_)/.test(name)).length
  const made = async (prefix: string) => {
    const name = (number: number) => `${prefix}${number}`
    const numbers = Array.from({ length: 25 }, (_, number) => number)
    await Promise.all(
      numbers.flatMap((number) => [
        ask(`query ${name(number)} { events { nodes { id } } }`),
        ask(`query ${name(number)} { ${name(number)} }`),
        ask(`query Q { ${name(number)}: __typename }`),
        send(`/graphql?${name(number)}`, { query: '{ __typename }', operationName: name(number) }),
        fetch(`${service.url}/${name(number)}/x`, { headers: channel }),
        fetch(`${service.url}/pay/${name(number)}`),
        fetch(`${service.url}/events`, { method: number % 2 ? 'PUT' : 'PATCH' }),
        fetch(`${service.url}/events?${name(number)}=1`, { headers: channel }),
      ]),
    )
  }
  // Until every cache has had its first hit and its first miss.
  await made('first')
  await made('second')
  const before = await seriesOf()
  await made('third')
  expect(await seriesOf()).toBe(before)
})

test('a background job that fails is named in the log and counted', async () => {
  await opened.db.execute(sql`alter table deliveries rename to deliveries_kept`)
  try {
    await vi.waitFor(() => expect(service.output()).toContain('a background job failed'), 20_000)
  } finally {
    await opened.db.execute(sql`alter table deliveries_kept rename to deliveries`)
  }
  const line =
    service
      .output()
      .split('\n')
      .find((text) => text.includes('a background job failed')) ?? ''
  expect(JSON.parse(line)).toMatchObject({
    level: 'error',
    job: 'delivery',
    code: '42P01',
    sqlstate: '42P01',
    place: expect.stringMatching(/^dist\/\S+\.js:\d+$/),
  })
  const failed = { name: 'delivery', outcome: 'failed' }
  expect(sumOf(await scrape(metrics), 'boxoffice_job_duration_seconds_count', failed)).toBeGreaterThan(0)
})

test('failures of the payment page are counted by their code, as alerts ask for them', async () => {
  const { data } = await checkOut(1)
  await fetch(`${service.url}/pay/nobody`)
  await opened.db.execute(sql`alter table payments rename to payments_kept`)
  try {
    expect((await fetch(data.payment_url)).status).toBe(500)
  } finally {
    await opened.db.execute(sql`alter table payments_kept rename to payments`)
  }
  await vi.waitFor(async () => {
    const samples = await scrape(metrics)
    const pages = (labels: Record<string, string>) =>
      sumOf(samples, 'boxoffice_requests_total', { route: '/pay/*', ...labels })
    expect(pages({ status: '500', code: 'INTERNAL' })).toBe(1)
    expect(pages({ status: '404' })).toBeGreaterThan(0)
    expect(pages({ status: '404', code: 'NONE' })).toBe(0)
  })
})

test('a replica that the primary answers for shows', async () => {
  const samples = parseMetrics(await (await fetch(metrics)).text())
  const found = samples.filter(({ name }) => name === 'boxoffice_replica_read')
  expect(found).toMatchObject([{ labels: { database: 'replica_1' }, value: 0 }])
})

test('the port of the metrics answers nothing else, and many scrapes at once', async () => {
  const { origin } = new URL(metrics)
  expect((await fetch(`${origin}/`)).status).toBe(404)
  expect((await fetch(`${origin}/events`)).status).toBe(404)
  expect((await fetch(metrics, { method: 'POST', body: 'x'.repeat(100_000) })).status).toBe(405)
  expect((await fetch(`${service.url}/metrics`)).status).toBe(404)
  const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(metrics)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  const texts = await Promise.all(answers.map((answer) => answer.text()))
  expect(texts.join('')).not.toMatch(/ana@example|box_live_|Ana Núñez|first1|second1/)
})

const read = (file: string) => readFile(new URL(`../../${file}`, import.meta.url), 'utf8')
type Rules = { groups: { rules: { alert: string; expr: string }[] }[] }
type Dashboard = { panels: { targets?: { expr: string }[] }[] }

/** Names that an expression of Prometheus selects by, each with the labels that it compares. */
const selectorsOf = (expression: string) =>
  [...expression.matchAll(/\b((?:boxoffice|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', labels = '']) => ({
      name,
      labels: [...labels.matchAll(/(\w+)\s*[!=]/g)].map(([, label]) => label),
    }),
  )

test('alerts and the dashboard use metrics and labels that are exported; each alert is documented', async () => {
  const { groups }: Rules = parse(await read('deploy/prometheus/alerts.yaml'))
  const { panels }: Dashboard = JSON.parse(await read('deploy/grafana/dashboards/boxoffice.json'))
  const rules = groups.flatMap((group) => group.rules)
  // Of other exporters: their metrics are not ours to check.
  const ownRules = rules.filter(({ expr }) => /\b(boxoffice|nodejs|process)_|up\{/.test(expr))
  expect(rules.filter((rule) => !ownRules.includes(rule)).map(({ alert }) => alert)).toEqual([
    ...['BoxofficeBackupOld', 'BoxofficeRestoreDrillOld', 'BoxofficeArchiveFails', 'BoxofficeReplicaLags'],
    ...['BoxofficeTransactionOld', 'BoxofficeReplicationSlotHeld', 'BoxofficeDiskFull'],
  ])
  const shown = panels.flatMap(({ targets = [] }) => targets)
  const expressions = [...rules, ...shown].map(({ expr }) => expr)
  expect(expressions.length).toBeGreaterThan(40)
  const text = await (await fetch(metrics)).text()
  const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)]
  const exported = new Set(
    types.flatMap(([, name = '', type]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((part) => name + part) : [name],
    ),
  )
  const samples = parseMetrics(text)
  const selectors = expressions.flatMap(selectorsOf)
  expect(selectors.filter(({ name }) => !exported.has(name))).toEqual([])
  const hasLabels = (wanted: { name: string; labels: (string | undefined)[] }) =>
    samples.some(
      ({ name, labels }) => name === wanted.name && wanted.labels.every((label) => label && label in labels),
    )
  expect(selectors.filter((selector) => !hasLabels(selector))).toEqual([])
  // Ours are all used, but for what another one is divided by.
  const used = new Set(selectors.map(({ name }) => name.replace(/_(bucket|sum|count)$/, '')))
  const own = types.map(([, name = '']) => name).filter((name) => name.startsWith('boxoffice_'))
  expect(own.filter((name) => !used.has(name))).toEqual([])
  // Probes are many and never fail: they would hide what buyers meet.
  const counted = rules.flatMap(
    ({ expr }) => expr.match(/boxoffice_requests_total\{[^}]*\}|boxoffice_requests_total(?!\{)/g) ?? [],
  )
  expect(counted.length).toBeGreaterThanOrEqual(6)
  expect(counted.filter((selector) => !/route(!~"\/health\|\/ready"|="\/pay\/\*")/.test(selector))).toEqual(
    [],
  )
  const pages = rules.find(({ alert }) => alert === 'BoxofficePaymentPageFails')
  expect(pages?.expr).toContain('{route="/pay/*",status=~"5.."}')
  const operations = await read('docs/operations.md')
  const alerts = await read('docs/alerts.md')
  const sections = [...alerts.matchAll(/^## (Boxoffice\w+)$/gm)].map(([, name]) => name)
  expect(sections).toEqual(rules.map(({ alert }) => alert))
  expect(own.filter((name) => !operations.includes(`\`${name}\``))).toEqual([])
})
