import { afterEach, expect, test } from 'vitest'
import { aRateOf } from '../../support/factories.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { holdTickets } from '../../support/tickets.ts'

let sale: Sale
afterEach(() => sale?.close())

test.each([
  ['::1', '[::1]'],
  ['0:0:0:0:0:0:0:1', '[::1]'],
  ['::', 'localhost'],
])(
  'a service that listens on %s without PUBLIC_URL has addresses that can be followed',
  async (host, name) => {
    sale = await openSale({ rates: [aRateOf(10)], settings: { HOST: host } })
    await sale.app.listen({ host, port: 0 })
    const { payment_url } = await holdTickets(sale)
    expect(new URL(payment_url).hostname).toBe(name)
    const page = await fetch(payment_url)
    expect(page.status).toBe(200)
    const url = new URL('/events?limit=1&populate=*', payment_url)
    const list = await fetch(url, { headers: sale.channel })
    expect(list.status).toBe(200)
  },
)
