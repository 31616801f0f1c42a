import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { assignPositions } from '../../src/domain/change/assign-positions.ts'
import { sandboxProvider } from '../../src/domain/payment/sandbox.ts'
import { processDueRefunds } from '../../src/domain/sale/refund/request-provider-refund.ts'
import { sweepHolds } from '../../src/domain/sale/release/expire-holds.ts'
import { sendWebhooks } from '../../src/domain/webhook/send/send-webhooks.ts'
import { runSql } from '../../src/engine/database/database.ts'
import { inspectServers } from '../../src/engine/database/inspect.ts'
import { anEntry, type Checkout, checkOut } from '../support/checkouts.ts'
import { openClusterSale, serverOf } from '../support/cluster.ts'
import { commandRunner } from '../support/commands.ts'
import { openDoors } from '../support/door.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { subscribe } from '../support/live.ts'
import { openPageBuyer } from '../support/payment-page-buyer.ts'

// One server of the cluster refuses connections, as after a crash: its address leads to a port that nobody listens on.

let cluster: Awaited<ReturnType<typeof openClusterSale>>
let living: string
let gone: string
let server: Awaited<ReturnType<typeof serverOf>>
beforeAll(async () => {
  cluster = await openClusterSale({ settings: openDoors, listen: true })
  ;[living = '', gone = ''] = cluster.organizationIds
  server = await serverOf(cluster.sale.db, gone)
})
afterAll(() => cluster?.close())

const moveServer = (port: number) =>
  runSql(cluster.sale.db, sql`select citus_update_node(${server.id}::integer, '127.0.0.1', ${port}::integer)`)
const checkOutOf = (id: string) =>
  checkOut(cluster.sale, { ticket_rate_id: `rate_${id}`, tickets: [anEntry(`price_${id}`)] })
const pageOf = (id: string) =>
  cluster.sale.graphql(
    `{ events(filter: { organizationId: "${id}" }) { nodes { ticketRates { availability { sold } } } } }`,
    {},
    cluster.sale.channel,
  )

test('organizations of other servers sell on; those of this one are told to come again, and sell after its return', async () => {
  const { sale } = cluster
  const before = await Promise.all(
    [living, gone].map(async (id) => (await checkOutOf(id)).json<{ data: Checkout }>().data),
  )
  type Watched = { ticketRates: { id: string; availability: { sold: number } } }
  const ids = [`rate_${living}`, `rate_${gone}`]
  const watched = subscribe<Watched>(sale.url, sale.channel, {
    query: 'subscription ($ids: [ID!]!) { ticketRates(of: { ids: $ids }) { id availability { sold } } }',
    variables: { ids },
  })
  await watched.opened()
  await moveServer(1)
  try {
    for (let times = 0; times < 3; times++) {
      const sold = await checkOutOf(living)
      expect(sold.statusCode, sold.body).toBe(200)
      const { statusCode } = await openPageBuyer(sale).pay(sold.json<{ data: Checkout }>().data)
      expect(statusCode).toBeLessThan(400)
      expect((await pageOf(living)).errors).toBeUndefined()
      const refused = await checkOutOf(gone)
      expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1'])
      expect((await pageOf(gone)).errors?.map(({ extensions }) => extensions?.code)).toEqual(['BUSY'])
    }
    const statusOf = async (checkout: Checkout | undefined) => {
      const query = `{ payment(id: "${checkout?.payment_id}") { status } }`
      const { data, errors } = await sale.graphql<{ payment: { status: string } | null }>(
        query,
        {},
        sale.channel,
      )
      return data?.payment?.status ?? errors?.[0]?.extensions?.code
    }
    expect(await Promise.all(before.map(statusOf))).toEqual(['PENDING', 'BUSY'])
    expect((await sale.rest('GET', '/ready')).statusCode).toBe(200)
    expect((await inspectServers(sale.db)).unreachableShards).toBeGreaterThan(0)
    const { run } = commandRunner(() => sale.database)
    expect((await run('doctor')).output).toContain('out of reach')

    // Streams go on, also one of rates of both servers.
    await watched.until(
      ({ ticketRates: { id, availability } }) => id === `rate_${living}` && availability.sold === 3,
    )

    // Jobs do what they can.
    await runSql(
      sale.db,
      sql`update expiries set expires_at = now() - interval '1 minute' where organization_id = ${living}`,
    )
    await runSql(
      sale.db,
      sql`update payments set expires_at = now() - interval '1 minute' where organization_id = ${living} and status = 'pending'`,
    )
    await sweepHolds(sale.db)
    await assignPositions(sale.db)
    await processDueRefunds(sale.db, sandboxProvider)
    await sendWebhooks(sale.db, { privateWebhooks: true, stopping: new AbortController().signal })
    const [counted] = await runSql<{ expired: number; unplaced: number }>(
      sale.db,
      sql`select (select count(*)::integer from payments where organization_id = ${living} and status = 'expired') as expired,
        (select count(*)::integer from changes where organization_id = ${living} and feed_position is null) as unplaced`,
    )
    expect(counted).toEqual({ expired: 1, unplaced: 0 })
  } finally {
    await moveServer(server.port)
  }
  await expect.poll(async () => (await checkOutOf(gone)).statusCode, { timeout: 10_000 }).toBe(200)
  expect(await brokenInvariants(sale.db)).toEqual([])
  expect(await inspectServers(sale.db)).toEqual({ unreachableShards: 0, preparedTransactions: 0 })
})
