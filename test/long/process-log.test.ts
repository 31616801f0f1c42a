import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { parseMetrics, sumOf } from '../support/metrics.ts'
import { mustStartServer } from '../support/processes.ts'
import { freePort } from '../support/setup/managed-process.ts'

// Logs of processes: on a full disk (/dev/full), in a pipe that nobody reads or that is closed, while the database is away,
// and when they are told to leave.

const server = fileURLToPath(new URL('../../dist/server.js', import.meta.url))

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

test.each([
  ['full', '1'],
  ['full', '2'],
  ['unread', '1'],
  ['closed', '1'],
])(
  'a service whose log is %s answers, counts what it drops, and ends (processes: %s)',
  async (kind, WEB_CONCURRENCY) => {
    const [port, metricsPort] = await Promise.all([freePort(), freePort()])
    const full = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [server], {
      env: {
        ...{
          PATH: process.env.PATH,
          ...database.settings,
          WEB_CONCURRENCY,
          RATE_LIMIT: 'off',
          DRAIN_SECONDS: '0',
        },
        ...{ PORT: String(port), METRICS_PORT: String(metricsPort) },
      },
      stdio: ['ignore', kind === 'full' ? full : 'pipe', 'inherit'],
    })
    const ended = once(child, 'exit')
    if (kind === 'closed') child.stdout?.destroy()
    else child.stdout?.pause()
    try {
      const url = `http://127.0.0.1:${port}`
      const answers = (path: string) =>
        fetch(`${url}${path}`).then(
          ({ status }) => status,
          () => 0,
        )
      await expect.poll(() => answers('/health')).toBe(200)
      for (let round = 0; round < 80; round++)
        expect(await Promise.all(Array.from({ length: 100 }, () => answers('/nothing')))).toEqual(
          Array(100).fill(404),
        )
      const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
      expect(sumOf(parseMetrics(metrics), 'boxoffice_log_lines_dropped_total')).toBeGreaterThan(10)
      child.kill('SIGTERM')
      expect(await Promise.race([ended, setTimeout(60_000, 'hangs')])).toEqual([0, null])
    } finally {
      child.kill('SIGKILL')
      closeSync(full)
    }
  },
)

test('a service whose database is away says so a few times a minute, and when it is told to shut down', async () => {
  const DATABASE_URL = `postgres://nobody@127.0.0.1:${await freePort()}/none`
  const service = await mustStartServer({ DATABASE_URL, DRAIN_SECONDS: '1' })
  onTestFinished(() => void service.child.kill('SIGKILL'))
  const lines = () =>
    service
      .output()
      .split('\n')
      .flatMap((line): Record<string, unknown>[] => (line.startsWith('{') ? [JSON.parse(line)] : []))
  const failures = () => lines().filter(({ msg }) => msg === 'a background job failed')
  await expect.poll(() => failures().length).toBeGreaterThan(0)
  await setTimeout(6_000)
  // Each job has run some six times since.
  const kinds = failures().map(({ job, code }) => `${job} ${code}`)
  expect(kinds).toEqual([...new Set(kinds)])
  expect(lines().filter(({ msg }) => /out of reach/.test(String(msg)))).toHaveLength(1)
  expect(await service.stop('SIGTERM')).toBe(0)
  expect(lines().filter(({ msg }) => /told to shut down/.test(String(msg)))).toMatchObject([
    { level: 'info', seconds: 1 },
  ])
})
