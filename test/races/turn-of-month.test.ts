import { afterAll, beforeAll, expect, test } from 'vitest'
import { runSql } from '../../src/database/run-sql.ts'
import { receiveEvent } from '../../src/domain/sale/settle/receive-event.ts'
import { anEntry, mustCheckOut } from '../support/checkouts.ts'
import { aLargeRate, anEventAtDoor, scanTicket } from '../support/door.ts'
import { aCatalogue } from '../support/factories.ts'
import { createTestDatabase, type Gateway, startGateway, type TestDatabase } from '../support/harness.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { addOldMonth } from '../support/old-months.ts'
import { buyTickets, refundRows, refundTicket, ticketOf } from '../support/refunds.ts'
import { openSale, type Sale } from '../support/sale.ts'
import { paidOutcome } from '../support/stub-provider.ts'

// Repetitions at the turn of a month, when each of two transactions writes to another partition: no key of the table
// holds both, as it does within a month.

let database: TestDatabase
let sale: Sale
let other: Gateway
beforeAll(async () => {
  database = await createTestDatabase()
  const { db, close } = await database.open()
  const hourAgo = new Date(Date.now() - 3_600_000)
  // Each insert of a row comes at another side of the turn than the one before.
  await runSql(db, 'create sequence turn')
  for (const table of ['check_ins', 'provider_events'] as const) {
    await addOldMonth({ db }, table, hourAgo)
    await runSql(
      db,
      `alter table ${table} alter column created_at
        set default now() - nextval('turn') % 2 * interval '2 hours'`,
    )
  }
  // By the clock that requests are told, a month ends.
  const now = new Date()
  const ahead = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) - now.getTime()
  await runSql(
    db,
    `create function public.now() returns timestamptz stable language sql
      as $$ select pg_catalog.now() + interval '${ahead} milliseconds' $$`,
  )
  const [row] = await runSql<{ name: string }>(db, 'select current_database() as name')
  await runSql(db, `alter database ${row?.name} set search_path = public, pg_catalog`)
  await close()
  const days = ahead / 86_400_000
  const event = anEventAtDoor({ ticket_rates: [aLargeRate('1')] }, days + 0.1)
  sale = await openSale(aCatalogue({ events: [event] }), { database })
  other = await startGateway({ database })
})
afterAll(async () => {
  await other.close()
  await sale.close()
  await database.drop()
})

const rounds = Array.from({ length: 10 }, (_, round) => round)
const atOnce = <T>(run: (index: number) => Promise<T>) => Promise.all([0, 1].map(run))
const monthsOf = async (table: string, condition = 'true') =>
  await runSql<{ month: string }>(
    sale.db,
    `select distinct tableoid::regclass::text as month from ${table} where ${condition}`,
  )

test('a nonce that is used twice at once lets in once', async () => {
  const checkout = await buyTickets(sale, 10)
  for (const round of rounds) {
    const scan = { ticketId: ticketOf(checkout, round), nonce: `turn_${round}` }
    const scans = await atOnce((index) =>
      scanTicket(index === 0 ? sale : { ...sale, graphql: other.graphql }, scan),
    )
    expect(scans.map(({ result }) => result)).toEqual(['OK', 'OK'])
    expect(scans.filter(({ idempotentReplayed }) => idempotentReplayed)).toHaveLength(1)
  }
  expect(await runSql(sale.db, 'select from check_ins')).toHaveLength(rounds.length)
  expect(await monthsOf('check_ins')).toHaveLength(2)
  expect(await brokenInvariants(sale.db)).toEqual([])
})

test('an event of the provider that comes twice at once is applied once', async () => {
  for (const round of rounds) {
    const { payment_id: id } = await mustCheckOut(sale, {
      ticket_rate_id: 'rate_1',
      tickets: [anEntry('price_1')],
    })
    const subject = { kind: 'session', id: 'cs_1', paymentId: id, organizationId: 'org_1' } as const
    const event = { id: `evt_${round}`, type: 'paid', about: { ...subject, outcome: paidOutcome(id) } }
    const results = await atOnce(() => receiveEvent(sale.db, 'sandbox', event))
    expect(results.sort()).toEqual(['done', 'repeated'])
  }
  expect(await monthsOf('provider_events')).toHaveLength(2)
  expect(await brokenInvariants(sale.db)).toEqual([])
})

test('an event about a refund that comes twice at once is applied once', async () => {
  const checkout = await buyTickets(sale, 10)
  for (const round of rounds) await refundTicket(sale, ticketOf(checkout, round))
  for (const [round, { id }] of (await refundRows(sale, checkout)).entries()) {
    const outcome = { kind: 'succeeded', reference: `re_${round}` } as const
    const event = {
      id: `evt_refund_${round}`,
      type: 'refunded',
      about: { kind: 'refund', id, organizationId: 'org_1', outcome } as const,
    }
    const results = await atOnce(() => receiveEvent(sale.db, 'sandbox', event))
    expect(results.sort()).toEqual(['done', 'repeated'])
  }
  expect(await monthsOf('provider_events', 'payment_id is null')).toHaveLength(2)
  expect(await brokenInvariants(sale.db)).toEqual([])
})
