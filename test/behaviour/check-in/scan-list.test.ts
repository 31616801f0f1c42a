import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { events } from '../../../src/domain/event/table.ts'
import { ticketRates } from '../../../src/domain/ticket-rate/table.ts'
import { sha256 } from '../../../src/engine/base/ids.ts'
import { aLargeRate, anEventAtDoor, redeem, scanTicket } from '../../support/door.ts'
import { anOrganization, aSupplement, integrationHeaders } from '../../support/factories.ts'
import { cancelTicket, ticketRow } from '../../support/refunds.ts'
import { restProblems, sharedSale } from '../../support/sale.ts'
import { buyTickets, holdTickets, ticketOf } from '../../support/tickets.ts'

// The list that a scanner takes along to work offline.

const event = (_id: string, ticket_rates = [aLargeRate(_id)], organization_id = 'org_1') =>
  anEventAtDoor({ _id, organization_id, ticket_rates })

const supplements = [aSupplement({ _id: 'sup_1', label: 'Three drinks', product_quantity: 3 })]
const sale = sharedSale({
  organizations: [anOrganization(), anOrganization({ _id: 'org_2', name: 'Other' })],
  events: [
    event('shown', [aLargeRate('table', { admits: 4, supplements })]),
    event('changed', [
      aLargeRate('b'),
      aLargeRate('a', { admits: 2, supplements: [aSupplement({ _id: 'sup_2' })] }),
    ]),
    event('paged', [aLargeRate('one'), aLargeRate('two'), aLargeRate('three')]),
    event('quiet'),
    event('salted'),
    event('busy'),
    event('reduced'),
    event('theirs', [aLargeRate('theirs')], 'org_2'),
  ],
})

type Entry = {
  _id: string
  code_hash: string
  rate_id: string
  status: string
  for: number
  enter: number
  entry_date: number
  supplements: unknown[]
}
type List = {
  success: true
  event: { _id: string; start_date: string; end_date: string; opens_at: string }
  hash: { algorithm: string; salt: string }
  data: Entry[]
  cursor: string
  has_more: boolean
}

const get = (eventId: string, query: Record<string, string | number> = {}, headers = {}) => {
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
  const url = `/integrations/events/${eventId}/scan-list?${search}`
  return sale.rest('GET', url, { headers: { ...sale.integration.v2, ...headers } })
}
async function list(eventId: string, query = {}): Promise<List> {
  const answer = await get(eventId, query)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<List>()
}
/** Reads on until there is no more. Returns all pages. */
async function readAll(eventId: string, query: Record<string, string | number> = {}): Promise<List[]> {
  const pages = [await list(eventId, query)]
  for (let last = pages[0]; last?.has_more; last = pages.at(-1))
    pages.push(await list(eventId, { ...query, since: last.cursor }))
  return pages
}
const entriesOf = (pages: List[]) => pages.flatMap(({ data }) => data)
const cursorOf = (pages: List[]) => pages.at(-1)?.cursor ?? ''
const buy = (name: string, count = 1, entry = {}) => buyTickets(sale, { rate: name, count, entry })
const hashOf = async ({ hash }: List, id: string) =>
  sha256(hash.salt + ((await ticketRow(sale, id))?.qrCode ?? ''))

test('the list tells what a scanner needs, and neither codes nor persons', async () => {
  const id = ticketOf(await buy('table', 1, { supplements: [{ supplement_id: 'sup_1' }] }))
  const at = new Date(Date.now() - 60_000).toISOString()
  await scanTicket(sale, { ticketId: id, people: 3, scannedAt: at })
  await redeem(sale, { ticketId: id, supplementId: 'sup_1', count: 2 })
  const answer = await get('shown')
  const page = answer.json<List>()
  expect(page.data).toEqual([
    {
      _id: id,
      code_hash: await hashOf(page, id),
      rate_id: 'rate_table',
      status: 'activated',
      for: 4,
      enter: 3,
      entry_date: Math.floor(Date.parse(at) / 1000),
      supplements: [{ _id: 'sup_1', label: 'Three drinks', product_quantity: 3, product_quantity_used: 2 }],
    },
  ])
  expect(page.hash.algorithm).toBe('sha256')
  expect(Date.parse(page.event.start_date) - Date.parse(page.event.opens_at)).toBe(12 * 3_600_000)
  const row = await ticketRow(sale, id)
  for (const secret of [row?.qrCode, row?.fullName, row?.email, row?.paymentId, row?.documentToken])
    expect(answer.body).not.toContain(secret)
  expect(answer.headers['cache-control']).toBe('private, no-cache')
})

