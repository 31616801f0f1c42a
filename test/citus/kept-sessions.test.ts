import { setTimeout } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startJobs } from '../../src/app/jobs.ts'
import { sandboxProvider } from '../../src/domain/payment/sandbox.ts'
import { runSql } from '../../src/engine/database/database.ts'
import { anEntry, type Checkout, checkOut, mustCheckOut } from '../support/checkouts.ts'
import { openClusterSale, serverOf } from '../support/cluster.ts'

// While a server of the cluster is away, the background jobs run as they do in the service. What that costs a server which
// is there is counted in sessions: each is a process of that server, and a handshake.

let cluster: Awaited<ReturnType<typeof openClusterSale>>
let away: Awaited<ReturnType<typeof serverOf>>
let onLiving: postgres.Sql
let name: string
beforeAll(async () => {
  cluster = await openClusterSale()
  const { db } = cluster.sale
  const [living = '', gone = ''] = cluster.organizationIds
  away = await serverOf(db, gone)
  const { address } = await serverOf(db, living)
  onLiving = postgres(`postgres://postgres@${address}/postgres`, { max: 1 })
  const [row] = await runSql<{ name: string }>(db, sql`select current_database() as name`)
  name = String(row?.name)
  await runSql(db, sql`update stock set capacity = 1000000`)
})
afterAll(async () => {
  await onLiving?.end()
  await cluster?.close()
})

const moveServer = (port: number) =>
  runSql(cluster.sale.db, sql`select citus_update_node(${away.id}::integer, '127.0.0.1', ${port}::integer)`)

/** Sessions that the living server has ever opened in the database of the sale. */
async function countSessions(): Promise<number> {
  const [row] = await onLiving<{ sessions: number }[]>`
    select sessions::integer from pg_stat_database where datname = ${name}`
  return Number(row?.sessions)
}
async function openedDuring(work: () => Promise<unknown>): Promise<number> {
  const before = await countSessions()
  await work()
  return (await countSessions()) - before
}

/** 32 buyers of an organization, each of whom checks out again and again. */
function startBuyers(id: string) {
  const answers = new Set<number>()
  let isOver = false
  const buyAgain = async () => {
    const input = { ticket_rate_id: `rate_${id}`, tickets: [anEntry(`price_${id}`)] }
    while (!isOver) answers.add((await checkOut(cluster.sale, input)).statusCode)
  }
  const ended = Promise.all(Array.from({ length: 32 }, buyAgain))
  return {
    answers,
    async stop() {
      isOver = true
      await ended
    },
  }
}

// By their organization: a statement that names none asks every server.
type Held = { organizationId: string; checkout: Checkout }
async function hold(organizationId: string): Promise<Held> {
  const tickets = [anEntry(`price_${organizationId}`)]
  const checkout = await mustCheckOut(cluster.sale, { ticket_rate_id: `rate_${organizationId}`, tickets })
  return { organizationId, checkout }
}
async function expire({ organizationId, checkout: { payment_id: id } }: Held): Promise<void> {
  const past = sql`expires_at = now() - interval '1 millisecond' where organization_id = ${organizationId}`
  await runSql(cluster.sale.db, sql`update payments set ${past} and id = ${id}`)
  await runSql(cluster.sale.db, sql`update expiries set ${past} and payment_id = ${id}`)
}
async function statusOf({ organizationId, checkout }: Held): Promise<string | undefined> {
  const [row] = await runSql<{ status: string }>(
    cluster.sale.db,
    sql`select status from payments where organization_id = ${organizationId} and id = ${checkout.payment_id}`,
  )
  return row?.status
}
const isSwept = (held: Held) => expect.poll(() => statusOf(held), { timeout: 20_000 }).toBe('expired')

test('jobs open no session at a server that is there while another is away, and work for its organizations', async () => {
  const { sale, organizationIds } = cluster
  const [living = '', gone = ''] = organizationIds
  const [first, second, returned] = [await hold(living), await hold(living), await hold(gone)]
  const errors: string[] = []
  const stopJobs = startJobs(
    { db: sale.db, provider: sandboxProvider, senders: {} as never, privateWebhooks: true, isAlone: true },
    (error, job) => errors.push(`${job}: ${String(error)}`),
  )
  const buyers = startBuyers(living)
  try {
    await setTimeout(2_000)
    await moveServer(1)
    await expire(first)
    await isSwept(first)
    // None, or a few where a question takes longer than the 10 ms after which Citus opens another session for it. A session for
    // each question and shard would be some sixty.
    expect(
      await openedDuring(async () => {
        await setTimeout(4_000)
        await expire(second)
        await isSwept(second)
      }),
    ).toBeLessThan(5)
    await moveServer(away.port)
    await expire(returned)
    await isSwept(returned)
  } finally {
    await moveServer(away.port)
    await Promise.all([buyers.stop(), stopJobs()])
  }
  expect([...buyers.answers]).toEqual([200])
  expect(errors).toEqual([])
})

test('control: a session that the coordinator opens at the living server is counted', async () => {
  const ask = () =>
    runSql(cluster.sale.db, sql`select run_command_on_shards('expiries', 'select 1 from %s limit 1')`)
  expect(await openedDuring(ask)).toBeGreaterThan(0)
})
