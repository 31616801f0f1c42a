import { beforeAll, expect, test } from 'vitest'
import { anEntry, checkOut } from '../../support/checkouts.ts'
import { money } from '../../support/contract-input.ts'
import {
  anEvent,
  anOrganization,
  aPrice,
  aRateNamed,
  type Given,
  inDays,
  type RateFile,
} from '../../support/factories.ts'
import { scopedHeaders } from '../../support/modes.ts'
import { restProblems, sharedSale } from '../../support/sale.ts'

// What an event offers: whether its rates can be bought, what they cost with the fee, and when its doors open.

const rate = (name: string, given: Given<RateFile> = {}) => aRateNamed(name, { ...given })

const past = inDays(-1)
const rates = [
  rate('open'),
  rate('unlimited', { availability: { sold: 5, available: null } }),
  rate('soon', { valid_from: inDays(1) }),
  rate('full', { availability: { sold: 3, available: 0 } }),
  rate('used_up', { prices: [aPrice({ _id: 'price_used_up', quantity: 1 })] }),
  rate('closed', { complete: true }),
  rate('closed_and_soon', { complete: true, valid_from: inDays(1) }),
  rate('unpriced', { prices: [] }),
  rate('over', { prices: [aPrice({ _id: 'price_over', valid_until: past })] }),
  rate('full_and_over', {
    prices: [aPrice({ _id: 'price_full_and_over', valid_until: past })],
    availability: { sold: 3, available: 0 },
  }),
]
const started = { start_date: inDays(-0.1), end_date: inDays(0.1) }

const priced = (event: string, ...of: Parameters<typeof aPrice>[0][]) =>
  rate(event, { prices: of.map((price, index) => aPrice({ _id: `price_${event}_${index}`, ...price })) })

const sale = sharedSale({
  organizations: [
    anOrganization(),
    anOrganization({ _id: 'org_yen', name: 'Yen', currency: 'JPY' }),
    anOrganization({ _id: 'org_dinar', name: 'Dinar', currency: 'KWD' }),
  ],
  events: [
    anEvent({ _id: 'evt_rates', ticket_rates: rates }),
    anEvent({ _id: 'evt_started', ...started, ticket_rates: [rate('started')] }),
    anEvent({
      _id: 'evt_range',
      ticket_rates: [
        priced('range_fixed', { price: 50, fee_type: 'fixed', fee_quantity: 1.5 }),
        priced('range_usual', {}),
        { ...priced('range_closed', { price: 500 }), complete: true },
        { ...priced('range_soon', { price: 1 }), valid_from: inDays(1) },
        {
          ...priced('range_steps', { price: 2, valid_until: past }, { price: 30 }, { price: 90 }),
          show_all_prices: false,
        },
      ],
    }),
    anEvent({ _id: 'evt_free', ticket_rates: [priced('free', { price: 0, fee_quantity: 0 })] }),
    anEvent({ _id: 'evt_empty', ticket_rates: [] }),
    anEvent({
      _id: 'evt_yen',
      organization_id: 'org_yen',
      location_id: null,
      ticket_rates: [priced('yen', { price: 1_005, fee_quantity: 10 })],
    }),
    anEvent({
      _id: 'evt_dinar',
      organization_id: 'org_dinar',
      location_id: null,
      ticket_rates: [priced('dinar', { price: 1.01, fee_quantity: 8 })],
    }),
  ],
  settings: { ADMISSION_HOURS: '3' },
})
beforeAll(async () => {
  const bought = await buy('used_up')
  expect(bought.statusCode, bought.body).toBe(200)
})

const buy = (name: string) =>
  checkOut(sale, { ticket_rate_id: `rate_${name}`, tickets: [anEntry(`price_${name}`)] })

async function ask<Data>(query: string, headers = sale.channel): Promise<Data> {
  const { data, errors } = await sale.graphql<Data>(query, {}, headers)
  expect(errors).toBeUndefined()
  if (!data) throw new Error('the answer has data')
  return data
}

const statuses: [name: string, status: string, refusals: string[]][] = [
  ['open', 'ON_SALE', []],
  ['unlimited', 'ON_SALE', []],
  ['soon', 'NOT_YET', ['NOT_ON_SALE_YET ticket_rate_id']],
  ['full', 'SOLD_OUT', ['SOLD_OUT tickets']],
  ['used_up', 'SOLD_OUT', ['SOLD_OUT ticket_rate_id']],
  ['closed', 'CLOSED', ['RATE_CLOSED ticket_rate_id']],
  ['closed_and_soon', 'CLOSED', ['RATE_CLOSED ticket_rate_id']],
  ['unpriced', 'CLOSED', ['RATE_CLOSED ticket_rate_id', 'PRICE_NOT_IN_RATE tickets.0.price_id']],
  ['over', 'ENDED', ['SALE_ENDED ticket_rate_id']],
  ['full_and_over', 'ENDED', ['SALE_ENDED ticket_rate_id', 'SOLD_OUT tickets']],
  ['started', 'ENDED', ['EVENT_STARTED ticket_rate_id']],
]

