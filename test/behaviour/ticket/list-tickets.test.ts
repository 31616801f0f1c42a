import { getTableColumns, sql } from 'drizzle-orm'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { aBuyer, mustSell } from '../../support/box-office.ts'
import { anEvent, anOrganization, aRateNamed, channelHeaders } from '../../support/factories.ts'
import { cancelTicket, ticketRow } from '../../support/refunds.ts'
import { openSale, sharedSale } from '../../support/sale.ts'
import {
  aHeldTicket,
  aPaidTicket,
  buyTickets,
  holdTickets,
  type Order,
  ticketOf,
} from '../../support/tickets.ts'

// Lists of tickets over GraphQL: filters, orders and pages in both directions.

let rival: Record<string, string>
// Tickets in the order of their checkouts, by a name for each.
const ids: Record<string, string> = {}
const nameOf = (id: string) => Object.keys(ids).find((name) => ids[name] === id) ?? id

const people = {
  ana: { full_name: 'Ana Núñez', email: 'Ana@Example.com', phone: '+34600111222' },
  anabel: { full_name: 'ANABEL Ruiz', email: 'anabel@example.com', phone: '+34600111333' },
  bjorn: { full_name: 'Bjørn Öst', email: 'bjorn@example.com', phone: '+4670000111' },
  luz: { full_name: 'Luz-María Ñandú', email: 'luz@example.com' },
  rivals: { full_name: 'Ana Rival', email: 'ana@example.com', phone: '+34600111000' },
  far: { full_name: 'Ana Far', email: 'ana@example.com' },
}

const otto = { fullName: 'Otto Maier', email: 'otto@example.com' }

const buy = async (name: keyof typeof people, more: Order = {}, sell = aPaidTicket) => {
  ids[name] = (await sell(sale, { entry: people[name], ...more })).id
}

const sale = sharedSale({
  organizations: [anOrganization(), anOrganization({ _id: 'org_2' })],
  events: [
    anEvent({ _id: 'evt_1', ticket_rates: [aRateNamed('1'), aRateNamed('2')] }),
    anEvent({ _id: 'evt_2', ticket_rates: [aRateNamed('3')] }),
    anEvent({
      _id: 'evt_far',
      organization_id: 'org_2',
      location_id: undefined,
      ticket_rates: [aRateNamed('far')],
    }),
  ],
})
beforeAll(async () => {
  rival = await channelHeaders(sale.db, 'org_1')
  await buy('ana', { referral_id: 'blog' })
  await buy('anabel', { rate: '2' })
  await buy('bjorn', { rate: '3' }, aHeldTicket)
  await buy('luz')
  await buy('rivals', { headers: rival })
  await buy('far', { rate: 'far' })
  ids.door = (await mustSell(sale, { tickets: [aBuyer('price_1', otto)] })).tickets[0]?.id ?? ''
  await cancelTicket(sale, ids.luz ?? '')
})

type Page = {
  nodes: { id: string }[]
  edges: { cursor: string; node: { id: string } }[]
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string; endCursor: string }
}

const query = `query ($filter: TicketFilter, $orderBy: TicketOrder, $first: Int, $after: String, $last: Int, $before: String) {
  tickets(filter: $filter, orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before) {
    nodes { id } edges { cursor node { id } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`

const ask = (variables: object, headers: Record<string, string>) =>
  sale.graphql<{ tickets: Page | null }>(query, variables as Record<string, unknown>, headers)

async function pageOf(
  variables: object,
  headers: Record<string, string> = sale.integration.v2,
): Promise<Page> {
  const { data, errors } = await ask(variables, headers)
  expect(errors).toBeUndefined()
  if (!data?.tickets) throw new Error('the list has data')
  return data.tickets
}

const namesOf = async (variables: object, headers?: Record<string, string>) =>
  (await pageOf(variables, headers)).nodes.map(({ id }) => nameOf(id))

test('an integration lists all of its organization, newest first', async () => {
  expect(await namesOf({})).toEqual(['door', 'rivals', 'luz', 'bjorn', 'anabel', 'ana'])
})

test('a channel lists what it sold itself, for any organization', async () => {
  expect(await namesOf({}, sale.channel)).toEqual(['far', 'luz', 'bjorn', 'anabel', 'ana'])
  expect(await namesOf({}, rival)).toEqual(['rivals'])
})

