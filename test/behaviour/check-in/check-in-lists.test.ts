// Runs in: postgres

import { expect, test } from 'vitest'
import { anEventAtDoor, openDoors, scanTicket } from '../../support/door.ts'
import { aRateNamed } from '../../support/factories.ts'
import { inTestMode, scopedHeaders } from '../../support/modes.ts'
import { cancelTicket } from '../../support/refunds.ts'
import { type Sale, sharedSale } from '../../support/sale.ts'
import { aPaidTicket } from '../../support/tickets.ts'

// Earlier scans of an event and of a ticket, and how many people came.

const eventIds = ['one', 'two', 'three']
const events = eventIds.map((_id) => anEventAtDoor({ _id, ticket_rates: [aRateNamed(_id, { admits: 3 })] }))
const sale = sharedSale({ events, settings: openDoors })

type Headers = Record<string, string>
type Node = {
  id: string
  outcome: string
  inside: number | null
  event: { id: string }
  ticket: object | null
}
type List = {
  nodes: Node[]
  edges: { cursor: string }[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
} | null
const fields = `nodes { id outcome reasons inside admits people event { id } ticket { id } }
  edges { cursor } pageInfo { hasNextPage endCursor }`

async function ask<Data>(
  query: string,
  variables: Record<string, unknown>,
  headers: Headers = sale.integration.v2,
) {
  const { data, errors } = await sale.graphql<Data>(query, variables, headers)
  expect(errors).toBeUndefined()
  if (!data) throw new Error('a query has data')
  return data
}
const eventList = async (id: string, page: { first?: number; after?: string } = {}, headers?: Headers) => {
  const query = `query ($id: ID!, $first: Int! = 50, $after: String) {
    event(by: { id: $id }) { checkIns(first: $first, after: $after) { ${fields} } } }`
  return (await ask<{ event: { checkIns: List } }>(query, { id, ...page }, headers)).event.checkIns
}
const buy = async (rate: string) => (await aPaidTicket(sale, { rate })).id

test('the scans of an event are listed from the newest, page by page, forged codes among them', async () => {
  const ticketId = await buy('one')
  await scanTicket(sale, { ticketId, people: 2 })
  await scanTicket(sale, { qrCode: 'FORGED', eventId: 'one' })
  await scanTicket(sale, { ticketId, people: 2 })
  await scanTicket(sale, { ticketId, direction: 'OUT' })
  const whole = await eventList('one')
  expect(whole?.nodes).toMatchObject([
    { outcome: 'OK', inside: 1, admits: 3, people: 1 },
    { outcome: 'NO_ENTRIES_LEFT', reasons: ['NO_ENTRIES_LEFT'], inside: 2, ticket: { id: ticketId } },
    { outcome: 'NOT_FOUND', inside: null, admits: null, ticket: null, event: { id: 'one' } },
    { outcome: 'OK', inside: 2, ticket: { id: ticketId } },
  ])
  expect(whole?.pageInfo.hasNextPage).toBe(false)
  const first = await eventList('one', { first: 3 })
  const second = await eventList('one', { first: 3, after: first?.pageInfo.endCursor ?? '' })
  expect(first?.pageInfo.hasNextPage).toBe(true)
  expect([...(first?.nodes ?? []), ...(second?.nodes ?? [])]).toEqual(whole?.nodes)
  expect([...(first?.edges ?? []), ...(second?.edges ?? [])]).toEqual(whole?.edges)
})

test('a ticket has its own scans, at whatever door', async () => {
  const [ticketId, other] = [await buy('one'), await buy('one')]
  await scanTicket(sale, { ticketId })
  await scanTicket(sale, { ticketId: other })
  await scanTicket(sale, { ticketId, eventId: 'two' })
  const { ticket } = await ask<{ ticket: { checkIns: List } }>(
    `query ($id: ID!) { ticket(id: $id) { checkIns { ${fields} } } }`,
    { id: ticketId },
  )
  expect(ticket.checkIns?.nodes).toMatchObject([
    { outcome: 'WRONG_EVENT', event: { id: 'two' } },
    { outcome: 'OK', event: { id: 'one' } },
  ])
  expect((await eventList('two'))?.nodes).toEqual([ticket.checkIns?.nodes[0]])
})

test('a repeated scan is the same check-in, with the number of people inside then', async () => {
  const ticketId = await buy('three')
  const scan = (idempotencyKey: string, direction = 'IN') =>
    ask<{ checkInTicket: { checkIn: object; replayed: boolean } }>(
      `mutation ($input: CheckInTicketInput!) { checkInTicket(input: $input) {
        ... on CheckInTicketPayload { replayed checkIn { id outcome inside scannedAt event { id } } } } }`,
      { input: { ticket: { ticketId }, eventId: 'three', idempotencyKey, direction } },
    )
  const { checkInTicket: first } = await scan('again')
  expect(first).toMatchObject({
    replayed: false,
    checkIn: { outcome: 'OK', inside: 1, event: { id: 'three' } },
  })
  await scan('leaves', 'OUT')
  expect((await scan('again')).checkInTicket).toEqual({ ...first, replayed: true })
})

test('an event that the scanner made up belongs to nobody', async () => {
  const scan = await ask<{ checkInTicket: { checkIn: Node } }>(
    `mutation { checkInTicket(input: { ticket: { qrCode: "FORGED" }, eventId: "nowhere", idempotencyKey: "nowhere" }) {
      ... on CheckInTicketPayload { checkIn { id event { id } } } } }`,
    {},
  )
  expect(scan.checkInTicket.checkIn.event).toBeNull()
})

test('check-ins are nodes and lists of the door alone; attendance is of the door and of sales', async () => {
  const testing = await inTestMode(sale)
  const id = (await eventList('one'))?.nodes[0]?.id ?? ''
  const query = `query ($id: ID!) {
    node(id: $id) { id }
    event(by: { id: "one" }) { checkIns(first: 1) { nodes { id } } attendance { sold } }
    events { nodes { checkIns(first: 1) { nodes { id } } } } }`
  type Shown = {
    node: Node | null
    event: { checkIns: List; attendance: object | null } | null
    events: { nodes: { checkIns: List }[] } | null
  }
  const shownTo = async (headers: Headers) => {
    const { data } = await sale.graphql<Shown>(query, { id }, headers)
    const { node, event, events } = data ?? {}
    const lists = [event?.checkIns, ...(events?.nodes.map(({ checkIns }) => checkIns) ?? [])]
    return [node !== null, lists.some(Boolean), Boolean(event?.attendance)]
  }
  expect(await shownTo(sale.integration.v2)).toEqual([true, true, true])
  expect(await shownTo(await scopedHeaders(sale, 'catalogue', 'door'))).toEqual([true, true, true])
  expect(await shownTo(await scopedHeaders(sale, 'catalogue', 'sales'))).toEqual([false, false, true])
  expect(await shownTo(await scopedHeaders(sale, 'catalogue', 'tickets:read'))).toEqual([false, false, false])
  expect(await shownTo(sale.channel)).toEqual([false, false, false])
  expect((await eventList('one', {}, testing.integration.v2))?.nodes).toEqual([])
  expect(
    (await ask<Shown>('query ($id: ID!) { node(id: $id) { id } }', { id }, testing.integration.v2)).node,
  ).toBe(null)
})

test('each mode has its scans and its people', async () => {
  const testing = await inTestMode(sale)
  const attendanceOf = async (desk: Sale) => {
    const query = '{ event(by: { id: "two" }) { attendance { sold inside entered } } }'
    return (await ask<{ event: { attendance: object } }>(query, {}, desk.integration.v2)).event.attendance
  }
  expect(await attendanceOf(sale)).toEqual({ sold: 0, inside: 0, entered: 0 })
  await cancelTicket(sale, await buy('two'))
  expect(await attendanceOf(sale)).toEqual({ sold: 0, inside: 0, entered: 0 })
  const group = await buy('two')
  await buy('two')
  await scanTicket(sale, { ticketId: group, people: 3 })
  await scanTicket(sale, { ticketId: group, people: 2, direction: 'OUT' })
  await scanTicket(sale, { ticketId: group, people: 1 })
  expect(await attendanceOf(sale)).toEqual({ sold: 6, inside: 2, entered: 3 })
  expect(await attendanceOf(testing)).toEqual({ sold: 0, inside: 0, entered: 0 })
})

test('lists below any number of events and tickets, and their numbers, take a statement each', async () => {
  const statementsFor = async (first: number) => {
    const lists = `checkIns(first: 5) { nodes { id event { name } ticket { checkIns(first: 2) { nodes { id } } } } }`
    sale.statements.reset()
    const { events } = await ask<{ events: { nodes: { checkIns: List }[] } }>(
      `query ($first: Int!) { events(first: $first) { nodes { ${lists} attendance { inside } } } }`,
      { first },
    )
    expect(events.nodes.flatMap(({ checkIns }) => checkIns?.nodes ?? []).length).toBeGreaterThan(first)
    return sale.statements.length
  }
  // Rows of the catalogue are read once.
  await statementsFor(3)
  expect(await statementsFor(3)).toBe(await statementsFor(1))
})

test.each([
  [{ first: 0 }, 'first'],
  [{ first: 101 }, 'first'],
  [{ after: 'x' }, 'after'],
])('a page of %j is refused, and the event stays', async (page, path) => {
  const { data, errors } = await sale.graphql<{ event: object }>(
    `query ($first: Int! = 50, $after: String) {
      event(by: { id: "one" }) { id checkIns(first: $first, after: $after) { nodes { id } } } }`,
    page,
    sale.integration.v2,
  )
  expect(data?.event).toEqual({ id: 'one', checkIns: null })
  expect(errors).toMatchObject([{ extensions: { code: 'INVALID', path } }])
})
