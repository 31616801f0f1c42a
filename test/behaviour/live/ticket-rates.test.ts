import { describe, expect, test } from 'vitest'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import { aCatalogueOfTwo, channelHeaders } from '../../support/factories.ts'
import { leftIn, openStream, type RateState, subscribe, watchRates } from '../../support/live.ts'
import { sharedSale } from '../../support/sale.ts'
import { holdTickets } from '../../support/tickets.ts'

const catalogue = aCatalogueOfTwo(10)
const sale = sharedSale(catalogue, { listen: true })

const checkOutOne = () => holdTickets(sale)
const eventId = () => catalogue.events?.[0]?._id ?? ''

test('a subscriber gets the rate as it is, and each change', async () => {
  const watched = watchRates(sale.url, sale.channel, 'rate_1')
  const first = await watched.until(() => true)
  expect(first.ticketRates).toEqual({
    id: 'rate_1',
    status: 'ON_SALE',
    available: true,
    availability: { sold: 0, available: 10 },
  })
  const { payment_url } = await checkOutOne()
  await watched.until((state) => leftIn(state) === 9)
  await sale.app.inject({
    method: 'POST',
    url: new URL(payment_url).pathname,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'action=pay',
  })
  await watched.until((state) => state.ticketRates.availability.sold === 1 && leftIn(state) === 9)
})

test('an event stands for all of its rates', async () => {
  const watched = subscribe<RateState>(sale.url, sale.channel, {
    query: 'subscription ($id: ID!) { ticketRates(of: { eventId: $id }) { id availability { available } } }',
    variables: { id: eventId() },
  })
  expect((await watched.until(() => true)).ticketRates.id).toBe('rate_1')
})

test('several rates are told one by one', async () => {
  const watched = watchRates(sale.url, sale.channel, 'rate_1', 'rate_2')
  await watched.until(({ ticketRates: { id } }) => id === 'rate_1')
  await watched.until(({ ticketRates: { id } }) => id === 'rate_2')
})

test('a rate that is closed, or sold out, is told by its status', async () => {
  const watched = watchRates(sale.url, sale.channel, 'rate_2')
  await watched.until(({ ticketRates: { status } }) => status === 'ON_SALE')
  const statusIs = (wanted: string) => watched.until(({ ticketRates: { status } }) => status === wanted)
  await sale.db.execute("update ticket_rates set complete = true where id = 'rate_2'")
  expect((await statusIs('CLOSED')).ticketRates.available).toBe(false)
  await sale.db.execute("update ticket_rates set complete = false where id = 'rate_2'")
  await sale.db.execute("update stock set held = held + 10 where id = 'rate_2'")
  expect(leftIn(await statusIs('SOLD_OUT'))).toBe(0)
  await sale.db.execute("update stock set held = held - 10 where id = 'rate_2'")
  await expect.poll(() => watched.received.at(-1)?.ticketRates.status).toBe('ON_SALE')
})

test('an import is told', async () => {
  const watched = watchRates(sale.url, sale.channel, 'rate_2')
  await watched.until((state) => leftIn(state) === 10)
  const more = aCatalogueOfTwo(25)
  const events = (more.events ?? []).map((event, index) => ({
    ...event,
    _id: catalogue.events?.[index]?._id ?? '',
  }))
  await importCatalogue(sale.db, { ...more, events: events.slice(1) })
  await watched.until((state) => leftIn(state) === 25)
})

test('a sale that nobody announced is found within seconds', async () => {
  const watched = watchRates(sale.url, sale.channel, 'rate_2')
  await watched.until(() => true)
  await sale.db.execute("update stock set held = held + 3 where id = 'rate_2'")
  await watched.until((state) => leftIn(state) === 22)
})

test('an integration watches its own organization', async () => {
  await watchRates(sale.url, sale.integration.v2, 'rate_1').until(() => true)
  const foreign = watchRates(sale.url, sale.integration.v1, 'rate_2')
  await expect.poll(foreign.isComplete).toBe(true)
  expect(foreign.errors).toEqual([{ code: 'NOT_FOUND', path: 'of.ids.0' }])
})

describe('refused', () => {
  const query = (of: string) => `subscription { ticketRates(of: ${of}) { id } }`
  test.each([
    ['a rate that is not there', query('{ ids: ["rate_9"] }'), 'NOT_FOUND', 'of.ids.0'],
    ['an event that is not there', query('{ eventId: "evt_9" }'), 'NOT_FOUND', 'of.eventId'],
    ['neither event nor rates', query('{}'), 'BAD_REQUEST', undefined],
    ['both', query('{ eventId: "evt_9", ids: ["rate_1"] }'), 'BAD_REQUEST', undefined],
    ['no rates', query('{ ids: [] }'), 'INVALID', 'of.ids'],
    ['what is no identifier', query('{ ids: ["a b"] }'), 'INVALID', 'of.ids.0'],
    [
      'too many rates',
      query(`{ ids: [${Array.from({ length: 101 }, (_, n) => `"rate_${n}"`).join()}] }`),
      'INVALID',
      'of.ids',
    ],
  ])('%s', async (_what, query, code, path) => {
    const refused = subscribe(sale.url, sale.channel, { query })
    await expect.poll(refused.isComplete).toBe(true)
    expect(refused.errors).toEqual([path === undefined ? { code } : { code, path }])
    expect(refused.received).toEqual([])
  })

  test('a rate of an organization that the channel does not sell for, as if it were not there', async () => {
    const other = await channelHeaders(sale.db, 'org_2')
    const answers = ['rate_1', 'rate_9'].map(async (id) => {
      const stream = await openStream(sale.url, other, { query: query(`{ ids: ["${id}"] }`) })
      await expect.poll(stream.isOver).toBe(true)
      return stream.text().replace(/"request_id":"[^"]*"/, '')
    })
    const [foreign, absent] = await Promise.all(answers)
    expect(foreign).toBe(absent)
    expect(foreign).toContain('NOT_FOUND')
  })
})
