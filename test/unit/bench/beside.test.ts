import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openClient, toBytes } from '../../bench/http-client.ts'
import { runLoad } from '../../bench/load.ts'
import { measure, type Side } from '../../bench/measure.ts'
import { runPace } from '../../bench/pace.ts'
import { besideAsks, besideProblem, busySide, quietSide } from '../../bench/payment-beside.ts'
import { runPayments } from '../../bench/payment-load.ts'
import { tableOf } from '../../bench/report.ts'
import { duePaymentsOf, payingFive, roundOf, serve, sideOf, workerOf } from '../../support/bench-doubles.ts'

const jobOf = (reach: Parameters<typeof measure>[0]['reach'], gateway: Side, yardstick: Side | null) => ({
  ...{ name: 'job', description: 'a job', reach, gateway, yardstick },
  disagreement: async () => null,
})
const oneRound = { seconds: 1, rounds: 1, warmUpSeconds: 1 }

test.each([
  [25, 2.5, true],
  [35, 3.5, false],
])('a median of %i ms is compared with one of 10 ms', async (p50, ratio, reached) => {
  const side = (p50: number) => sideOf('side', 1, [roundOf(20), roundOf(20, { p50 })])
  const job = jobOf({ atMost: 3, by: 'medians' }, side(p50), side(10))
  expect(await measure(job, oneRound)).toMatchObject({ ratio, reached })
  // Requests per second are fixed by the pace, so they cannot show the difference.
  const blind = jobOf({ atMost: 3 }, side(p50), side(10))
  expect(await measure(blind, oneRound)).toMatchObject({ ratio: 1 })
})

test.each([
  [
    [roundOf(1), roundOf(0)],
    [roundOf(1), roundOf(5)],
  ],
  [
    [roundOf(1), roundOf(5)],
    [roundOf(1), roundOf(0)],
  ],
])('a round without requests gives no ratio', async (gateway, yardstick) => {
  const job = jobOf({ atLeast: 2 }, sideOf('gateway', 1, gateway), sideOf('pgbench', 1, yardstick))
  const problem = 'there was a round in which nothing was done'
  expect(await measure(job, oneRound)).toMatchObject({ ratio: null, reached: false, problem })
})

test('a job without a yardstick is recorded without a ratio, unless it failed', async () => {
  const lives = () => sideOf('gateway', 64, [roundOf(1), roundOf(30)])
  const recorded = await measure(jobOf(null, lives(), null), oneRound)
  expect(recorded).toMatchObject({ ratio: null, reached: null, problem: null, yardstick: null })
  const broken = {
    ...jobOf(null, lives(), null),
    disagreement: async () => 'an invoice series has a gap: 1',
  }
  const lines = tableOf([recorded, await measure(broken, oneRound)]).split('\n')
  const cells = lines.map((line) => line.split('|').map((cell) => cell.trim()))
  expect(cells[2]).toEqual([
    '',
    'a job',
    '64',
    '30.0',
    '1.0',
    '2.0',
    '–',
    '–',
    '',
    '',
    '',
    '',
    '',
    '',
    '',
    '',
  ])
  expect(cells[3]?.at(-4)).toBe('none')
  expect(lines.at(-1)).toBe('No ratio for job: an invoice series has a gap: 1')
})

test('requests at a pace do not wait for earlier ones', async () => {
  const paths: string[] = []
  const port = await serve(({ url = '' }) => {
    paths.push(url)
    return { status: 200, waitMs: url === '/slow' ? 400 : 0 }
  })
  const ask = (path: string) => [{ method: 'GET' as const, path, headers: {} }]
  const kinds = { slow: ask('/slow'), quick: ask('/quick') }
  const paced = await runPace({ port, seconds: 1, perSecond: 10, kinds })
  expect(paths.toSorted()).toEqual([...Array(10).fill('/quick'), ...Array(10).fill('/slow')])
  expect(paced.slow).toMatchObject({ answers: 10, statuses: { 200: 10 } })
  expect(paced.slow?.p50).toBeGreaterThan(350)
  expect(paced.quick?.p50).toBeLessThan(paced.slow?.p50 ?? 0)
  // Control: sequential requests are far fewer.
  const load = { port, clients: 1, seconds: 1, asks: ask('/slow') }
  expect((await runLoad(load)).answers).toBeLessThan(5)
})

