import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { importCatalogue } from '../../src/domain/import/import-catalogue.ts'
import { type Database, runSql } from '../../src/engine/database/database.ts'
import { openDatabase } from '../../src/engine/database/open.ts'
import { anEntry, checkOut, checkOutOverGraphql, mustCheckOut } from '../support/checkouts.ts'
import { money } from '../support/contract-input.ts'
import { aCatalogue, anEvent, aRateOf } from '../support/factories.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { waitForBlockedStatement } from '../support/lock-waits.ts'
import { mockClock } from '../support/mock-clock.ts'
import { openSale, restProblems, type Sale } from '../support/sale.ts'

// Two databases stand in for a primary and its replica. The event's name, and a rate that is full on the
// replica, show which one was read.

const event = (name: string, available: number) =>
  anEvent({
    _id: 'evt_1',
    name,
    ticket_rates: [aRateOf(available)],
  })

let primary: TestDatabase
let replica: TestDatabase
let sale: Sale
let news: unknown[]

// The gateway's clock is frozen and its timers run at a tenth of their speed, so that a pause of the machine
// does not look like an unresponsive replica.
const slowly = 10
let clock: ReturnType<typeof mockClock>
let timers: NodeJS.Timeout
beforeEach(() => {
  clock = mockClock({ isFrozen: true })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  timers = setInterval(() => vi.advanceTimersByTime(1), slowly)
})
afterEach(() => {
  clearInterval(timers)
  vi.useRealTimers()
  clock.restore()
})

/** Moves the clock past the time for which a process reads its own changes on the primary. */
const passTime = () => clock.advance(60_000)

async function follow() {
  passTime()
  await sale.database.followReplicas?.((message) => news.push(message))
}

/** Opens a gateway on the primary with these replicas, which it does not use yet. */
const openOver = (databaseReplicaUrls: string[]) =>
  openSale({
    events: [event('Primary', 10)],
    database: {
      ...primary,
      open: (options) =>
        openDatabase(
          { databaseUrl: primary.settings.DATABASE_URL, dataDir: '', databaseReplicaUrls },
          options,
        ),
    },
  })

/** Lets a database answer by functions that come before PostgreSQL's own of the same name: in its next session. */
async function answerBy(db: Database, ...functions: string[]): Promise<void> {
  const [row] = await runSql<{ name: string }>(db, 'select current_database() as name')
  await runSql(db, 'create schema if not exists instead')
  await runSql(db, `alter database ${row?.name} set search_path = instead, pg_catalog, public`)
  for (const text of functions) await runSql(db, `create or replace function instead.${text}`)
}
const replayedUntil = (position: string) =>
  `pg_last_wal_replay_lsn() returns pg_lsn return '${position}'::pg_lsn`
const aStandby = ['pg_is_in_recovery() returns boolean return true', replayedUntil('FFFFFFFF/0')]

const addressOf = ({ settings }: TestDatabase) => settings.DATABASE_URL ?? ''

beforeEach(async () => {
  news = []
  primary = await createTestDatabase()
  replica = await createTestDatabase()
  const { db, close } = await replica.open()
  await importCatalogue(db, aCatalogue({ events: [event('Replica', 1)] }))
  await answerBy(db, ...aStandby)
  await close()
})
afterEach(async () => {
  await sale.close()
  await primary.drop()
  await replica.drop()
})

const listed = async () =>
  (await sale.rest('GET', '/events?populate=*', { headers: sale.channel }))
    .json()
    .data.map(
      ({ name, ticket_rates: [rate] }: { name: string; ticket_rates: { availability: object }[] }) => [
        name,
        rate?.availability,
      ],
    )

const nested = '{ name ticketRates { availability { available } } }'
async function asked(query: string, variables = {}) {
  const { data, errors } = await sale.graphql<Record<string, unknown>>(query, variables, sale.channel)
  expect(errors).toBeUndefined()
  return data
}
const seen = (name: string, available: number) => ({ name, ticketRates: [{ availability: { available } }] })

