import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buildSchema, type GraphQLSchema, isObjectType, parse, validate } from 'graphql'
import { expect, onTestFinished, test, vi } from 'vitest'
import { growthPlans } from '../../bench/growth-jobs.ts'
import { clients, eachWithItsOwn } from '../../bench/job-plan.ts'
import { plans } from '../../bench/jobs.ts'
import { runLoad } from '../../bench/load.ts'
import { type Job, measure, type Round, type Side } from '../../bench/measure.ts'
import { parseOptions } from '../../bench/options.ts'
import { tableOf } from '../../bench/report.ts'
import { nestedPageAsk } from '../../bench/requests.ts'
import { disagreement } from '../../bench/same-answer.ts'
import { holdSide, requestSide, withDrainCheck, withHoldCheck } from '../../bench/sides.ts'
import { median, percentile } from '../../bench/statistics.ts'
import { mockClock } from '../../support/mock-clock.ts'
import { temporaryParents } from '../../support/setup/temporary-folder.ts'

const round = (requests: number, problem: string | null = null): Round => ({
  requests,
  seconds: 1,
  p50: 1,
  p99: 2,
  cpuSeconds: null,
  problem,
})

/** A side that makes these numbers of requests per round; the first round is the warm-up. */
const sideOf = (name: string, ...requests: number[]): Side => ({
  name,
  clients: 1,
  residentMegabytes: async () => null,
  run: async () => round(requests.shift() ?? 0),
})

const jobOf = (job: Partial<Job>): Job => ({
  name: 'job',
  description: 'a job',
  reach: null,
  gateway: sideOf('gateway', 1, 10, 40, 30),
  yardstick: sideOf('yardstick', 1, 20, 20, 20),
  disagreement: async () => null,
  ...job,
})

const threeRounds = { seconds: 1, rounds: 3, warmUpSeconds: 1 }

test('the ratio is the median of the rounds', async () => {
  expect(await measure(jobOf({}), threeRounds)).toMatchObject({
    ratio: 1.5,
    reached: null,
    problem: null,
    gateway: { requestsPerSecond: 30 },
    yardstick: { requestsPerSecond: 20 },
  })
})

test.each([
  [{ atLeast: 1.5 }, 1.5, true],
  [{ atLeast: 1.6 }, 1.5, false],
  [{ atMost: 0.7 }, 2 / 3, true],
  [{ atMost: 0.6 }, 2 / 3, false],
])('the goal %j compares a ratio of requests or of times', async (reach, ratio, reached) => {
  expect(await measure(jobOf({ reach }), threeRounds)).toMatchObject({ ratio, reached })
})

test('sides with different responses have no ratio and miss the goal', async () => {
  const job = jobOf({ reach: { atLeast: 1 }, disagreement: async () => 'rows.data: 50 and 49' })
  expect(await measure(job, threeRounds)).toMatchObject({
    ratio: null,
    reached: false,
    problem: 'rows.data: 50 and 49',
  })
})

test('preparation of a job runs before the comparison', async () => {
  let isPrepared = false
  const job = jobOf({
    async prepare() {
      isPrepared = true
    },
    disagreement: async () => (isPrepared ? null : 'too early'),
  })
  expect(await measure(job, threeRounds)).toMatchObject({ ratio: 1.5, problem: null })
})

test('the report is a Markdown table with goals and the reasons of missing ratios', async () => {
  const results = [
    await measure(jobOf({ reach: { atLeast: 1 } }), threeRounds),
    await measure(jobOf({ reach: { atMost: 1.2 }, disagreement: async () => 'no rows' }), threeRounds),
  ]
  const lines = tableOf(results).split('\n')
  const cells = lines.map((line) => line.split('|').map((cell) => cell.trim()))
  expect(cells[0]).toHaveLength(16)
  expect(cells[1]?.join('')).toMatch(/^-+$/)
  expect(cells[2]).toEqual(
    ['', 'a job', '1', '30.0', '1.0', '2.0', '–', '–', 'yardstick', '20.0', '1.0', '2.0'].concat(
      ...['1.50×', '≥ 1×', 'yes', ''],
    ),
  )
  expect(cells[3]?.slice(-4)).toEqual(['none', '≤ 1.2×', 'no', ''])
  expect(lines.at(-1)).toBe('No ratio for job: no rows')
})

test('a side that writes less than it acknowledges has no ratio', async () => {
  const counts = [0, 5, 5, 10, 10, 15, 15, 20]
  const gateway = withHoldCheck(sideOf('gateway', 1, 10, 10, 10), async () => ({
    tickets: counts.shift() ?? 0,
  }))
  expect(await measure(jobOf({ gateway }), threeRounds)).toMatchObject({
    ratio: null,
    problem: 'gateway: 1 done, but written: tickets 5',
  })
})

