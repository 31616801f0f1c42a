import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cursorRefusal, readChanges } from '../support/change-feed.ts'
import { aCatalogueOfTwo, channelHeaders } from '../support/factories.ts'
import { type Gateway, startGateway } from '../support/harness.ts'
import { openSale, type Sale } from '../support/sale.ts'
import { settlePaymentById } from '../support/settle-payment.ts'
import { type PostgresServer, startPostgres } from '../support/setup/postgres-server.ts'
import { paidOutcome } from '../support/stub-provider.ts'
import { holdTickets } from '../support/tickets.ts'
import { databaseAt, emptyDatabase, findDebianPostgres, runProgram } from './debian-postgres.ts'

// A database is moved to another cluster with pg_dump and psql, as an operator would. Clients continue with
// their old cursors. The first cluster has used more transaction IDs than the second, as is usual.

let debian: string
let folder: string
let first: PostgresServer
let second: PostgresServer
let url: string
let sale: Sale
let restored: Gateway

/** Dumps a database. Resolves to a function that restores it into the second cluster and opens the service
 *  there. */
async function dump(url: string): Promise<(name: string) => Promise<Gateway>> {
  const file = join(folder, 'dump.sql')
  await runProgram(debian, 'pg_dump', '--no-owner', '--file', file, url)
  return async (name) => {
    const target = await emptyDatabase(second, name)
    await runProgram(debian, 'psql', '--quiet', '--set', 'ON_ERROR_STOP=1', '--file', file, target)
    return startGateway({ database: databaseAt(target) })
  }
}

const sell = async (gateway: Gateway, number: number): Promise<string> => {
  const { payment_id } = await holdTickets({ ...sale, ...gateway }, { rate: number })
  await settlePaymentById(gateway.db, payment_id, paidOutcome(payment_id))
  return payment_id
}

const paymentsIn = ({ nodes }: { nodes: { type: string; subjectId: string }[] }) =>
  nodes.filter(({ type }) => type === 'PAYMENT_PAID').map(({ subjectId }) => subjectId)

/** Current transaction ID of a cluster. */
async function transactionsOf({ db }: Gateway): Promise<number> {
  const [row] = await db
    .select({ id: sql<string>`pg_current_xact_id()::text` })
    .from(sql`(values (1)) as one`)
  return Number(row?.id)
}

beforeAll(async () => {
  debian = await findDebianPostgres()
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-dump-'))
  ;[first, second] = await Promise.all([
    startPostgres({}, undefined, debian),
    startPostgres({}, undefined, debian),
  ])
  url = await emptyDatabase(first, 'box')
  const database = await databaseAt(url).open()
  await database.migrate()
  await database.db.execute(sql`do $$ begin
    for transaction in 1..5000 loop perform pg_current_xact_id(); commit; end loop;
  end $$`)
  await database.close()
  sale = await openSale(aCatalogueOfTwo(20), { database: databaseAt(url) })
})
afterAll(async () => {
  await restored?.close()
  await sale?.close()
  await Promise.all([first?.stop(), second?.stop()])
  await rm(folder, { recursive: true, force: true })
})

test('a cursor stays valid after a restore into another cluster', async () => {
  const heard = [await sell(sale, 1), await sell(sale, 2)]
  const kept = await readChanges(sale, sale.channel)
  expect(paymentsIn(kept)).toEqual(heard)
  const keptByDoor = await readChanges(sale, sale.integration.v2)
  const missed = [await sell(sale, 1), await sell(sale, 2)]
  const transactions = await transactionsOf(sale)

  const restore = await dump(url)
  restored = await restore('moved')
  const behind = await readChanges(restored, sale.channel, kept.end)
  expect(paymentsIn(behind)).toEqual(missed)
  const sold = [await sell(restored, 1), await sell(restored, 2)]
  expect(paymentsIn(await readChanges(restored, sale.channel, behind.end))).toEqual(sold)
  expect(paymentsIn(await readChanges(restored, sale.integration.v2, keptByDoor.end))).toEqual([
    missed[0],
    sold[0],
  ])
  // Read from the beginning, the feed has each change once.
  expect(paymentsIn(await readChanges(restored, sale.channel))).toEqual([...heard, ...missed, ...sold])
  // A grant after the restore gets its own number.
  const newcomer = await channelHeaders(restored.db, 'org_1', 'org_2')
  expect((await readChanges(restored, newcomer)).nodes).toEqual([])

  // Ordered by transaction ID, sales in the second cluster would precede those that the client has already
  // read.
  expect(await transactionsOf(restored)).toBeLessThan(transactions - 1_000)
})

test('a cursor past the end of the dump is refused, and earlier cursors stay valid', async () => {
  const { end: kept } = await readChanges(sale, sale.channel)
  const restore = await dump(url)
  const lost = await sell(sale, 1)
  const after = await readChanges(sale, sale.channel, kept)
  expect(paymentsIn(after)).toEqual([lost])

  const earlier = await restore('earlier')
  expect(await cursorRefusal(earlier, sale.channel, after.end)).toBe('CURSOR_UNKNOWN')
  expect((await readChanges(earlier, sale.channel, kept)).nodes).toEqual([])
  // The cursor is still refused after as many new changes.
  const sold = await sell(earlier, 1)
  expect(paymentsIn(await readChanges(earlier, sale.channel, kept))).toEqual([sold])
  expect(await cursorRefusal(earlier, sale.channel, after.end)).toBe('CURSOR_UNKNOWN')
  await earlier.close()
})
