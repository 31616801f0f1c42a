import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { toCursor } from '../../../src/domain/check-in/loaders.ts'
import { anEventAtDoor, scanTicket } from '../../support/door.ts'
import { aCatalogueOfTwo, aRateNamed } from '../../support/factories.ts'
import { openStream, subscribe } from '../../support/live.ts'
import { inTestMode } from '../../support/modes.ts'
import { sharedSale } from '../../support/sale.ts'
import { holdTickets } from '../../support/tickets.ts'

const catalogue = aCatalogueOfTwo(20)
const [event, foreign] = (catalogue.events ?? []).map(({ _id = '' }) => _id)
const quiet = anEventAtDoor({ _id: 'quiet', ticket_rates: [aRateNamed('quiet')] })
const sale = sharedSale({ ...catalogue, events: [...(catalogue.events ?? []), quiet], listen: true })

type Scanned = {
  checkIns: {
    cursor: string
    node: { id: string; outcome: string; people: number; ticket: { id: string; attendee: object } | null }
  }
}
const query = `subscription ($id: ID!, $after: String) { checkIns(eventId: $id, after: $after) { cursor
  node { id outcome people ticket { id attendee { fullName } } } } }`

async function unpaidTicket(desk = sale): Promise<string> {
  const { tickets } = await holdTickets(desk)
  return tickets[0]?._id ?? ''
}
const watch = (headers: Record<string, string>, id = event, after?: string) =>
  subscribe<Scanned>(sale.url, headers, { query, variables: { id, after } })
const peopleIn = ({ received }: ReturnType<typeof watch>) =>
  received.map(({ checkIns }) => checkIns.node.people)

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
  await watched.until(({ checkIns: { node } }) => node.people === 3)
  expect(watched.received.at(-1)?.checkIns.node).toEqual({
    id: expect.stringMatching(/^chk_\w{26}$/),
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
  const lastEventId = /^id: (\S+)$/m.exec(first.text())?.[1] ?? ''
  const again = await openStream(
    sale.url,
    { ...sale.integration.v2, 'last-event-id': lastEventId },
    { query, variables: { id: event } },
  )
  await expect.poll(again.text).toContain('"people":5')
})

type Page = {
  event: {
    checkIns: { nodes: { id: string; people: number }[]; pageInfo: { startCursor: string } }
  }
}
const pageOf = async (headers: Record<string, string>, id = event) => {
  const { data, errors } = await sale.graphql<Page>(
    `query ($id: ID!) { event(by: { id: $id }) { checkIns { nodes { id people } pageInfo { startCursor } } } }`,
    { id },
    headers,
  )
  expect(errors).toBeUndefined()
  if (!data) throw new Error('a page has data')
  return data.event.checkIns
}

test('a stream goes on after the cursor of a list, and of the stream before it', async () => {
  const ticketId = await unpaidTicket()
  await scanTicket(sale, { ticketId, people: 11 })
  const { nodes, pageInfo } = await pageOf(sale.integration.v2)
  expect(nodes[0]?.people).toBe(11)
  await scanTicket(sale, { ticketId, people: 12 })
  const watched = watch(sale.integration.v2, event, pageInfo.startCursor)
  const missed = await watched.until(({ checkIns: { node } }) => node.people === 12)
  await scanTicket(sale, { ticketId, people: 13 })
  const again = watch(sale.integration.v2, event, missed.checkIns.cursor)
  await again.until(({ checkIns: { node } }) => node.people === 13)
  // The header, which a client sends by itself, is of a later event than the argument of its query.
  const { cursor } = (await watched.until(({ checkIns: { node } }) => node.people === 13)).checkIns
  await sale.db.execute(
    sql`update check_ins set created_at = created_at - interval '1 hour' where people = 12`,
  )
  const first = toCursor({ createdAt: new Date(0), id: '' })
  const both = watch({ ...sale.integration.v2, 'last-event-id': cursor }, event, first)
  await both.until(({ checkIns: { node } }) => node.people === 13)
  expect(peopleIn(both)).not.toContain(12)
})

test('a stream goes on from an empty list', async () => {
  const { tickets } = await holdTickets(sale, { rate: 'quiet' })
  const { nodes, pageInfo } = await pageOf(sale.integration.v2, 'quiet')
  expect(nodes).toEqual([])
  await scanTicket(sale, { ticketId: tickets[0]?._id, people: 14 })
  const watched = watch(sale.integration.v2, 'quiet', pageInfo.startCursor)
  await watched.until(({ checkIns: { node } }) => node.people === 14)
})

test('a code that matches no ticket is told to the event at the door, and to no other', async () => {
  const [here, there] = [watch(sale.integration.v2), watch(sale.integration.v2, 'quiet')]
  await Promise.all([here.opened(), there.opened()])
  await scanTicket(sale, { qrCode: 'FORGED', eventId: event, people: 15 })
  // The ticket of another event is told to the door at which it was scanned.
  await scanTicket(sale, { ticketId: await unpaidTicket(), eventId: 'quiet', people: 16 })
  await here.until(({ checkIns: { node } }) => node.outcome === 'NOT_FOUND' && node.ticket === null)
  await there.until(({ checkIns: { node } }) => node.outcome === 'WRONG_EVENT' && node.ticket !== null)
  expect([peopleIn(here), peopleIn(there)]).toEqual([[15], [16]])
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
  await watched.live.until(({ checkIns: { node } }) => node.people === 6)
  await watched.test.until(({ checkIns: { node } }) => node.people === 7)
  const first = toCursor({ createdAt: new Date(0), id: '' })
  const missed = {
    live: watch(sale.integration.v2, event, first),
    test: watch(testing.integration.v2, event, first),
  }
  await missed.live.until(({ checkIns: { node } }) => node.people === 6)
  await missed.test.until(({ checkIns: { node } }) => node.people === 7)
  const heardOf = ({ received }: ReturnType<typeof watch>) =>
    received.map(({ checkIns: { node } }) => node.ticket?.id)
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
    'INVALID',
    'last-event-id',
  ],
  ['a cursor from nowhere', () => watch(sale.integration.v2, event, 'x'), 'INVALID', 'after'],
])('refuses %s', async (_what, watch, code, path) => {
  const refused = watch()
  await expect.poll(refused.isComplete).toBe(true)
  expect(refused.errors).toEqual([path === undefined ? { code } : { code, path }])
})