const filters: [filter: object, found: string[]][] = [
  [{ eventIds: 'evt_1' }, ['door', 'rivals', 'luz', 'anabel', 'ana']],
  [{ eventIds: 'evt_far' }, []],
  [{ eventIds: 'evt_0' }, []],
  [{ eventIds: ['evt_1', 'evt_2'] }, ['door', 'rivals', 'luz', 'bjorn', 'anabel', 'ana']],
  [{ eventIds: ['evt_2', 'evt_far'] }, ['bjorn']],
  [{ ticketRateIds: 'rate_1' }, ['door', 'rivals', 'luz', 'ana']],
  [{ ticketRateIds: ['rate_2', 'rate_3', 'rate_3'] }, ['bjorn', 'anabel']],
  [{ ticketRateIds: 'rate_1', eventIds: 'evt_2' }, []],
  [{ status: 'PENDING' }, ['bjorn']],
  [{ status: 'ACTIVATED' }, ['door', 'rivals', 'anabel', 'ana']],
  [{ status: 'CANCELLED' }, ['luz']],
  [{ status: 'EXPIRED' }, []],
  [{ status: ['CANCELLED', 'EXPIRED'] }, ['luz']],
  [{ status: ['PENDING', 'CANCELLED'], eventIds: ['evt_1', 'evt_2'] }, ['luz', 'bjorn']],
  [{ saleType: 'ONLINE' }, ['rivals', 'luz', 'bjorn', 'anabel', 'ana']],
  [{ saleType: 'BOX_OFFICE' }, ['door']],
  [{ saleType: 'INVITATION' }, []],
  [{ saleType: ['BOX_OFFICE', 'INVITATION'] }, ['door']],
  [{ saleType: ['ONLINE', 'BOX_OFFICE'] }, ['door', 'rivals', 'luz', 'bjorn', 'anabel', 'ana']],
  [{ saleType: ['ONLINE', 'INVITATION'], eventIds: 'evt_1' }, ['rivals', 'luz', 'anabel', 'ana']],
  [{ referralId: 'blog' }, ['ana']],
  [{ email: 'ANA@example.COM' }, ['rivals', 'ana']],
  [{ email: 'ana@example.com', eventIds: 'evt_2' }, []],
  [{ name: 'ana' }, ['anabel', 'ana', 'rivals']],
  [{ name: 'ana n' }, ['ana']],
  [{ name: 'ÀNA' }, ['anabel', 'ana', 'rivals']],
  [{ name: 'bjorn ost' }, ['bjorn']],
  [{ name: 'luz maria' }, ['luz']],
  [{ name: 'nunez' }, []],
  [{ name: 'ana', status: 'ACTIVATED', phone: '+34 600 111 2' }, ['ana']],
  [{ phone: '34 600-111' }, ['rivals', 'ana', 'anabel']],
  [{ phone: '600' }, []],
]

test.each(filters)('%j finds its tickets', async (filter, found) => {
  const names = await namesOf({ filter })
  expect(names.toSorted()).toEqual(found.toSorted())
  if (!('name' in filter)) expect(names).toEqual(found)
})

test('names and numbers are in their own order', async () => {
  // Folded: «ana nunez», «ana rival», «anabel ruiz».
  expect(await namesOf({ filter: { name: 'ana' } })).toEqual(['ana', 'rivals', 'anabel'])
  expect(await namesOf({ filter: { name: 'ana' }, last: 1 })).toEqual(['anabel'])
})

test('payment and code find their tickets, in any order', async () => {
  const row = await ticketRow(sale, ids.ana ?? '')
  for (const orderBy of ['CREATED_ASC', 'CREATED_DESC']) {
    expect(await namesOf({ filter: { paymentId: row?.paymentId }, orderBy })).toEqual(['ana'])
    expect(await namesOf({ filter: { code: row?.qrCode }, orderBy })).toEqual(['ana'])
    expect(await namesOf({ filter: { code: row?.qrCode }, orderBy }, rival)).toEqual([])
  }
})

test('a range of payment times includes its beginning and not its end', async () => {
  const { data } = await sale.graphql<{ ticket: { activatedAt: string } }>(
    `{ ticket(id: "${ids.anabel}") { activatedAt } }`,
    {},
    sale.integration.v2,
  )
  const at = data?.ticket.activatedAt
  expect(await namesOf({ filter: { paid: { from: at } } })).toEqual(['door', 'rivals', 'luz', 'anabel'])
  expect(await namesOf({ filter: { paid: { until: at } } })).toEqual(['ana'])
  expect(await namesOf({ filter: { paid: { from: at }, email: 'anabel@example.com' } })).toEqual(['anabel'])
  expect(await namesOf({ filter: { paid: { until: at } }, orderBy: 'CREATED_ASC' })).toEqual(['ana'])
  const after = new Date(Date.parse(at ?? '') + 1).toISOString()
  expect(await namesOf({ filter: { paid: { from: at, until: after } } })).toEqual(['anabel'])
  expect(await namesOf({ filter: { paid: { from: at, until: at } } })).toEqual([])
  expect(await namesOf({ filter: { paid: {} } })).toEqual(await namesOf({}))
})

