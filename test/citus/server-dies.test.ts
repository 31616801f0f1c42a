import { setTimeout } from 'node:timers/promises'
import { and, count, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payments } from '../../src/domain/payment/table.ts'
import { runSql } from '../../src/engine/database/database.ts'
import { inspectServers } from '../../src/engine/database/inspect.ts'
import { anEntry, type Checkout, checkOut } from '../support/checkouts.ts'
import { openClusterSale, serverOf } from '../support/cluster.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { openPageBuyer } from '../support/payment-page-buyer.ts'

// A server of the cluster ends, or answers no more, while organizations of all servers sell. The coordinator reaches it
// through a proxy, which fails in its place: other tests use the server meanwhile.

const statementTimeoutMs = 5_000

let cluster: Awaited<ReturnType<typeof openClusterSale>>
let proxy: DatabaseProxy
beforeAll(async () => {
  cluster = await openClusterSale({ statementTimeoutMs })
  const { db } = cluster.sale
  const { id, address } = await serverOf(db, cluster.organizationIds[1] ?? '')
  proxy = await startDatabaseProxy(`postgres://${address}`)
  const port = Number(new URL(proxy.url).port)
  await runSql(db, sql`select citus_update_node(${id}::integer, '127.0.0.1', ${port}::integer)`)
})
afterAll(async () => {
  await cluster?.close()
  await proxy?.close()
})

const paidOf = async (organizationId: string): Promise<number> => {
  const arePaid = and(eq(payments.organizationId, organizationId), eq(payments.status, 'paid'))
  const [row] = await cluster.sale.db.select({ paid: count() }).from(payments).where(arePaid)
  return row?.paid ?? 0
}

/** Six buyers of an organization, each of whom checks out and pays again and again. */
function startBuyers(organizationId: string) {
  const page = openPageBuyer(cluster.sale)
  const input = { ticket_rate_id: `rate_${organizationId}`, tickets: [anEntry(`price_${organizationId}`)] }
  const answers = new Set<string>()
  const bought = { sales: 0, slowestMs: 0 }
  let isOver = false
  const buyAgain = async () => {
    while (!isOver) {
      const began = performance.now()
      const held = await checkOut(cluster.sale, input)
      const { data } = held.json<{ data?: Checkout }>()
      const { statusCode, headers } = data ? await page.pay(data) : held
      answers.add(`${statusCode} ${headers['retry-after'] ?? ''}`.trim())
      bought.slowestMs = Math.max(bought.slowestMs, performance.now() - began)
      if (statusCode < 400) bought.sales++
    }
  }
  const ended = Promise.all(Array.from({ length: 6 }, buyAgain))
  return {
    answers,
    bought,
    async soldIn(ms: number) {
      const before = bought.sales
      await setTimeout(ms)
      return bought.sales - before
    },
    async stop() {
      isOver = true
      await ended
    },
  }
}

const end = () => {
  proxy.setMode('closed')
  proxy.reset()
}
const hang = () => proxy.setMode('silent')

test.each([
  ['ends', end],
  ['hangs', hang],
])('a server that %s stops its own organizations alone, and nothing is lost', async (_, fail) => {
  const { sale, organizationIds } = cluster
  const [living = '', gone = ''] = organizationIds
  const before = [await paidOf(living), await paidOf(gone)]
  const [others, own] = [startBuyers(living), startBuyers(gone)]
  await others.soldIn(500)
  const usual = await others.soldIn(2_000)
  fail()
  const meanwhile = await others.soldIn(4_000)
  proxy.setMode('open')
  const sold = own.bought.sales
  await expect.poll(() => own.bought.sales, { timeout: 10_000 }).toBeGreaterThan(sold)
  await Promise.all([others.stop(), own.stop()])

  expect([...others.answers]).toEqual(['200'])
  // Half of what was sold before: they share a machine with the cluster, and with the buyers who are refused.
  expect(meanwhile / 4).toBeGreaterThan(usual / 4)
  expect([...own.answers].sort()).toEqual(['200', '503 1'])
  // A checkout and a payment, each within the timeout of a statement, and what they wait for meanwhile.
  expect(Math.max(others.bought.slowestMs, own.bought.slowestMs)).toBeLessThan(3 * statementTimeoutMs)
  expect([await paidOf(living), await paidOf(gone)]).toEqual([
    Number(before[0]) + others.bought.sales,
    // Those that were paid at the moment of the failure, whose buyers were told to try again.
    expect.toSatisfy((paid) => paid >= Number(before[1]) + own.bought.sales),
  ])
  expect(await brokenInvariants(sale.db)).toEqual([])
  expect(await inspectServers(sale.db)).toEqual({ unreachableShards: 0, preparedTransactions: 0 })
})
