import { beforeAll, expect, inject, test } from 'vitest'
import { openBusyProxy } from './support/busy-proxy.ts'
import { collect } from './support/journey.ts'
import { compile, pay, runScript } from './support/service.ts'

// openapi-typescript and openapi-fetch, from the document that the service gives.

const { url, key } = inject('service')

beforeAll(() => runScript('openapi-fetch', 'generate.sh', { URL: url }))

test('compiles', () => compile('openapi-fetch'))

test('buys a ticket of a service that is busy', async () => {
  const { connect } = await import('./openapi-fetch/client.ts')
  const proxy = await openBusyProxy(url)
  const shop = connect({ url: proxy.url, key })
  const all = await collect(shop.listEvents(''))
  expect(new Set(all.map(({ _id }) => _id)).size).toBeGreaterThan(20)
  const [event] = await collect(shop.listEvents('Nit d'))
  expect(event?._id).toBe('evt_demo_8')
  const rate = event?.ticket_rates?.find(({ _id }) => _id === 'rate_demo_8_1')
  const price = rate?.prices.find(({ valid_until }) => !valid_until || new Date(valid_until) > new Date())
  if (!rate || !price) throw new Error('nothing is on sale')

  const ticket = { price_id: price._id, full_name: 'Ana Núñez', email: 'ana@example.com' }
  const tooMany = await shop.checkOut({ ticket_rate_id: rate._id, tickets: Array(9).fill(ticket) }, 'nine')
  expect(tooMany.refused).toMatchObject([{ code: 'TOO_MANY_TICKETS', path: 'tickets', max: 8 }])

  const order = { ticket_rate_id: rate._id, tickets: [ticket] }
  const { checkout } = await shop.checkOut(order, 'one')
  expect((await shop.checkOut(order, 'one')).checkout).toEqual(checkout)
  if (!checkout) throw new Error('the checkout was refused')
  expect(await shop.listTickets(checkout.payment_id)).toMatchObject([{ status: 'pending' }])
  expect(await pay(checkout.payment_url)).toBe(200)
  expect(await shop.listTickets(checkout.payment_id)).toMatchObject([
    { _id: checkout.tickets[0]?._id, status: 'activated' },
  ])
  expect(await shop.readPayment(checkout.payment_id)).toMatchObject({ status: 'paid' })
  expect(proxy.refused()).toBeGreaterThan(5)
  proxy.close()
})
