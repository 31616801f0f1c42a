import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { anEntry, type Checkout, mustCheckOut } from '../support/checkouts.ts'
import { openDoors, scanTicket } from '../support/door.ts'
import type { SeenStatement } from '../support/explain.ts'
import {
  aCatalogue,
  anEvent,
  anOrganization,
  aPrice,
  aRate,
  integrationHeaders,
} from '../support/factories.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { openPageBuyer } from '../support/payment-page-buyer.ts'
import { ticketOf } from '../support/refunds.ts'
import { openSale, type Sale } from '../support/sale.ts'

// Two organizations whose sales lie on different workers of the cluster.

let database: TestDatabase
let sale: Sale
let organizationIds: string[]
const otherIds = ['other_1', 'other_2', 'other_3']
const seen: SeenStatement[] = []

// Worker that has an organization's rows.
async function workerOf(db: Database, organizationId: string): Promise<string> {
  const rows = (await db.execute(sql`select nodename || ':' || nodeport as node
    from pg_dist_placement join pg_dist_node using (groupid)
    where shardid = get_shard_id_for_distribution_column('payments', ${organizationId}::text)`)) as unknown as {
    node: string
  }[]
  return rows[0]?.node ?? ''
}

async function chooseOrganizations(): Promise<string[]> {
  const { db, close } = await database.open()
  const first = await workerOf(db, 'org_1')
  let number = 2
  while ((await workerOf(db, `org_${number}`)) === first) number++
  await close()
  return ['org_1', `org_${number}`]
}

beforeAll(async () => {
  database = await createTestDatabase()
  organizationIds = await chooseOrganizations()
  const all = [...organizationIds, ...otherIds]
  sale = await openSale(
    aCatalogue({
      organizations: all.map((_id) => anOrganization({ _id })),
      events: all.map((organization_id) =>
        anEvent({
          organization_id,
          location_id: undefined,
          ticket_rates: [
            aRate({ _id: `rate_${organization_id}`, prices: [aPrice({ _id: `price_${organization_id}` })] }),
          ],
        }),
      ),
    }),
    {
      database,
      settings: openDoors,
      onStatement: (text, parameters) => void seen.push({ text, parameters }),
    },
  )
})
afterAll(async () => {
  await sale?.close()
  await database?.drop()
})

const buy = (organizationId: string, headers = {}) =>
  mustCheckOut(
    sale,
    { ticket_rate_id: `rate_${organizationId}`, tickets: [anEntry(`price_${organizationId}`)] },
    headers,
  )
const pay = async (checkout: Checkout) => {
  const { statusCode } = await openPageBuyer(sale).pay(checkout)
  expect(statusCode).toBeLessThan(400)
}