test.each(['CREATED_ASC', 'CREATED_DESC'])('pages of %s lead through the list and back', async (orderBy) => {
  const all = await namesOf({ orderBy })
  const forth: string[] = []
  let after: string | undefined
  for (;;) {
    const page = await pageOf({ orderBy, first: 2, after })
    forth.push(...page.nodes.map(({ id }) => nameOf(id)))
    expect(page.pageInfo.hasPreviousPage).toBe(after !== undefined)
    after = page.pageInfo.endCursor
    if (!page.pageInfo.hasNextPage) break
  }
  expect(forth).toEqual(all)
  const back: string[] = []
  let before: string | undefined
  for (;;) {
    const page = await pageOf({ orderBy, last: 2, before })
    back.unshift(...page.nodes.map(({ id }) => nameOf(id)))
    expect(page.pageInfo.hasNextPage).toBe(before !== undefined)
    before = page.pageInfo.startCursor
    if (!page.pageInfo.hasPreviousPage) break
  }
  expect(back).toEqual(all)
})

test('a page between two cursors', async () => {
  const { edges } = await pageOf({})
  const [after, before] = [edges[0]?.cursor, edges[4]?.cursor]
  expect(await namesOf({ after, before })).toEqual(edges.slice(1, 4).map(({ node }) => nameOf(node.id)))
  expect(await namesOf({ after, before, last: 1 })).toEqual(
    edges.slice(3, 4).map(({ node }) => nameOf(node.id)),
  )
})

const refused: [variables: object, path: string][] = [
  [{ first: 0 }, 'first'],
  [{ first: 101 }, 'first'],
  [{ last: 101 }, 'last'],
  [{ first: 1, last: 1 }, 'last'],
  [{ after: 'x' }, 'after'],
  [{ before: 'x' }, 'before'],
  [{ filter: { name: '-' } }, 'filter.name'],
  [{ filter: { phone: 'x' } }, 'filter.phone'],
  [{ filter: { email: 'x' } }, 'filter.email'],
  [{ filter: { code: '' } }, 'filter.code'],
  [{ filter: { eventIds: '%' } }, 'filter.eventIds.0'],
  [{ filter: { eventIds: [] } }, 'filter.eventIds'],
  [{ filter: { ticketRateIds: [] } }, 'filter.ticketRateIds'],
  [{ filter: { ticketRateIds: Array(101).fill('rate_1') } }, 'filter.ticketRateIds'],
  [{ filter: { status: [] } }, 'filter.status'],
  [{ filter: { saleType: [] } }, 'filter.saleType'],
  [{ filter: { name: 'a' }, orderBy: 'CREATED_ASC' }, 'orderBy'],
]

test.each(refused)('%j is refused where it is wrong', async (variables, path) => {
  const { data, errors } = await ask(variables, sale.channel)
  expect(data?.tickets).toBeNull()
  expect(errors?.map(({ extensions }) => extensions)).toMatchObject([{ code: 'INVALID' }])
  expect(JSON.stringify(errors?.[0]?.extensions)).toContain(path)
})

test('a cursor of another order is refused', async () => {
  const { pageInfo } = await pageOf({ filter: { name: 'a' }, first: 1 })
  const { errors } = await ask({ orderBy: 'CREATED_ASC', after: pageInfo.endCursor }, sale.integration.v2)
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'INVALID' })
})

// A page ends where 10,000 tickets were looked through, with a cursor to go on from.
test('the ticket at which a page ends after looking through many is listed', async () => {
  const event = anEvent({ _id: 'evt_1', ticket_rates: [aRateNamed('1')] })
  const large = await openSale({ events: [event] })
  onTestFinished(() => large.close())
  const bought = await buyTickets(large)
  const held = await holdTickets(large)
  await large.db.execute(
    sql`update tickets set created_at = now() - interval '1 day' where id = ${ticketOf(bought)}`,
  )
  // One column is generated.
  const { ended: _ended, ...columns } = getTableColumns(tickets)
  const names = sql.raw(
    Object.values(columns)
      .map(({ name }) => `"${name}"`)
      .join(', '),
  )
  const values = sql.raw(
    Object.values(columns)
      .map(({ name }) => `copy."${name}"`)
      .join(', '),
  )
  await large.db.execute(sql`insert into tickets (${names}) select ${values} from tickets as held
    cross join generate_series(1, 9999) as n
    cross join lateral jsonb_populate_record(null::tickets, to_jsonb(held) || jsonb_build_object(
      'id', 'tkt_copy' || n, 'qr_code', 'copy' || n, 'created_at', now() - n * interval '1 second')) as copy
    where held.id = ${ticketOf(held)}`)
  const found: string[] = []
  const pageAfter = async (after: string | null) => {
    const variables = { filter: { status: 'ACTIVATED' }, first: 50, after }
    const { data } = await large.graphql<{ tickets: Page }>(query, variables, large.channel)
    if (!data) throw new Error('a page has data')
    found.push(...data.tickets.nodes.map(({ id }) => id))
    return data.tickets.pageInfo
  }
  let info = await pageAfter(null)
  while (info.hasNextPage) info = await pageAfter(info.endCursor)
  expect(found).toEqual([ticketOf(bought)])
})
