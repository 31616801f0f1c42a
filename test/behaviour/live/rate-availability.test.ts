import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import { anEntry, mustCheckOut } from '../../support/checkouts.ts'
import { aCatalogueOfTwo, channelHeaders } from '../../support/factories.ts'
import { openStream, type RateState, subscribe, watchRates } from '../../support/live.ts'
import { openSale, type Sale } from '../../support/sale.ts'

let sale: Sale
const catalogue = aCatalogueOfTwo(10)
beforeAll(async () => {
  sale = await openSale(catalogue, { listen: true })
})
afterAll(() => sale.close())

const checkOutOne = () => mustCheckOut(sale, { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] })
const eventId = () => catalogue.events?.[0]?._id ?? ''

test('a subscriber gets the rate as it is, and each change', async () => {
  const watched = watchRates(sale.url, sale.channel, 'rate_1')
  const first = await watched.until(() => true)
  expect(first.rateAvailability).toEqual({
    ticketRateId: 'rate_1',
    available: true,
    sold: 0,
    left: 10,
    at: expect.stringMatching(/^\d{4}-.*Z$/),
  })
  const { payment_url } = await checkOutOne()
  await watched.until(({ rateAvailability: { left } }) => left === 9)
  await sale.app.inject({
    method: 'POST',
    url: new URL(payment_url).pathname,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'action=pay',
  })
  await watched.until(({ rateAvailability: { sold, left } }) => sold === 1 && left === 9)
})

test('an event stands for all of its rates', async () => {
  const watched = subscribe<RateState>(sale.url, sale.channel, {
    query: 'subscription ($id: ID) { rateAvailability(eventId: $id) { ticketRateId left } }',
    variables: { id: eventId() },
  })
  expect((await watched.until(() => true)).rateAvailability.ticketRateId).toBe('rate_1')
})

test('several rates are told one by one', async () => {
  const watched = watchRates(sale.url, sale.channel, 'rate_1', 'rate_2')
  await watched.until(({ rateAvailability }) => rateAvailability.ticketRateId === 'rate_1')
  await watched.until(({ rateAvailability }) => rateAvailability.ticketRateId === 'rate_2')
})

test('an import is told', async () => {
  const watched = watchRates(sale.url, sale.channel, 'rate_2')
  await watched.until(({ rateAvailability: { left } }) => left === 10)
  const more = aCatalogueOfTwo(25)
  const events = (more.events ?? []).map((event, index) => ({
    ...event,
    _id: catalogue.events?.[index]?._id ?? '',
  }))
  await importCatalogue(sale.db, { ...more, events: events.slice(1) })
  await watched.until(({ rateAvailability: { left } }) => left === 25)
})

test('a sale that nobody announced is found within seconds', async () => {
  const watched = watchRates(sale.url, sale.channel, 'rate_2')
  await watched.until(() => true)
  await sale.db.execute("update stock set held = held + 3 where id = 'rate_2'")
  await watched.until(({ rateAvailability: { left } }) => left === 22)
})

test('an integration watches its own organization', async () => {
  await watchRates(sale.url, sale.integration.v2, 'rate_1').until(() => true)
  const foreign = watchRates(sale.url, sale.integration.v1, 'rate_2')
  await expect.poll(foreign.isComplete).toBe(true)
  expect(foreign.errors).toEqual([{ code: 'NOT_FOUND', path: 'ticketRateIds.0' }])
})

describe('refused', () => {
  const query = (args: string) => `subscription { rateAvailability${args} { left } }`
  test.each([
    ['a rate that is not there', query('(ticketRateIds: ["rate_9"])'), 'NOT_FOUND', 'ticketRateIds.0'],
    ['an event that is not there', query('(eventId: "evt_9")'), 'NOT_FOUND', 'eventId'],
    ['neither event nor rates', query(''), 'INVALID', 'eventId'],
    ['both', query('(eventId: "evt_9", ticketRateIds: ["rate_1"])'), 'INVALID', 'eventId'],
    ['no rates', query('(ticketRateIds: [])'), 'INVALID', 'ticketRateIds'],
    ['what is no identifier', query('(ticketRateIds: ["a b"])'), 'INVALID', 'ticketRateIds.0'],
    [
      'too many rates',
      query(`(ticketRateIds: [${Array.from({ length: 101 }, (_, n) => `"rate_${n}"`).join()}])`),
      'INVALID',
      'ticketRateIds',
    ],
  ])('%s', async (_what, query, code, path) => {
    const refused = subscribe(sale.url, sale.channel, { query })
    await expect.poll(refused.isComplete).toBe(true)
    expect(refused.errors).toEqual([{ code, path }])
    expect(refused.received).toEqual([])
  })

  test('a rate of an organization that the channel does not sell for, as if it were not there', async () => {
    const other = await channelHeaders(sale.db, 'org_2')
    const answers = ['rate_1', 'rate_9'].map(async (id) => {
      const stream = await openStream(sale.url, other, { query: query(`(ticketRateIds: ["${id}"])`) })
      await expect.poll(stream.isOver).toBe(true)
      return stream.text().replace(/"request_id":"[^"]*"/, '')
    })
    const [foreign, absent] = await Promise.all(answers)
    expect(foreign).toBe(absent)
    expect(foreign).toContain('NOT_FOUND')
  })
})