// Literals, because Citus explains no parameters of a statement that inserts what it selects.
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = Array.isArray(value)
    ? `{${value.map((each) => (each === null ? 'null' : JSON.stringify(String(each)))).join(',')}}`
    : value instanceof Date
      ? value.toISOString()
      : String(value)
  return `'${text.replaceAll("'", "''")}'`
}
async function planOf({ text, parameters }: SeenStatement): Promise<string> {
  const statement = text.replace(/\$(\d+)/g, (_, number) => literal(parameters[Number(number) - 1]))
  const rows = (await sale.db.execute(sql.raw(`explain ${statement}`))) as unknown as {
    'QUERY PLAN': string
  }[]
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

/** Numbers of tasks of the statements of some work, without those that read only what every server has. */
async function tasksOf(work: () => Promise<unknown>): Promise<number[]> {
  seen.length = 0
  await work()
  const statements = seen.splice(0)
  const counts: number[] = []
  for (const statement of statements) {
    const found = [...(await planOf(statement)).matchAll(/Task Count: (\d+)/g)].map(([, count]) =>
      Number(count),
    )
    counts.push(...found)
  }
  seen.length = 0
  return counts
}

const expectOneEach = (counts: number[]) => {
  expect(counts.length).toBeGreaterThan(0)
  expect(new Set(counts)).toEqual(new Set([1]))
}

test('the organizations lie on different workers', async () => {
  const workers = await Promise.all(organizationIds.map((id) => workerOf(sale.db, id)))
  expect(new Set(workers).size).toBe(2)
})

test('a checkout, with and without an idempotency key, touches one shard', async () => {
  for (const id of organizationIds) {
    await buy(id)
    expectOneEach(await tasksOf(() => buy(id)))
    expectOneEach(await tasksOf(() => buy(id, { 'idempotency-key': `once-${id}` })))
  }
})

test('a payment touches one shard', async () => {
  for (const id of organizationIds) {
    const checkout = await buy(id)
    expectOneEach(await tasksOf(() => pay(checkout)))
  }
})

test('a lookup and a check-in of an organization touch one shard', async () => {
  for (const id of organizationIds) {
    const checkout = await buy(id)
    await pay(checkout)
    const { v1, v2 } = await integrationHeaders(sale.db, id)
    const ticketId = ticketOf(checkout)
    for (const headers of [v1, v2])
      expectOneEach(
        await tasksOf(async () => {
          const answer = await sale.rest('GET', `/integrations/tickets/${ticketId}`, { headers })
          expect(answer.statusCode).toBe(200)
        }),
      )
    expectOneEach(
      await tasksOf(async () => {
        const { outcome } = await scanTicket(sale, { ticketId }, v2)
        expect(outcome).toBe('OK')
      }),
    )
  }
})

// Queries of a row by its identifier, with all that belongs to it.
const around = {
  payment: `query ($id: ID!) { payment(id: $id) { status tickets { ticketRate { name } refunds { id } } refunds { id } } }`,
  ticket: `query ($id: ID!) { ticket(id: $id) { status ticketRate { name } price { name } refunds { id }
    payment { status refunds { id } tickets { id } } } }`,
}
const readAround = async (kind: keyof typeof around, id: string, headers: Record<string, string>) => {
  const { data, errors } = await sale.graphql<Record<string, object>>(around[kind], { id }, headers)
  expect(errors).toBeUndefined()
  expect(Object.values(data ?? {})).toEqual([expect.objectContaining({ status: 'PENDING' })])
}

test('a payment or a ticket read by a channel asks every shard for the organization, and one for the rest', async () => {
  for (const organizationId of organizationIds) {
    const checkout = await buy(organizationId)
    const ids = { payment: checkout.payment_id, ticket: ticketOf(checkout) }
    for (const kind of ['payment', 'ticket'] as const) {
      const counts = await tasksOf(() => readAround(kind, ids[kind], sale.channel))
      expect(counts.filter((count) => count > 1)).toHaveLength(1)
      expect(counts.at(-1)).toBe(1)
    }
  }
})

test('a payment or a ticket read by an integration touches one shard', async () => {
  for (const organizationId of organizationIds) {
    const checkout = await buy(organizationId)
    const { v2 } = await integrationHeaders(sale.db, organizationId)
    expectOneEach(await tasksOf(() => readAround('payment', checkout.payment_id, v2)))
    expectOneEach(await tasksOf(() => readAround('ticket', ticketOf(checkout), v2)))
  }
})

test('a cancellation by a channel asks every shard for the organization, and one for the rest', async () => {
  const { payment_id } = await buy('org_1')
  const counts = await tasksOf(async () => {
    const { data, errors } = await sale.graphql(
      'mutation ($id: ID!) { cancelPayment(input: { paymentId: $id }) { ... on CancelPaymentPayload { payment { status } } } }',
      { id: payment_id },
      sale.channel,
    )
    expect(errors).toBeUndefined()
    expect(data).toEqual({ cancelPayment: { payment: { status: 'CANCELLED' } } })
  })
  expect(counts.filter((count) => count > 1)).toHaveLength(1)
})

test('payments of many organizations are found in one statement, and read where they are', async () => {
  const made: Checkout[] = []
  for (const id of [...organizationIds, ...otherIds]) made.push(await buy(id))
  const fields = made.map(
    ({ payment_id }, index) => `p${index}: payment(id: "${payment_id}") { status tickets { id } }`,
  )
  const counts = await tasksOf(async () => {
    const { data } = await sale.graphql<object>(`{ ${fields.join(' ')} }`, {}, sale.channel)
    const payment = { status: 'PENDING', tickets: [expect.anything()] }
    expect(Object.values(data ?? {})).toEqual(made.map(() => payment))
  })
  expect(counts.filter((count) => count > 1)).toHaveLength(1)
})
