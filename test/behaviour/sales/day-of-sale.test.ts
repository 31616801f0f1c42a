// Runs in: postgres, slow-forms

import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { aCatalogue, aLocation, anEvent, aRateNamed, aRateOf } from '../../support/factories.ts'
import { sharedSale } from '../../support/sale.ts'
import { buyTickets, holdTickets } from '../../support/tickets.ts'

// The day of a sale is that of its venue when it was paid, whatever an import says of the venue later.

// 25 hours apart, so that it is never the same day in both.
const [east, west] = ['Pacific/Kiritimati', 'Pacific/Pago_Pago']
const catalogue = (timezone: string, more = {}) =>
  aCatalogue({
    locations: [aLocation({ timezone })],
    events: [
      anEvent({
        _id: 'evt_1',
        ticket_rates: [aRateOf(100), aRateNamed('2', {}, { price: 0 })],
        ...more,
      }),
    ],
  })

const sale = sharedSale(catalogue(east))

/** Day in a time zone, of tickets that are paid now. */
const dayIn = async (timezone: string): Promise<string> => {
  const [row] = await sale.db
    .select({ day: sql<string>`to_char(now() at time zone ${timezone}, 'YYYY-MM-DD')` })
    .from(tickets)
    .limit(1)
  return row?.day ?? ''
}
async function days(): Promise<[day: string, tickets: number][]> {
  const query = '{ event(by: { id: "evt_1" }) { sales(groupBy: DAY) { nodes { day ticketCount } } } }'
  type Answer = { event: { sales: { nodes: { day: string; ticketCount: number }[] } } }
  const { data, errors } = await sale.graphql<Answer>(query, {}, sale.integration.v2)
  expect(errors).toBeUndefined()
  return data?.event.sales.nodes.map(({ day, ticketCount }) => [day, ticketCount]) ?? []
}

test('a day stays where the venue moves to another time zone, or the event to no venue', async () => {
  await buyTickets(sale, { count: 2 })
  await holdTickets(sale, { rate: '2' })
  const inEast = await dayIn(east)
  expect(await days()).toEqual([[inEast, 3]])

  await importCatalogue(sale.db, catalogue(west))
  expect(await days()).toEqual([[inEast, 3]])
  await importCatalogue(sale.db, catalogue(west, { location_id: null }))
  expect(await days()).toEqual([[inEast, 3]])

  // Control: what is paid from now on has the new venue's day.
  await importCatalogue(sale.db, catalogue(west))
  await buyTickets(sale)
  const inWest = await dayIn(west)
  expect(inWest).not.toBe(inEast)
  expect(await days()).toEqual([
    [inWest, 1],
    [inEast, 3],
  ])
})
