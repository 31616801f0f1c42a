import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, inject, test, vi } from 'vitest'
import { pay, runScript } from './support/service.ts'

// curl and a shell, by the commands of the page.

const { url, key } = inject('service')
const variables = { URL: url, KEY: key }
const run = async (script: string, given: Record<string, string>) =>
  JSON.parse(await runScript('curl', script, { ...variables, ...given }))

const rate = 'rate_demo_9_1'

async function findPrice(): Promise<string> {
  const { data } = await run('list.sh', { SEARCH: 'São Paulo Calling' })
  expect(data[0]._id).toBe('evt_demo_9')
  const [{ prices }] = data[0].ticket_rates.filter(({ _id }: { _id: string }) => _id === rate)
  return prices.find(
    ({ valid_until: until }: { valid_until: string | null }) =>
      until === null || new Date(until) > new Date(),
  )._id
}

test('buys a ticket', async () => {
  const order = { RATE: rate, PRICE: await findPrice() }
  const refused = await run('checkout.sh', { ...order, ORDER: 'curl-1', EMAIL: 'ana' })
  expect(refused).toMatchObject({ success: false, errors: [{ code: 'INVALID', path: 'tickets.0.email' }] })

  const { data } = await run('checkout.sh', { ...order, ORDER: 'curl-2', EMAIL: 'ana@example.com' })
  const paid = { PAYMENT: data.payment_id }
  expect(await run('payment.sh', paid)).toMatchObject({ data: { payment: { status: 'PENDING' } } })
  expect(await pay(data.payment_url)).toBe(200)
  expect(await run('payment.sh', paid)).toMatchObject({ data: { payment: { status: 'PAID' } } })
  const tickets = await run('tickets.sh', paid)
  expect(tickets.data).toMatchObject([{ _id: data.tickets[0]._id, status: 'activated' }])
})

test('watches the places of an event', async () => {
  const cwd = fileURLToPath(new URL('curl/', import.meta.url))
  const env = { ...process.env, ...variables, EVENT: 'evt_demo_9' }
  const watching = spawn('sh', ['-c', '. ./watch.sh'], { cwd, env, detached: true })
  const ended = once(watching, 'close')
  let output = ''
  watching.stdout.on('data', (chunk) => (output += chunk))
  try {
    await vi.waitFor(() => expect(output).toContain(`"ticketRateId":"${rate}"`), 30_000)
  } finally {
    // Ends the shell's curl with it.
    process.kill(-(watching.pid ?? 0))
    await ended
  }
})
