import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, inject, test, vi } from 'vitest'
import { pay, runScript } from './support/service.ts'

// curl and a shell, by the commands of the page.

const { url, key, integrationKey } = inject('service')
const variables = { URL: url, KEY: key, DOOR: integrationKey }
const run = async (script: string, given: Record<string, string>) =>
  JSON.parse(await runScript('curl', script, { ...variables, ...given }))

const rate = 'rate_demo_9_1'

async function findPrice(name: string, event: string, rate: string): Promise<string> {
  const { data } = await run('list.sh', { SEARCH: name })
  expect(data[0]._id).toBe(event)
  const [{ prices }] = data[0].ticket_rates.filter(({ _id }: { _id: string }) => _id === rate)
  return prices.find(
    ({ valid_until: until }: { valid_until: string | null }) =>
      until === null || new Date(until) > new Date(),
  )._id
}

test('buys a ticket', async () => {
  const order = { RATE: rate, PRICE: await findPrice('São Paulo Calling', 'evt_demo_9', rate) }
  const refused = await run('checkout.sh', { ...order, ORDER: 'curl-1', EMAIL: 'ana' })
  expect(refused).toMatchObject({ success: false, errors: [{ code: 'INVALID', path: 'tickets.0.email' }] })

  const { data } = await run('checkout.sh', { ...order, ORDER: 'curl-2', EMAIL: 'ana@example.com' })
  const paid = { PAYMENT: data.payment_id }
  expect(await run('payment.sh', paid)).toMatchObject({ data: { status: 'pending' } })
  expect(await pay(data.payment_url)).toBe(200)
  expect(await run('payment.sh', paid)).toMatchObject({ data: { status: 'paid' } })
  const tickets = await run('tickets.sh', paid)
  expect(tickets.data).toMatchObject([{ _id: data.tickets[0]._id, status: 'activated' }])
})

test('turns the pages of a list', async () => {
  const pages = (await runScript('curl', 'pages.sh', variables)).replaceAll('}{', '}\n{').split('\n')
  const ids = pages.flatMap((page) => JSON.parse(page).data.map(({ _id }: { _id: string }) => _id))
  expect([pages.length > 1, new Set(ids).size]).toEqual([true, ids.length])
})

/** Fields of an answer, and the types of their values: an example has no others. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shapeOf(field)]))
}

test('takes the scan list along, asks for what has changed since, and exports the tickets', async () => {
  // An event of the demo's integration.
  const [event, entrance] = [{ EVENT: 'evt_demo_8' }, 'rate_demo_8_1']
  const list = await run('scan-list.sh', event)
  const price = await findPrice('havaneres', event.EVENT, entrance)
  const order = { RATE: entrance, PRICE: price, ORDER: 'curl-3', EMAIL: 'luz@example.com' }
  const { data } = await run('checkout.sh', order)
  await pay(data.payment_url)
  const [ticket] = data.tickets
  const since = await run('scan-list-since.sh', { ...event, CURSOR: list.cursor })
  const hash = createHash('sha256').update(since.hash.salt + ticket.qr_code)
  expect(since.data).toMatchObject([{ _id: ticket._id, code_hash: hash.digest('hex'), enter: 0 }])
  const example = await readFile(new URL('curl/scan-list.json', import.meta.url), 'utf8')
  expect(shapeOf(JSON.parse(example))).toEqual(shapeOf(since))
  const csv = await runScript('curl', 'export.sh', { ...variables, ...event })
  expect(csv.split('\r\n')[0]).toMatch(/^"_id",/)
  expect(csv).toContain(`"${ticket._id}",`)
})

test('watches the places of an event', async () => {
  const cwd = fileURLToPath(new URL('curl/', import.meta.url))
  const env = { ...process.env, ...variables, EVENT: 'evt_demo_9' }
  const watching = spawn('sh', ['-c', '. ./watch.sh'], { cwd, env, detached: true })
  const ended = once(watching, 'close')
  let output = ''
  watching.stdout.on('data', (chunk) => (output += chunk))
  try {
    await vi.waitFor(() => expect(output).toContain(`"id":"${rate}"`), 30_000)
  } finally {
    // Ends the shell's curl with it.
    process.kill(-(watching.pid ?? 0))
    await ended
  }
})
