// Runs in: pglite, postgres

import { expect, test } from 'vitest'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import { aLocation, anEvent, aRateNamed } from '../../support/factories.ts'
import { openPageBuyer, visibleText } from '../../support/payment-page-buyer.ts'
import { sharedSale } from '../../support/sale.ts'
import { holdTickets } from '../../support/tickets.ts'

// Days and time zones of a catalogue: a plain date is a day of the venue.

const place = (_id: string, timezone: string) => aLocation({ _id, timezone })
const plain = anEvent({
  _id: 'evt_plain',
  location_id: 'loc_ny',
  display_date: '2099-06-01',
  start_date: '2099-06-01T23:00:00Z',
  end_date: '2099-06-01',
  ticket_rates: [aRateNamed('plain', { valid_from: '2020-01-01' }, { valid_until: '2099-05-31' })],
})

const locations = [place('loc_ny', 'America/New_York'), place('loc_scl', 'America/Santiago'), aLocation()]
const sale = sharedSale({ locations, events: [plain] })

const listed = async (populate = '*') => {
  const query = `start_date=2000-01-01&populate=${populate}`
  return (await sale.rest('GET', `/events?${query}`, { headers: sale.channel })).json().data
}
const eventOf = async (id: string) => (await listed()).find(({ _id }: { _id: string }) => _id === id)
const pageOf = async (rate: string) => {
  const checkout = await holdTickets(sale, { rate })
  return visibleText((await openPageBuyer(sale).view(checkout)).body)
}

test('a plain date is a day of the venue, and an end its last moment', async () => {
  const days = {
    display_date: '2099-06-01T04:00:00.000Z',
    start_date: '2099-06-01T23:00:00.000Z',
    end_date: '2099-06-02T03:59:59.999Z',
    ticket_rates: [
      { valid_from: '2020-01-01T05:00:00.000Z', prices: [{ valid_until: '2099-06-01T03:59:59.999Z' }] },
    ],
  }
  expect(await eventOf('evt_plain')).toMatchObject(days)
  expect(await pageOf('plain')).toMatch(/Monday,? 1 June 2099/)
  // A file without the location, and one without its field.
  await importCatalogue(sale.db, { events: [plain] })
  expect(await eventOf('evt_plain')).toMatchObject(days)
  await importCatalogue(sale.db, { events: [{ ...plain, location_id: undefined }] })
  expect(await eventOf('evt_plain')).toMatchObject(days)
})

test('a day without a midnight begins after the gap, and one of another file is in its own zone', async () => {
  const day = { start_date: '2026-09-06', end_date: '2026-09-06' }
  await importCatalogue(sale.db, {
    locations: [place('loc_new', 'Asia/Tokyo')],
    events: [
      anEvent({ _id: 'evt_gap', location_id: 'loc_scl', ...day }),
      anEvent({ _id: 'evt_new', location_id: 'loc_new', ...day }),
      anEvent({ _id: 'evt_nowhere', location_id: null, ...day }),
    ],
  })
  expect(await eventOf('evt_gap')).toMatchObject({
    start_date: '2026-09-06T04:00:00.000Z',
    end_date: '2026-09-07T02:59:59.999Z',
  })
  expect(await eventOf('evt_new')).toMatchObject({
    start_date: '2026-09-05T15:00:00.000Z',
    end_date: '2026-09-06T14:59:59.999Z',
  })
  expect(await eventOf('evt_nowhere')).toMatchObject({
    start_date: '2026-09-06T00:00:00.000Z',
    end_date: '2026-09-06T23:59:59.999Z',
  })
})

test('an event of several days shows its first and its last, and a night its evening', async () => {
  const lasting = (name: string, start_date: string, end_date: string) =>
    anEvent({
      ...{ _id: `evt_${name}`, location_id: 'loc_ny', start_date, end_date },
      ticket_rates: [aRateNamed(name)],
    })
  await importCatalogue(sale.db, {
    events: [
      lasting('four', '2099-07-09T22:00:00Z', '2099-07-13T08:00:00Z'),
      lasting('night', '2099-07-10T02:00:00Z', '2099-07-10T10:00:00Z'),
    ],
  })
  // The last day ends at four in the morning. The clocks of New York have no name in English of Europe.
  expect(await pageOf('four')).toMatch(/Thursday,? 9( July)? – Sunday,? 12 July 2099.*18:00 \(New York\)/)
  expect(await pageOf('night')).toMatch(/Thursday,? 9 July 2099.*22:00 \(New York\)/)
})

test('time zones are those that the database knows', async () => {
  for (const timezone of ['UTC', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires', 'Asia/Kolkata']) {
    await importCatalogue(sale.db, { locations: [place('loc_ny', timezone)] })
    expect((await salesOf()).errors, timezone).toBeUndefined()
  }
})

const salesOf = () =>
  sale.graphql(
    '{ event(by: { id: "evt_plain" }) { sales(groupBy: DAY) { nodes { day ticketCount } } } }',
    {},
    sale.integration.v2,
  )
