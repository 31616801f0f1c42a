import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { requestLimits } from '../../src/engine/base/request-limits.ts'
import { anEntry } from '../support/checkouts.ts'
import { aRateNamed } from '../support/factories.ts'
import { leftIn, openStream, watchRates } from '../support/live.ts'
import { mustStartServer, runCli, type ServerProcess } from '../support/processes.ts'
import { openSale, type Sale } from '../support/sale.ts'
import { type PostgresServer, startPostgres } from '../support/setup/postgres-server.ts'
import { databaseAt, emptyDatabase } from './debian-postgres.ts'
import { type Nginx, startNginx } from './nginx-server.ts'

// Debian's nginx by the snippet of docs/operations.md, in front of two processes of the built service.

const rate = aRateNamed('1', { availability: { sold: 0, available: 100_000 } })

let server: PostgresServer
let sale: Sale
let settings: Record<string, string>
let processes: [ServerProcess, ServerProcess]
let nginx: Nginx
beforeAll(async () => {
  server = await startPostgres()
  const databaseUrl = await emptyDatabase(server, 'behind_nginx')
  settings = {
    DATABASE_URL: databaseUrl,
    PUBLIC_URL: 'https://tickets.example',
    TRUST_PROXY: '1',
    RATE_LIMIT: 'off',
    DRAIN_SECONDS: '3',
  }
  expect(await runCli(['migrate'], settings)).toMatchObject({ code: 0 })
  sale = await openSale({ rates: [rate], database: databaseAt(databaseUrl) })
  processes = [await mustStartServer(settings), await mustStartServer(settings)]
  nginx = await startNginx([processes[0].url, processes[1].url])
})
afterAll(async () => {
  await nginx?.stop()
  for (const process of processes ?? []) await process.stop()
  await sale?.close()
  await server?.stop()
})

const postJson = (url: string, body: string, headers: Record<string, string> = sale.channel) =>
  fetch(url, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body })

const checkOut = (url: string) =>
  postJson(
    `${url}/tickets/checkout`,
    JSON.stringify({ ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] }),
  )

/** Statuses of a lookup by each method. */
async function lookUp(url: string, ticket: string) {
  const ask = async (headers: Record<string, string>) =>
    (await fetch(`${url}/integrations/tickets/${ticket}`, { headers })).status
  return { v1: await ask(sale.integration.v1), v2: await ask(sale.integration.v2) }
}

test('both methods of authentication pass; control: without the directive v1 is refused', async () => {
  const sold = await checkOut(nginx.url)
  const { data } = (await sold.json()) as { data: { payment_url: string; tickets: { _id: string }[] } }
  expect(data.payment_url).toMatch(/^https:\/\/tickets\.example\/pay\//)
  const ticket = data.tickets[0]?._id ?? ''
  expect(await lookUp(nginx.url, ticket)).toEqual({ v1: 200, v2: 200 })
  const other = await startNginx([processes[0].url, processes[1].url], 'underscores_in_headers on;')
  expect(await lookUp(other.url, ticket)).toEqual({ v1: 401, v2: 200 })
  await other.stop()
})

test('an event stream tells of sales at once, with either client', async () => {
  const rates = watchRates(nginx.url, sale.channel, 'rate_1')
  const first = await rates.until(() => true)
  const left = leftIn(first)
  const beganAt = performance.now()
  await checkOut(nginx.url)
  await rates.until((state) => (leftIn(state) ?? 0) < (left ?? 0))
  expect(performance.now() - beganAt).toBeLessThan(10_000)
  const raw = await openStream(nginx.url, sale.channel, {
    query: 'subscription { ticketRates(of: { ids: ["rate_1"] }) { availability { available } } }',
  })
  expect(raw.response.headers.get('content-type')).toMatch('text/event-stream')
  await expect.poll(raw.text).toContain('event: next')
})

test('a body up to the limit arrives, and a longer one is refused by the service itself', async () => {
  const { maxBodyBytes } = requestLimits
  const answered = async (bytes: number) => {
    const query = '{ __typename }'
    const answer = await postJson(`${nginx.url}/graphql`, JSON.stringify({ query }).padEnd(bytes))
    return [answer.status, ((await answer.json()) as { data?: unknown; errors?: unknown[] }).data]
  }
  expect(await answered(maxBodyBytes)).toEqual([200, { __typename: 'Query' }])
  expect(await answered(maxBodyBytes + 1)).toEqual([413, undefined])
})

/** Sends a request over a connection of its own, so that only the way behind nginx is looked at. */
async function statusOf(path: string, body?: string): Promise<number | undefined> {
  const headers = { ...sale.channel, ...(body && { 'content-type': 'application/json' }) }
  const asked = request(`${nginx.url}${path}`, { method: body ? 'POST' : 'GET', agent: false, headers })
  asked.end(body)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  await text(answer)
  return answer.statusCode
}

test('processes are replaced one after another, and no request is lost', async () => {
  const checkout = JSON.stringify({ ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] })
  const statuses: Record<string, number> = {}
  let isOver = false
  const client = async (number: number) => {
    for (; !isOver; await pause(20)) {
      const asked = number % 3 ? statusOf('/tickets/checkout', checkout) : statusOf('/events')
      const status = await asked.catch(({ code }: NodeJS.ErrnoException) => code)
      statuses[String(status)] = (statuses[String(status)] ?? 0) + 1
    }
  }
  const all = Array.from({ length: 12 }, (_, number) => client(number))
  await pause(500)
  for (const index of [0, 1] as const) {
    const { port } = new URL(processes[index].url)
    await nginx.reload(index)
    expect(await processes[index].stop()).toBe(0)
    processes[index] = await mustStartServer({ ...settings, PORT: port })
    await nginx.reload(null)
    await pause(500)
  }
  isOver = true
  await Promise.all(all)
  expect(statuses).toEqual({ 200: expect.any(Number) })
  expect(statuses[200]).toBeGreaterThan(200)
})