test('a pace fails if the server hangs up', async () => {
  const hung = createServer((request) => void request.socket.destroy())
  onTestFinished(() => void hung.close())
  await once(hung.listen(0, '127.0.0.1'), 'listening')
  const kinds = { ready: [{ method: 'GET' as const, path: '/ready', headers: {} }] }
  const { port } = hung.address() as AddressInfo
  await expect(runPace({ port, seconds: 1, perSecond: 5, kinds })).rejects.toThrow('the connection ended')
})

test.each([
  [{ 200: 20 }, null],
  [{ 200: 19, 503: 1 }, 'lookup is answered with {"200":19,"503":1}'],
  [{}, 'lookup is answered with {}'],
])('requests beside payments with statuses %j are checked', (statuses, problem) => {
  const answers = Object.values(statuses).reduce((sum: number, count) => sum + count, 0)
  const good = { answers: 20, p50: 1, p99: 1, statuses: { 200: 20 } }
  expect(besideProblem({ ready: good, lookup: { ...good, answers, statuses } })).toBe(problem)
})

/** Starts a server of payments and of other requests, which counts them. */
async function serveBeside() {
  const seen = { paid: 0, ready: 0, paidBefore: [] as number[] }
  const port = await serve(({ url = '' }) => {
    const isPayment = url.startsWith('/pay/')
    if (isPayment) seen.paid++
    else seen.paidBefore.push(seen.paid)
    if (url === '/ready') seen.ready++
    return { status: isPayment ? 303 : 200, waitMs: isPayment ? 20 : 0 }
  })
  const kinds = besideAsks('key', { key: 'door', ids: ['tkt_1'] }, { rateId: 'rate_2', priceId: 'price_2' })
  const beside = { port, pace: workerOf(runPace), kinds }
  const busy = { ...payingFive(port), load: workerOf(runPayments), makeDue: async () => duePaymentsOf(2000) }
  return { seen, beside, busy }
}

test('requests beside payments are sent only while payments run', async () => {
  const [quiet, whole, lost] = await Promise.all([serveBeside(), serveBeside(), serveBeside()])
  const [quietRound, wholeRound, lostRound] = await Promise.all([
    quietSide('itself, quiet', quiet.beside, 'ready').run(1),
    busySide('gateway', whole.beside, 'ready', whole.busy, async () => ({ payments: whole.seen.paid })).run(
      1,
    ),
    busySide('gateway', lost.beside, 'ready', lost.busy, async () => ({ payments: 0 })).run(1),
  ])
  expect(quietRound).toMatchObject({ requests: 20, problem: null })
  expect([quiet.seen.paid, quiet.seen.ready]).toEqual([0, 20])
  expect(wholeRound).toMatchObject({ requests: 20, problem: null })
  // Payments were made before the first of them and after the last.
  expect(whole.seen.paidBefore[0]).toBeGreaterThan(0)
  expect(whole.seen.paid).toBeGreaterThan(whole.seen.paidBefore.at(-1) ?? 0)
  expect(lostRound.problem).toMatch(/^payments: \d+ done, but written: payments 0$/)
})

test('a client that keeps text returns the whole body across chunks', async () => {
  const port = await serve(({ url }) => ({ status: 200, body: url === '/long' ? 'ñ'.repeat(200_000) : 'x' }))
  const client = await openClient(port, { keepsText: true })
  onTestFinished(() => client.close())
  const get = (path: string) => client.send(toBytes({ method: 'GET', path, headers: {} }, port))
  expect((await get('/long')).body).toBe('ñ'.repeat(200_000))
  expect(await get('/')).toMatchObject({ body: 'x', head: expect.stringContaining('location: /done') })
})