test('the salt of an event is random, the same for all who ask, and codes are long', async () => {
  const lists = await Promise.all(Array.from({ length: 6 }, () => list('salted')))
  const salts = new Set([...lists, await list('salted')].map(({ hash }) => hash.salt))
  expect(salts.size).toBe(1)
  const [salt = ''] = salts
  expect(salt).toMatch(/^[0-9a-f]{32}$/)
  // The salt of before, which anybody could compute.
  expect(salt).not.toBe(sha256(JSON.stringify(['scan list', 'org_1', 'salted'])).slice(0, 32))
  expect((await list('quiet')).hash.salt).not.toBe(salt)
  const ids = [ticketOf(await buy('salted')), ticketOf(await buy('salted', 1, { qr_code: 'K7M2PQ9RXW3D' }))]
  const [code = '', former] = await Promise.all(ids.map(async (id) => (await ticketRow(sale, id))?.qrCode))
  expect(29 ** code.length).toBeGreaterThan(2 ** 80)
  expect(code).toMatch(/^[2-9A-HJKMNP-TW-Z]{16,}$/)
  const { data } = await list('salted')
  expect(new Set(data.map(({ code_hash }) => code_hash))).toEqual(
    new Set([sha256(salt + code), sha256(salt + former)]),
  )
  // Codes of before are twelve characters long.
  expect((await scanTicket(sale, { qrCode: former, eventId: 'salted' })).outcome).toBe('OK')
})

test('a cursor of another salt is refused, so that no scanner mixes hashes of both', async () => {
  const { cursor } = await list('salted')
  expect((await get('salted', { since: cursor })).statusCode).toBe(200)
  await sale.db.update(events).set({ scanSalt: 'of another process' }).where(eq(events.id, 'salted'))
  const answer = await get('salted', { since: cursor })
  expect([answer.statusCode, restProblems(answer)]).toEqual([422, ['CURSOR_UNKNOWN since']])
  expect((await list('salted')).hash.salt).toBe('of another process')
})

test('only tickets that were paid are listed, cancelled ones too', async () => {
  const pending = await holdTickets(sale, { rate: 'busy' })
  const [paid, cancelled] = [ticketOf(await buy('busy')), ticketOf(await buy('busy'))]
  await cancelTicket(sale, cancelled)
  const { data } = await list('busy')
  expect(data.map(({ _id, status }) => [_id, status]).sort()).toEqual(
    [
      [paid, 'activated'],
      [cancelled, 'cancelled'],
    ].sort(),
  )
  expect(data.map(({ _id }) => _id)).not.toContain(ticketOf(pending))
})

test('tickets of a rate that was taken out of the catalogue are listed', async () => {
  const id = ticketOf(await buy('reduced'))
  await sale.db.update(ticketRates).set({ removed: true }).where(eq(ticketRates.id, 'rate_reduced'))
  expect((await list('reduced')).data.map(({ _id }) => _id)).toEqual([id])
})

test('pages of any size hold every ticket once, also while more are sold', async () => {
  const sold = [await buy('one', 7), await buy('two', 5), await buy('three', 6)]
  const ids = sold.flatMap((checkout) => checkout.tickets.map(({ _id }) => _id)).sort()
  for (const limit of [1, 4, 6, 18, 100]) {
    const pages = await readAll('paged', { limit })
    expect(pages).toHaveLength(Math.ceil(ids.length / limit))
    expect(
      entriesOf(pages)
        .map(({ _id }) => _id)
        .sort(),
    ).toEqual(ids)
  }
  const first = await list('paged', { limit: 10 })
  const late = ticketOf(await buy('one'))
  await scanTicket(sale, { ticketId: first.data[0]?._id })
  const rest = await readAll('paged', { limit: 10, since: first.cursor })
  const changed = await readAll('paged', { since: cursorOf(rest) })
  const told = [...first.data, ...entriesOf(rest), ...entriesOf(changed)]
  expect(new Set(told.map(({ _id }) => _id))).toEqual(new Set([...ids, late]))
  const latest = new Map(told.map((entry) => [entry._id, entry]))
  expect(latest.get(first.data[0]?._id ?? '')?.enter).toBe(1)
})

test('changes since a cursor: sold, entered, left, redeemed, cancelled, transferred, and nothing of others', async () => {
  const ids = (await buy('a', 4, { supplements: [{ supplement_id: 'sup_2' }] })).tickets.map(({ _id }) => _id)
  const pages = await readAll('changed')
  const before = new Map(entriesOf(pages).map((entry) => [entry._id, entry]))
  expect([...before.keys()].sort()).toEqual([...ids].sort())
  const nothing = await list('changed', { since: cursorOf(pages) })
  expect(nothing).toMatchObject({ has_more: false })

  const [entered = '', redeemed = '', cancelled = '', moved = ''] = ids
  const sold = ticketOf(await buy('b'))
  await scanTicket(sale, { ticketId: entered, people: 2 })
  await redeem(sale, { ticketId: redeemed, supplementId: 'sup_2' })
  await cancelTicket(sale, cancelled)
  await sale.graphql(
    `mutation ($id: ID!) { transferTicket(input: { ticketId: $id, attendee: { fullName: "Zoe", email: "zoe@example.com" } }) {
      __typename } }`,
    { id: moved },
    sale.channel,
  )
  await buy('quiet')
  const page = await list('changed', { since: nothing.cursor })
  const changed = new Map(page.data.map((entry) => [entry._id, entry]))
  expect([...changed.keys()].sort()).toEqual([entered, redeemed, cancelled, moved, sold].sort())
  expect(changed.get(entered)).toMatchObject({ enter: 2, status: 'activated' })
  expect(changed.get(redeemed)?.supplements).toMatchObject([{ product_quantity_used: 1 }])
  expect(changed.get(cancelled)).toMatchObject({ status: 'cancelled' })
  // The former code is replaced: whoever scans it finds no entry any more.
  expect(changed.get(moved)?.code_hash).toBe(await hashOf(page, moved))
  expect(changed.get(moved)?.code_hash).not.toBe(before.get(moved)?.code_hash)
  expect(await list('changed', { since: page.cursor })).toMatchObject({ data: [], has_more: false })
  await scanTicket(sale, { ticketId: entered, direction: 'OUT' })
  const { data: left } = await list('changed', { since: page.cursor })
  expect(left.map(({ _id, enter }) => [_id, enter])).toEqual([[entered, 1]])
  const small = await readAll('changed', { since: nothing.cursor, limit: 1 })
  expect(new Set(entriesOf(small).map(({ _id }) => _id))).toEqual(new Set(changed.keys()))
})

