// Runs in: postgres

import { afterAll, beforeAll, expect, test } from 'vitest'
import { anEntry, mustCheckOut } from '../../support/checkouts.ts'
import {
  aCatalogue,
  anEvent,
  anOrganization,
  aPrice,
  aRate,
  channelHeaders,
} from '../../support/factories.ts'
import { openSale, type Sale } from '../../support/sale.ts'

// Rows of a list say which currency their amounts are in, and whose they are.

const prices = { EUR: 12.35, JPY: 3333, KWD: 7.35 }
const currencies = Object.keys(prices) as (keyof typeof prices)[]
const rows = currencies.map((currency) => `org_${currency} ${currency} ${prices[currency]}`).toSorted()

let sale: Sale
let channel: Record<string, string>
beforeAll(async () => {
  sale = await openSale(
    aCatalogue({
      organizations: currencies.map((currency) => anOrganization({ _id: `org_${currency}`, currency })),
      locations: [],
      events: currencies.map((currency) =>
        anEvent({
          _id: `evt_${currency}`,
          organization_id: `org_${currency}`,
          location_id: null,
          ticket_rates: [
            aRate({
              _id: `rate_${currency}`,
              prices: [aPrice({ _id: `price_${currency}`, price: prices[currency], fee_quantity: 0 })],
            }),
          ],
        }),
      ),
    }),
  )
  channel = await channelHeaders(sale.db, ...currencies.map((currency) => `org_${currency}`))
  for (const currency of currencies) {
    const tickets = [anEntry(`price_${currency}`)]
    await mustCheckOut(sale, { ticket_rate_id: `rate_${currency}`, tickets }, channel)
  }
})
afterAll(() => sale.close())

type Row = { organization_id: string; currency: string; price: number }
const textOf = ({ organization_id, currency, price }: Row) => `${organization_id} ${currency} ${price}`

test('pages, lines and CSV have the currency and the organization of each ticket, behind the fields of before', async () => {
  const page = await sale.rest('GET', '/tickets', { headers: channel })
  const listed = page.json<{ data: Row[] }>().data
  expect(listed.map(textOf).toSorted()).toEqual(rows)
  expect(Object.keys(listed[0] ?? {}).slice(-2)).toEqual(['currency', 'organization_id'])
  const lines = (await sale.rest('GET', '/tickets.ndjson', { headers: channel })).body.trim().split('\n')
  expect(lines.map((line) => textOf(JSON.parse(line))).toSorted()).toEqual(rows)
  const [head = '', ...cells] = (await sale.rest('GET', '/tickets.csv', { headers: channel })).body
    .trim()
    .split('\r\n')
  expect(head).toMatch(/,"updated_at","currency","organization_id"$/)
  const ends = currencies.map((currency) => `"${currency}","org_${currency}"`).toSorted()
  expect(cells.map((line) => line.split(',').slice(-2).join(',')).toSorted()).toEqual(ends)
})