test.each([
  [60, 180, null],
  [undefined, 3, 'the wall: 3 done, but written: tickets 180'],
])('a call counts as all that it holds: %s', async (ofCall, requests, problem) => {
  const called: object[] = []
  const hold = async (task: object) => {
    called.push(task)
    return { transactions: 3, seconds: 1, p50: 7, p99: 9 }
  }
  const task = { clients: 1, targets: 1, ...(ofCall && { ofCall }) }
  const counts = [20, 200]
  const side = withHoldCheck(holdSide('the wall', hold, task), async () => ({ tickets: counts.shift() ?? 0 }))
  expect(await side.run(2)).toMatchObject({ requests, p50: 7, problem })
  expect(called).toEqual([{ ...task, seconds: 2 }])
})

test('responses with equal rows and values agree in any field order', () => {
  const answer = { data: [{ id: 1, rates: [{ price: 10.5 }] }], success: true }
  const same = { success: true, data: [{ rates: [{ price: 10.5 }], id: 1 }] }
  expect(disagreement(answer, same)).toBe(null)
  expect(disagreement(answer, { ...same, data: [{ id: 1, rates: [] }] })).toBe('rows.rates: 1 and undefined')
  expect(disagreement(answer, { ...same, data: [{ id: 1, rates: [{ price: 10 }] }] })).toBe(
    'answer.data.0.rates.0.price: 10.5 and 10',
  )
  expect(disagreement({ errors: null }, { errors: null })).toBe('the answers hold no rows')
})

test('percentiles and medians are computed from unsorted values', () => {
  expect(percentile([3, 1, 2, 4], 0.5)).toBe(2)
  expect(percentile([3, 1, 2, 4], 0.99)).toBe(4)
  expect(median([3, 1, 2])).toBe(2)
  expect(median([4, 1, 2, 3])).toBe(2.5)
})

