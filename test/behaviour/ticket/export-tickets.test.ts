// Runs in: postgres, slow-forms

import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { aRateNamed, channelHeaders, integrationHeaders } from '../../support/factories.ts'
import { mockClock } from '../../support/mock-clock.ts'
import { restProblems, sharedSale } from '../../support/sale.ts'
import { holdTickets } from '../../support/tickets.ts'

// Exports of tickets that are read slowly: how many at once, and for how long.

// Three pages: a reader who reads nothing is sent the first, and the second waits.
const sold = 240

const rates = [aRateNamed('1', { availability: { sold: 0, available: sold } })]
const sale = sharedSale({ rates, listen: true })
beforeAll(async () => {
  for (let count = 0; count < sold; count += 40) await holdTickets(sale, { count: 40 })
})

type Headers = Record<string, string>
type Caller = { path: string; headers: Headers }
const aChannel = (headers = sale.channel): Caller => ({ path: '/tickets', headers })
const anIntegration = (headers = sale.integration.v2): Caller => ({ path: '/integrations/tickets', headers })

/** Begins an export that nobody reads yet. */
async function begin({ path, headers }: Caller, suffix = 'ndjson'): Promise<Readable> {
  const url = `${path}.${suffix}`
  const answer = await sale.app.inject({ method: 'GET', url, headers, payloadAsStream: true })
  expect(answer.statusCode).toBe(200)
  return answer.stream()
}
const beginAll = (caller: Caller, count: number) =>
  Promise.all(Array.from({ length: count }, (_, index) => begin(caller, index % 2 ? 'csv' : 'ndjson')))

const readAll = (streams: Readable[]) => Promise.all(streams.map((stream) => finished(stream.resume())))
const isBroken = (stream: Readable) =>
  finished(stream.resume()).then(
    () => false,
    () => true,
  )

const refusalOf = async ({ path, headers }: Caller) => {
  const answer = await sale.rest('GET', `${path}.csv`, { headers })
  if (answer.statusCode === 200) return null
  return [answer.statusCode, restProblems(answer), answer.headers['retry-after']]
}
const busy = [503, ['BUSY'], '1']

test('a caller has four exports at once, and leaves others theirs', async () => {
  const running = await beginAll(aChannel(), 4)
  expect(await refusalOf(aChannel())).toEqual(busy)
  // Pages are no exports.
  expect((await sale.rest('GET', '/tickets', { headers: sale.channel })).statusCode).toBe(200)
  expect(await refusalOf(anIntegration())).toBeNull()
  expect(await refusalOf(aChannel(await channelHeaders(sale.db)))).toBeNull()
  await readAll(running.splice(0, 1))
  expect(await refusalOf(aChannel())).toBeNull()
  await readAll(running)
})

test('an integration has four with all of its credentials', async () => {
  const callers = [anIntegration(sale.integration.v1), anIntegration(sale.integration.v2)]
  const running = (await Promise.all(callers.map((caller) => beginAll(caller, 2)))).flat()
  for (const caller of callers) expect(await refusalOf(caller)).toEqual(busy)
  await readAll(running)
})

test('a process makes twenty exports at once, for whomever', async () => {
  const running: Readable[] = []
  for (let caller = 0; caller < 5; caller++)
    running.push(...(await beginAll(anIntegration((await integrationHeaders(sale.db)).v2), 4)))
  expect(await refusalOf(aChannel())).toEqual(busy)
  await readAll(running.splice(0, 1))
  expect(await refusalOf(aChannel())).toBeNull()
  await readAll(running)
})

test('an export that is refused takes no place', async () => {
  for (let time = 0; time < 25; time++) {
    const answer = await sale.rest('GET', '/tickets.csv?cursor=x', { headers: sale.channel })
    expect(answer.statusCode).toBe(400)
  }
  expect(await refusalOf(aChannel())).toBeNull()
})

test('a reader who pauses for more than half a minute is given up, and so is a place', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
  onTestFinished(() => void vi.useRealTimers())
  const running = await beginAll(aChannel(), 4)
  vi.advanceTimersByTime(20_000)
  expect(await refusalOf(aChannel())).toEqual(busy)
  vi.advanceTimersByTime(11_000)
  // A page that was still being read has begun its own pause meanwhile.
  await vi.waitUntil(() => {
    vi.advanceTimersByTime(20_000)
    return running.every(({ destroyed }) => destroyed)
  })
  expect(await refusalOf(aChannel())).toBeNull()
  for (const stream of running) expect(await isBroken(stream)).toBe(true)
})

test('an export of more than half an hour ends without its end', async () => {
  const stream = await begin(aChannel())
  const clock = mockClock()
  onTestFinished(clock.restore)
  clock.advance(30 * 60_000)
  expect(await isBroken(stream)).toBe(true)
  expect(await refusalOf(aChannel())).toBeNull()
})

test('a service that shuts down ends what is read', async () => {
  // More than the buffers of a connection hold.
  await sale.db.execute(`update tickets set full_name = repeat('x', 50000)`)
  const answer = await fetch(`${sale.url}/tickets.ndjson`, { headers: sale.channel })
  let isClosed = false
  const closed = sale.app.close().then(() => {
    isClosed = true
  })
  await expect(fetch(`${sale.url}/health`)).rejects.toThrow()
  expect(isClosed).toBe(false)
  expect((await answer.text()).trimEnd().split('\n')).toHaveLength(sold)
  await closed
})