test('an unchanged list is 304, whatever happens at other events', async () => {
  await buy('quiet', 2)
  const { headers, statusCode } = await get('quiet')
  const etag = String(headers.etag)
  expect([statusCode, etag]).toEqual([200, expect.stringMatching(/^W\/"[^"]+"$/)])
  await buy('one')
  const same = await get('quiet', {}, { 'if-none-match': etag })
  expect([same.statusCode, same.body]).toEqual([304, ''])
  await buy('quiet')
  const other = await get('quiet', {}, { 'if-none-match': etag })
  expect(other.statusCode).toBe(200)
  expect(other.headers.etag).not.toBe(etag)
})

test('a page that has more links to the next', async () => {
  await buy('one', 2)
  const first = await get('paged', { limit: 1 })
  const next = /^<[^>]+(\/integrations\/[^>]+)>; rel="next"$/.exec(String(first.headers.link))?.[1] ?? ''
  const second = await sale.rest('GET', next, { headers: sale.integration.v2 })
  expect(second.statusCode, next).toBe(200)
  expect(second.json<List>().data[0]?._id).not.toBe(first.json<List>().data[0]?._id)
  expect((await get('quiet')).headers.link).toBeUndefined()
})

test('the cursor of another event, caller or database is refused', async () => {
  const { cursor } = await list('quiet')
  const other = await get('busy', { since: cursor })
  expect([other.statusCode, restProblems(other)]).toEqual([422, ['CURSOR_UNKNOWN since']])
  const feed = cursor.split('~')[1] ?? ''
  for (const since of [
    'x',
    '~~',
    `${cursor}~`,
    feed,
    `${cursor[0] === 'x' ? 'y' : 'x'}${cursor.slice(1)}`,
    'x'.repeat(900),
  ]) {
    const answer = await get('quiet', { since })
    expect([answer.statusCode, restProblems(answer)]).toEqual([422, ['CURSOR_UNKNOWN since']])
  }
  // A change that a restore took back.
  await buy('quiet')
  const lost = await list('quiet', { since: cursor })
  await sale.db.execute(`update changes set id = id || '0'`)
  const answer = await get('quiet', { since: lost.cursor })
  expect(restProblems(answer)).toEqual(['CURSOR_UNKNOWN since'])
})

test.each([
  [{ limit: 0 }, 'INVALID limit'],
  [{ limit: 5001 }, 'INVALID limit'],
  [{ page: 2 }, 'UNKNOWN_FIELD page'],
])('a list with %j is refused', async (query, problem) => {
  const answer = await get('quiet', query)
  expect([answer.statusCode, restProblems(answer)]).toEqual([400, [problem]])
})

test('an event of another organization is as if it did not exist, and channels have no list', async () => {
  const answers = [await get('theirs'), await get('evt_nobodys')]
  for (const answer of answers) {
    expect([answer.statusCode, restProblems(answer)]).toEqual([404, ['NOT_FOUND event_id']])
  }
  const theirs = await integrationHeaders(sale.db, 'org_2')
  expect((await get('theirs', {}, theirs.v2)).statusCode).toBe(200)
  expect((await get('shown', {}, sale.channel)).statusCode).toBe(403)
  expect((await sale.rest('GET', '/integrations/events/shown/scan-list')).statusCode).toBe(401)
})

test('a page costs four statements, whatever its size', async () => {
  await buy('busy', 40)
  for (const limit of [1, 30]) {
    sale.statements.reset()
    await list('busy', { limit })
    expect(sale.statements).toHaveLength(4)
  }
  const pages = await readAll('busy')
  const { cursor } = await list('busy', { since: cursorOf(pages) })
  sale.statements.reset()
  // The key, the event, and the changes.
  expect((await list('busy', { since: cursor })).data).toEqual([])
  expect(sale.statements).toHaveLength(3)
})