async function listen(server: Server): Promise<number> {
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

/** Freezes the clock of a load and returns how to advance it. With real time, a pause of the machine could
 *  end a load before any request is repeated. */
function timeByRequests() {
  const { advance, restore } = mockClock({ isFrozen: true })
  onTestFinished(restore)
  return advance
}

test('a load counts every response by status and spreads over its requests', async () => {
  const seen = new Map<string, number>()
  const server = createServer((request, response) => {
    const asked = `${request.method} ${request.url}`
    seen.set(asked, (seen.get(asked) ?? 0) + 1)
    let body = ''
    request.setEncoding('utf8').on('data', (text) => {
      body += text
    })
    request.on('end', () => {
      const answer = `${'x'.repeat(200_000)}${body}`
      response
        .writeHead(request.url === '/missing' ? 404 : 200, { 'content-length': Buffer.byteLength(answer) })
        .end(answer)
    })
  })
  const { answers, statuses, shortest, longest } = await runLoad({
    port: await listen(server),
    clients: 4,
    seconds: 0.2,
    asks: [
      { method: 'GET', path: '/missing', headers: {} },
      { method: 'POST', path: '/', headers: { 'content-type': 'text/plain' }, body: 'ñ' },
    ],
  })
  expect([...seen.keys()].sort()).toEqual(['GET /missing', 'POST /'])
  expect(statuses).toEqual({ 200: seen.get('POST /'), 404: seen.get('GET /missing') })
  expect(answers).toBe([...seen.values()].reduce((sum, count) => sum + count))
  expect([shortest, longest]).toEqual([200_000, 200_002])
})

test('clients with their own requests repeat only these', async () => {
  const seen = new Map<unknown, Set<unknown>>()
  const pass = timeByRequests()
  const server = createServer((request, response) => {
    pass(1)
    seen.set(request.socket, (seen.get(request.socket) ?? new Set()).add(request.headers['x-api-key']))
    response.writeHead(200, { 'content-length': 0 }).end()
  })
  const port = await listen(server)
  const keys = Array.from({ length: clients }, (_, number) => `key-${number}`)
  const asks = eachWithItsOwn(keys, (key) => ({ method: 'GET', path: '/', headers: { 'x-api-key': key } }))
  const { answers } = await runLoad({ ...asks, port, seconds: 0.1 })
  expect(answers).toBeGreaterThan(2 * clients)
  expect([...seen.values()].map((asked) => [...asked].join()).sort()).toEqual([...keys].sort())
  expect(() => eachWithItsOwn(keys.slice(1), () => ({ method: 'GET', path: '/', headers: {} }))).toThrow(
    'a key of its own',
  )
})

test.each([
  [150, null],
  [40, 'gateway: answers of 40 and of 100 bytes'],
])(
  'responses of %i and of 100 bytes are comparable unless one is less than half as long',
  async (length, problem) => {
    let answers = 0
    const pass = timeByRequests()
    const server = createServer((_, response) => {
      pass(10)
      const body = 'x'.repeat(answers++ % 2 ? 100 : length)
      response.writeHead(200, { 'content-length': body.length }).end(body)
    })
    const side = requestSide(
      'gateway',
      { port: await listen(server), pid: process.pid, stop: async () => {} },
      { run: runLoad, stop: async () => {} },
      { clients: 1, asks: [{ method: 'GET', path: '/', headers: {} }] },
    )
    expect(await side.run(0.1)).toMatchObject({ problem })
  },
)

test('a load fails if the server hangs up', async () => {
  const port = await listen(createServer((request) => void request.socket.destroy()))
  const asks = [{ method: 'GET' as const, path: '/', headers: {} }]
  await expect(runLoad({ port, clients: 2, seconds: 0.1, asks })).rejects.toThrow('the connection ended')
})

test('the command line is validated', () => {
  expect(parseOptions([])).toMatchObject({ events: 20_000, rounds: 3, only: [''] })
  expect(parseOptions(['--quick'])).toMatchObject({ events: 200, seconds: 1, rounds: 1 })
  expect(parseOptions(['--only', 'page,shared'])).toMatchObject({ only: ['page', 'shared'] })
  expect(() => parseOptions(['--seconds', '0'])).toThrow('--seconds must be a whole number of at least 1')
  expect(() => parseOptions(['--fast'])).toThrow('--fast')
})

test('job names are unique, and each size is compared with the smallest', () => {
  const grown = growthPlans({ events: [10, 20, 30], tickets: [1, 2], deliveries: 3 })
  const names = [...plans, ...grown].map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(grown.map(({ name }) => name)).toEqual([
    ...['growth-page-20', 'growth-page-30', 'growth-checkout-one-2', 'growth-checkout-many-2'],
    'background-checkout-many',
  ])
})

test.each([
  [[9, 7, 7, 7], null],
  [[9, 9, 9, 8], null],
  [[9, 9, 9, 9], 'side: nothing was drained'],
  [[9, 5, 5, 0], 'side: nothing is queued any more'],
])('a queue of lengths %j must shrink in two rounds without running empty', async (counts, problem) => {
  const side = withDrainCheck(sideOf('side', 4, 5), async () => counts.shift() ?? 0)
  expect(await side.run(1)).toMatchObject({ requests: 4, problem: null })
  expect(await side.run(1)).toMatchObject({ requests: 5, problem })
})

const schemaOf = (path: string) => buildSchema(readFileSync(new URL(path, import.meta.url), 'utf8'))
const fieldsOf = (schema: GraphQLSchema) =>
  Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !type.name.startsWith('__'))
    .flatMap((type) =>
      isObjectType(type)
        ? Object.values(type.getFields()).map((field) => `${type.name}.${field.name}: ${field.type}`)
        : [],
    )

test('the schema of Mercurius is a part of the gateway’s', () => {
  const ours = new Set(fieldsOf(schemaOf('../../../schema.graphql')))
  const theirs = fieldsOf(schemaOf('../../bench/mercurius/schema.graphql'))
  expect(theirs.length).toBeGreaterThan(70)
  expect(theirs.filter((field) => !ours.has(field))).toEqual([])
  const asked: { query: string } = JSON.parse(nestedPageAsk('key').body ?? '')
  expect(validate(schemaOf('../../bench/mercurius/schema.graphql'), parse(asked.query))).toEqual([])
})

test('Mercurius and the gateway share the versions of common dependencies', () => {
  const read = (path: string): { dependencies: Record<string, string> } =>
    JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
  const ours = read('../../../package.json').dependencies
  const { mercurius, ...shared } = read('../../bench/mercurius/package.json').dependencies
  expect(mercurius).toMatch(/^\d+\.\d+\.\d+$/)
  expect(ours).toMatchObject(shared)
  expect(
    readFileSync(new URL('../../bench/mercurius/package-lock.json', import.meta.url), 'utf8'),
  ).not.toContain('"resolved"')
})

test('folders on disk are never in memory', async () => {
  vi.stubEnv('TMPDIR', '/dev/shm')
  onTestFinished(() => void vi.unstubAllEnvs())
  const parents = await temporaryParents('disk')
  expect(parents).not.toContain('/dev/shm')
  // Control: TMPDIR does point into memory.
  expect(await temporaryParents('memory')).toContain('/dev/shm')
})