const two = { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1'), anEntry('price_1')] }

test('the catalogue is read from the replica over both surfaces', async () => {
  sale = await openOver([addressOf(replica)])
  await follow()
  expect(news).toEqual([{ replica: 1, isUp: true, code: undefined }])
  expect(await listed()).toEqual([['Replica', { sold: 0, available: 1 }]])
  expect(
    await asked(`{ events { totalCount nodes ${nested} } event(by: { id: "evt_1" }) ${nested} }`),
  ).toEqual({
    events: { totalCount: 1, nodes: [seen('Replica', 1)] },
    event: seen('Replica', 1),
  })
})

test('a recent sell-out or import by this process is read on the primary for a while', async () => {
  sale = await openOver([addressOf(replica)])
  await sale.database.followReplicas?.(() => {})
  expect(await listed()).toEqual([['Primary', { sold: 0, available: 10 }]])
  passTime()
  expect(await listed()).toMatchObject([['Replica', {}]])
  const ten = { ...two, tickets: Array.from({ length: 10 }, () => anEntry('price_1')) }
  await mustCheckOut(sale, ten)
  expect(await listed()).toEqual([['Primary', { sold: 0, available: 0 }]])
})

test('a purchase and other fields of its request read the primary', async () => {
  sale = await openOver([addressOf(replica)])
  await follow()
  // The replica has one place and no key, no payment and no ticket.
  const bought = await mustCheckOut(sale, two)
  expect((await checkOutOverGraphql(sale, two)).__typename).toBe('CheckoutPayload')
  const refused = await checkOut(sale, {
    ...two,
    tickets: Array.from({ length: 7 }, () => anEntry('price_1')),
  })
  expect(restProblems(refused)).toEqual(['INSUFFICIENT_AVAILABILITY tickets'])
  expect(refused.json().errors[0].available).toBe(6)

  const id = bought.tickets[0]?._id
  const query = `query ($id: ID!) { ticket(id: $id) { event ${nested} payment { status } } event(by: { id: "evt_1" }) ${nested} }`
  expect(await asked(query, { id })).toEqual({
    ticket: { event: seen('Primary', 6), payment: { status: 'PENDING' } },
    event: seen('Primary', 6),
  })
  expect(await asked(`query ($id: ID!) { node(id: $id) { id } }`, { id })).toEqual({ node: { id } })
  const quote = await asked(
    `{ quoteCheckout(input: { items: [{ ticketRateId: "rate_1", tickets: [${'{ priceId: "price_1" }, '.repeat(2)}] }] }) {
      ... on CheckoutQuote { amounts { total { amount currency } } } } }`,
  )
  expect(quote).toEqual({ quoteCheckout: { amounts: { total: money(44) } } })
  const looked = await sale.rest('GET', `/integrations/tickets/${id}`, { headers: sale.integration.v2 })
  expect(looked.json().data).toMatchObject({ _id: id, rate_id: 'rate_1' })
})

test('root fields inside fragments follow the same rules', async () => {
  sale = await openOver([addressOf(replica)])
  await follow()
  const fragment = 'fragment all on Query { event(by: { id: "evt_1" }) { name } }'
  expect(await asked(`{ ...all } ${fragment}`)).toEqual({ event: { name: 'Replica' } })
  expect(await asked(`{ ...all node(id: "evt_1") { id } } ${fragment}`)).toMatchObject({
    event: { name: 'Primary' },
  })
})

test('the primary replaces a replica that goes away', async () => {
  sale = await openOver([addressOf(replica)])
  await follow()
  expect(await listed()).toMatchObject([['Replica', {}]])
  await replica.drop()
  const answers = await Promise.all([listed(), listed(), asked(`{ events { nodes { name } } }`)])
  expect(answers).toMatchObject([
    [['Primary', {}]],
    [['Primary', {}]],
    { events: { nodes: [{ name: 'Primary' }] } },
  ])
  expect(news).toHaveLength(2)
  expect(news[1]).toMatchObject({ replica: 1, isUp: false, code: expect.any(String) })
})

test('the primary replaces a replica that responds too late', async () => {
  sale = await openOver([addressOf(replica)])
  await follow()
  const { db, close } = await replica.open()
  await db.transaction(async (tx) => {
    await tx.execute(sql`lock table events in access exclusive mode`)
    const late = listed()
    await waitForBlockedStatement(db)
    await vi.advanceTimersByTimeAsync(2000)
    expect(await late).toMatchObject([['Primary', {}]])
    // Only the first request still waits on the replica.
    expect(await listed()).toMatchObject([['Primary', {}]])
    await waitForBlockedStatement(db)
  })
  await close()
})

test('an unreachable or outdated replica is not used', async () => {
  const { db, close } = await replica.open()
  await db.execute(sql`delete from drizzle.__drizzle_migrations`)
  await close()
  sale = await openOver([addressOf(replica), 'postgres://nobody:x@127.0.0.1:1/none'])
  await follow()
  expect(news).toHaveLength(2)
  expect(news).toContainEqual({ replica: 1, isUp: false, code: 'MIGRATIONS_MISSING' })
  expect(news).toContainEqual({ replica: 2, isUp: false, code: 'UNREACHABLE' })
  expect(await listed()).toMatchObject([['Primary', {}]])
})

// Of a standby that was promoted, and of one that no longer replays what the primary writes.
test.each([
  ['NO_REPLICA', 'pg_is_in_recovery() returns boolean return false'],
  ['BEHIND', replayedUntil('0/0')],
])('a replica that the check finds to be %s is not read, and is told', async (code, answer) => {
  sale = await openOver([addressOf(replica)])
  await follow()
  expect(await listed()).toMatchObject([['Replica', {}]])
  const { db, close } = await replica.open()
  await answerBy(db, answer)
  await close()
  await vi.advanceTimersByTimeAsync(5_000)
  await expect.poll(() => news).toHaveLength(2)
  expect(news[1]).toEqual({ replica: 1, isUp: false, code })
  expect(await listed()).toMatchObject([['Primary', {}]])
  expect(sale.database.poolUsage()).toMatchObject({ replica_1: { isRead: false } })
})

test('a replica is read on while the primary does not say what it has written', async () => {
  for (const [each, answer] of [
    [primary, 'pg_current_wal_lsn() returns pg_lsn return (1 / 0)::text::pg_lsn'],
    [replica, replayedUntil('0/0')],
  ] as const) {
    const { db, close } = await each.open()
    await answerBy(db, answer)
    await close()
  }
  sale = await openOver([addressOf(replica)])
  await follow()
  expect(news).toEqual([{ replica: 1, isUp: true, code: undefined }])
})
