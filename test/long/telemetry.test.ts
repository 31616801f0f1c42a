import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { metricsUrlOf, scrape, sumOf } from '../support/metrics.ts'
import { mustStartServer, mustStartWorkers, runCli, startServer } from '../support/processes.ts'

// Starts of the built service with metrics, traces and forms of logs, and without.

const preload = fileURLToPath(new URL('../support/list-modules.cjs', import.meta.url))

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

const telemetry = /^(prom-client|pino-pretty|@opentelemetry\/.*)$/

/** Packages for telemetry that the service has loaded by its end. */
async function loadedWith(settings: Record<string, string>): Promise<string[]> {
  const service = await mustStartServer({
    ...database.settings,
    ...settings,
    NODE_OPTIONS: `--require ${preload}`,
  })
  await fetch(`${service.url}/graphql?query={__typename}`)
  expect(await service.stop()).toBe(0)
  const packages = /packages: (.*)/.exec(service.errors())?.[1]?.split(' ') ?? []
  expect(packages).toContain('pino')
  return packages.filter((name) => telemetry.test(name))
}

test('without settings, nothing of metrics, traces and pretty logs is loaded', async () => {
  expect(await loadedWith({})).toEqual([])
})

test('control: with settings, each is loaded', async () => {
  const loaded = await loadedWith({ METRICS_PORT: '0', OTEL_TRACES_EXPORTER: 'otlp' })
  expect(loaded).toContain('prom-client')
  expect(loaded).toContain('@opentelemetry/sdk-trace-node')
  expect(loaded).not.toContain('pino-pretty')
})

test('LOG_FORMAT=pretty writes for a person, also where output is no terminal', async () => {
  const wrong = await runCli(['migrate'], { ...database.settings, LOG_FORMAT: 'text' })
  expect([wrong.code, wrong.errors]).toEqual([1, expect.stringContaining('LOG_FORMAT: ')])
  const service = await mustStartServer({ ...database.settings, LOG_FORMAT: 'pretty' })
  await fetch(`${service.url}/schema.graphql`)
  expect(await service.stop()).toBe(0)
  expect(service.output()).toMatch(
    /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: request GET \/schema\.graphql 200 in \d+ ms /m,
  )
  expect(service.output()).not.toContain('"level"')
})

test('a port that is taken is an error that names the setting', async () => {
  const service = await mustStartServer({ ...database.settings, METRICS_PORT: '0' })
  const { port } = new URL(metricsUrlOf(service))
  const ended = await startServer({ ...database.settings, METRICS_PORT: port })
  expect('code' in ended ? [ended.code, ended.errors] : 'it started').toEqual([
    1,
    `Port ${port} of 127.0.0.1 is taken: stop the process that listens there, or set METRICS_PORT to another.\n`,
  ])
  expect(await service.stop()).toBe(0)
})

test('several processes are scraped as one, and go on serving', async () => {
  const service = await mustStartWorkers(2, { ...database.settings, METRICS_PORT: '0' })
  const url = metricsUrlOf(service)
  await vi.waitFor(async () => expect(sumOf(await scrape(url), 'boxoffice_processes')).toBe(2), 60_000)
  for (let time = 0; time < 20; time++)
    await fetch(`${service.url}/schema.graphql`, { headers: { connection: 'close' } })
  const samples = await scrape(url)
  expect(sumOf(samples, 'boxoffice_requests_total', { route: '/schema.graphql' })).toBe(20)
  expect(sumOf(samples, 'boxoffice_pool_max_connections')).toBe(20)
  // Both see the same database.
  expect(sumOf(samples, 'boxoffice_database_ready')).toBe(1)
  expect((await fetch(`${service.url}/ready`)).status).toBe(200)
  expect(await service.stop()).toBe(0)
})