test.each(statuses)('the rate %s is %s', async (name, status, refusals) => {
  const query = `{ ticketRate(id: "rate_${name}") { status available } }`
  expect(await ask(query)).toEqual({ ticketRate: { status, available: status === 'ON_SALE' } })
  // REST shows whether a rate is on sale, and refuses what is not.
  type Listed = { data: { ticket_rates: { _id: string; available: boolean }[] }[] }
  const listed = await sale.rest('GET', '/events?populate=*', { headers: sale.channel })
  const shown = listed.json<Listed>().data.flatMap(({ ticket_rates }) => ticket_rates)
  expect(shown.find(({ _id }) => _id === `rate_${name}`)?.available).toBe(status === 'ON_SALE')
  const bought = await buy(name)
  expect(bought.statusCode === 200 ? [] : restProblems(bought)).toEqual(refusals)
})

test('a rate that the organization pauses has a status already, which no rate is given yet', async () => {
  const { __type } = await ask<{ __type: { enumValues: { name: string }[] } }>(
    '{ __type(name: "TicketRateStatus") { enumValues { name } } }',
  )
  const known = new Set(statuses.map(([, status]) => status))
  expect(__type.enumValues.map(({ name }) => name).filter((name) => !known.has(name))).toEqual(['PAUSED'])
})

test.each([
  ['a percentage', 'range_usual', money(20), money(2), money(22)],
  ['a fixed amount', 'range_fixed', money(50), money(1.5), money(51.5)],
  ['nothing', 'free', money(0), money(0), money(0)],
  [
    'a currency without decimals',
    'yen',
    money(1_005, 'JPY', 0),
    money(101, 'JPY', 0),
    money(1_106, 'JPY', 0),
  ],
  // Nobody pays thousandths.
  [
    'a currency with three decimals',
    'dinar',
    money(1.01, 'KWD', 3),
    money(0.08, 'KWD', 3),
    money(1.09, 'KWD', 3),
  ],
])('a price has its fee and its total: %s', async (_what, name, price, fee, total) => {
  const fields = 'price { amount currency } fee { amount currency } total { amount currency }'
  const query = `{ ticketRate(id: "rate_${name}") { prices { ${fields} } currentPrice { ${fields} } }
    node(id: "price_${name}_0") { ... on Price { ${fields} } } }`
  const given = { price, fee, total }
  expect(await ask(query)).toEqual({ ticketRate: { prices: [given], currentPrice: given }, node: given })
  // The total is what a checkout costs.
  const quote = `{ quoteCheckout(input: { items: [{ ticketRateId: "rate_${name}", tickets: [{ priceId: "price_${name}_0" }] }] }) {
    ... on CheckoutQuote { amounts { price { amount currency } fees { amount currency } total { amount currency } } } } }`
  expect(await ask(quote)).toEqual({ quoteCheckout: { amounts: { price, fees: fee, total } } })
})

test.each([
  ['evt_range', { min: money(22), max: money(51.5) }],
  ['evt_rates', { min: money(22), max: money(22) }],
  ['evt_free', { min: money(0), max: money(0) }],
  ['evt_yen', { min: money(1_106, 'JPY', 0), max: money(1_106, 'JPY', 0) }],
  ['evt_started', null],
  ['evt_empty', null],
])('the range of prices of %s', async (id, priceRange) => {
  const range = 'priceRange { min { amount currency } max { amount currency } }'
  expect(await ask(`{ event(by: { id: "${id}" }) { ${range} } }`)).toEqual({ event: { priceRange } })
  const listed = await ask<{ events: { nodes: { id: string }[] } }>(`{ events { nodes { id ${range} } } }`)
  expect(listed.events.nodes).toContainEqual({ id, priceRange })
})

test('the ranges of a page take no statement for each event', async () => {
  const list = (first: number) =>
    ask(`{ events(first: ${first}) { nodes { id priceRange { min { amount } } } } }`)
  const costOf = async (first: number) => {
    sale.statements.reset()
    await list(first)
    return sale.statements.length
  }
  await list(6)
  expect(await costOf(6)).toBe(await costOf(2))
})

test('doors open some hours before an event, as scans are told', async () => {
  const { event } = await ask<{ event: { startDate: string; doorsOpenAt: string } }>(
    '{ event(by: { id: "evt_rates" }) { startDate doorsOpenAt } }',
  )
  expect(Date.parse(event.startDate) - Date.parse(event.doorsOpenAt)).toBe(3 * 3_600_000)
  const list = '/integrations/events/evt_rates/scan-list'
  const answer = await sale.rest('GET', list, { headers: sale.integration.v2 })
  expect(answer.statusCode).toBe(200)
  expect(answer.body).toContain(event.doorsOpenAt)
  // The catalogue is for integrations with its scope alone.
  const { data } = await sale.graphql(
    '{ event(by: { id: "evt_rates" }) { doorsOpenAt } }',
    {},
    await scopedHeaders(sale, 'door'),
  )
  expect(data).toEqual({ event: null })
})
