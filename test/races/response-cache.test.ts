import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aRateNamed } from '../support/factories.ts'
import { createTestDatabase, type Gateway, startGateway, type TestDatabase } from '../support/harness.ts'
import { openSale, type Sale } from '../support/sale.ts'
import { holdTickets } from '../support/tickets.ts'

const bound = 150
const settings = { SHARED_READS_MS: String(bound) }
const rate = aRateNamed('1', { availability: { sold: 0, available: 1 } })

let database: TestDatabase
let sale: Sale
let other: Gateway
beforeAll(async () => {
  database = await createTestDatabase()
  sale = await openSale({ rates: [rate], database, settings })
  other = await startGateway({ database, settings })
})
afterAll(async () => {
  await Promise.all([sale.close(), other.close()])
  await database.drop()
})

const query = '{ events { nodes { ticketRates { available } } } }'

/** Returns, for both surfaces of a process, whether the rate is available. */
async function shownBy({ rest, graphql }: Gateway) {
  const listed = await rest('GET', '/events?populate=*', { headers: sale.channel })
  const asked = await graphql<{ events: { nodes: { ticketRates: { available: boolean }[] }[] } }>(
    query,
    {},
    sale.channel,
  )
  return [
    listed.json().data[0].ticket_rates[0].available,
    asked.data?.events.nodes[0]?.ticketRates[0]?.available,
  ]
}

test('a rate sold out by one process shows there at once, and in another within the bound', async () => {
  expect([await shownBy(sale), await shownBy(other)]).toEqual(Array(2).fill([true, true]))
  await holdTickets(sale)
  expect(await shownBy(sale)).toEqual([false, false])
  await wait(bound + 5)
  expect(await shownBy(other)).toEqual([false, false])
})
