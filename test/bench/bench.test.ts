import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { runLoad } from './load.ts'
import { type Job, measure, type Round, type Side } from './measure.ts'
import { parseOptions } from './options.ts'
import { disagreement } from './same-answer.ts'
import { counted } from './sides.ts'
import { median, percentile } from './statistics.ts'

const round = (requests: number, problem: string | null = null): Round => ({
  requests,
  seconds: 1,
  p50: 1,
  p99: 2,
  cpuSeconds: null,
  problem,
})

/** Does so many requests in each round; the first is the warm-up. */
const sideOf = (name: string, ...requests: number[]): Side => ({
  name,
  clients: 1,
  run: async () => round(requests.shift() ?? 0),
})

const jobOf = (job: Partial<Job>): Job => ({
  name: 'job',
  description: '',
  gateway: sideOf('gateway', 1, 10, 40, 30),
  yardstick: sideOf('yardstick', 1, 20, 20, 20),
  disagreement: async () => null,
  residentMegabytes: async () => null,
  ...job,
})

const threeRounds = { seconds: 1, rounds: 3, warmUpSeconds: 1 }

test('the ratio is the median of the rounds', async () => {
  expect(await measure(jobOf({}), threeRounds)).toMatchObject({
    ratio: 1.5,
    problem: null,
    gateway: { requestsPerSecond: 30 },
    yardstick: { requestsPerSecond: 20 },
  })
})

test('there is no ratio where the two answer differently', async () => {
  const result = await measure(jobOf({ disagreement: async () => 'rows.data: 50 and 49' }), threeRounds)
  expect(result).toMatchObject({ ratio: null, problem: 'rows.data: 50 and 49' })
})

test('there is no ratio where fewer were written than were answered', async () => {
  const counts = [0, 5, 5, 10, 10, 15, 15, 20]
  const gateway = counted(sideOf('gateway', 1, 10, 10, 10), async () => ({ tickets: counts.shift() ?? 0 }))
  expect(await measure(jobOf({ gateway }), threeRounds)).toMatchObject({
    ratio: null,
    problem: 'gateway: 1 done, but written: tickets 5',
  })
})

test('answers agree where rows and values do, whatever the order of fields', () => {
  const answer = { data: [{ id: 1, rates: [{ price: 10.5 }] }], success: true }
  const same = { success: true, data: [{ rates: [{ price: 10.5 }], id: 1 }] }
  expect(disagreement(answer, same)).toBe(null)
  expect(disagreement(answer, { ...same, data: [{ id: 1, rates: [] }] })).toBe('rows.rates: 1 and undefined')
  expect(disagreement(answer, { ...same, data: [{ id: 1, rates: [{ price: 10 }] }] })).toBe(
    'answer.data.0.rates.0.price: 10.5 and 10',
  )
  expect(disagreement({ errors: null }, { errors: null })).toBe('the answers hold no rows')
})

test('percentiles and medians', () => {
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

test('a load is answered to its end, counted by status and spread over its requests', async () => {
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
  const { answers, statuses } = await runLoad({
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
})

test('a load fails where the server hangs up', async () => {
  const port = await listen(createServer((request) => void request.socket.destroy()))
  const asks = [{ method: 'GET' as const, path: '/', headers: {} }]
  await expect(runLoad({ port, clients: 2, seconds: 0.1, asks })).rejects.toThrow('the connection ended')
})

test('the command line is checked', () => {
  expect(parseOptions([])).toMatchObject({ events: 20_000, rounds: 3, only: '' })
  expect(parseOptions(['--quick'])).toMatchObject({ events: 200, seconds: 1, rounds: 1 })
  expect(() => parseOptions(['--seconds', '0'])).toThrow('--seconds must be a whole number of at least 1')
  expect(() => parseOptions(['--fast'])).toThrow('--fast')
})
