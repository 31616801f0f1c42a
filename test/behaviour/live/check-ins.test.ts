import { afterAll, beforeAll, expect, test } from 'vitest'
import { anEntry, mustCheckOut } from '../../support/checkouts.ts'
import { scanTicket } from '../../support/door.ts'
import { aCatalogueOfTwo } from '../../support/factories.ts'
import { openStream, subscribe } from '../../support/live.ts'
import { inTestMode } from '../../support/modes.ts'
import { openSale, type Sale } from '../../support/sale.ts'

let sale: Sale
const catalogue = aCatalogueOfTwo(10)
const [event, foreign] = (catalogue.events ?? []).map(({ _id = '' }) => _id)
beforeAll(async () => {
  sale = await openSale(catalogue, { listen: true })
})
afterAll(() => sale.close())

type Scanned = {
  checkIns: { outcome: string; people: number; ticket: { id: string; attendee: { fullName: string } } }
}
const query = `subscription ($id: ID!) { checkIns(eventId: $id) { outcome people ticket { id attendee { fullName } } } }`

async function unpaidTicket(desk = sale): Promise<string> {
  const { tickets } = await mustCheckOut(desk, { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] })
  return tickets[0]?._id ?? ''
}
const watch = (headers: Record<string, string>, id = event) =>
  subscribe<Scanned>(sale.url, headers, { query, variables: { id } })

test('every scan of the event is streamed, with its ticket', async () => {
  const ticketId = await unpaidTicket()
  await scanTicket(sale, { ticketId })
  const stream = await openStream(sale.url, sale.integration.v1, { query, variables: { id: event } })
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const watched = watch(sale.integration.v2)
  await watched.opened()
  await scanTicket(sale, { ticketId, people: 2 })
  await expect.poll(stream.text).toContain('"people":2')
  await scanTicket(sale, { ticketId, people: 3 })
  await watched.until(({ checkIns: { people } }) => people === 3)
  expect(watched.received.at(-1)?.checkIns).toEqual({
    outcome: 'UNPAID',
    people: 3,
    ticket: { id: ticketId, attendee: { fullName: 'Ana Núñez' } },
  })
  // The scan before the subscription is not told.
  expect(stream.text()).not.toContain('"people":1')
})

test('a client goes on after the last event that it has received', async () => {
  const ticketId = await unpaidTicket()
  const first = await openStream(sale.url, sale.integration.v2, { query, variables: { id: event } })
  await scanTicket(sale, { ticketId, people: 4 })
  await expect.poll(first.text).toContain('"people":4')
  first.close()
  await scanTicket(sale, { ticketId, people: 5 })
  const lastEventId = /^id: (\d+)$/m.exec(first.text())?.[1] ?? ''
  const again = await openStream(
    sale.url,
    { ...sale.integration.v2, 'last-event-id': lastEventId },
    { query, variables: { id: event } },
  )
  await expect.poll(again.text).toContain('"people":5')
})

// Two scans may come in the other order, because transactions commit in another order than they begin.
test('a live key hears of no test ticket, a test key of no live one, later either', async () => {
  const testing = await inTestMode(sale)
  const watched = { live: watch(sale.integration.v2), test: watch(testing.integration.v2) }
  for (const { opened } of Object.values(watched)) await opened()
  const ids = { live: await unpaidTicket(), test: await unpaidTicket(testing) }
  const scanBoth = async (people: number) => {
    await scanTicket(testing, { ticketId: ids.test, people })
    await scanTicket(sale, { ticketId: ids.live, people })
    await scanTicket(testing, { ticketId: ids.test, people: people + 1 })
  }
  await scanBoth(6)
  await watched.live.until(({ checkIns: { people } }) => people === 6)
  await watched.test.until(({ checkIns: { people } }) => people === 7)
  const again = { 'last-event-id': '0' }
  const missed = {
    live: watch({ ...sale.integration.v2, ...again }),
    test: watch({ ...testing.integration.v2, ...again }),
  }
  await missed.live.until(({ checkIns: { people } }) => people === 6)
  await missed.test.until(({ checkIns: { people } }) => people === 7)
  const heardOf = ({ received }: ReturnType<typeof watch>) =>
    received.map(({ checkIns: { ticket } }) => ticket?.id)
  expect(heardOf(watched.live)).toEqual([ids.live])
  expect(heardOf(missed.live)).not.toContain(ids.test)
  for (const stream of [watched.test, missed.test])
    await expect.poll(() => heardOf(stream)).toEqual([ids.test, ids.test])
})

test.each([
  ['an event of another organization', () => watch(sale.integration.v2, foreign), 'NOT_FOUND', 'eventId'],
  ['an event that is not there', () => watch(sale.integration.v2, 'evt_9'), 'NOT_FOUND', 'eventId'],
  ['a channel', () => watch(sale.channel), 'FORBIDDEN', undefined],
  [
    'a position from nowhere',
    () => watch({ ...sale.integration.v2, 'last-event-id': 'x' }),
    'CURSOR_UNKNOWN',
    'last-event-id',
  ],
])('refuses %s', async (_what, watch, code, path) => {
  const refused = watch()
  await expect.poll(refused.isComplete).toBe(true)
  expect(refused.errors).toEqual([path === undefined ? { code } : { code, path }])
})
