import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { issueChannelKey } from '../../src/access/issue-key.ts'
import { seedDemo } from '../../src/catalogue/demo-catalogue.ts'
import { organizations } from '../../src/organization/table.ts'
import { type Gateway, startGateway } from '../harness.ts'
import { envelope, type Page, pageStatements } from './bare-pages-sql.ts'
import { countHolds, createTargets, hold, openTargets } from './hold-statements.ts'
import { checkoutAsks, pageAsks, pageParameters } from './requests.ts'
import { disagreement } from './same-answer.ts'

// What the bench compares before it prints a ratio, on a small catalogue and by no clock.

let gateway: Gateway
let apiKey: string
const sample = { word: 'c', latitude: 41.39, longitude: 2.16, radius: 500 }

beforeAll(async () => {
  gateway = await startGateway()
  await seedDemo(gateway.db, { events: 120 })
  const all = await gateway.db.select({ id: organizations.id }).from(organizations)
  const issued = await issueChannelKey(gateway.db, {
    mode: 'test',
    name: 'bench',
    organizationIds: all.map(({ id }) => id),
  })
  apiKey = issued.key
})
afterAll(() => gateway.close())

/** The rows of a statement that PostgreSQL gets as it is: with its values in the place of its parameters. */
async function rowsOf(statement: string, parameters: (string | number)[] = []) {
  const text = statement.replace(/\$(\d)/g, (_, index: string) => {
    const value = parameters[Number(index) - 1]
    return typeof value === 'number' ? `${value}::float8` : `'${String(value).replaceAll("'", "''")}'`
  })
  return [...((await gateway.db.execute(sql.raw(text))) as unknown as Iterable<Record<string, unknown>>)]
}

async function ask({ method, path, headers, body }: ReturnType<typeof pageAsks>[Page]) {
  const answer = await gateway.rest(method, path, { headers, body })
  return answer.json<Record<string, unknown>>()
}

test.each(Object.keys(pageStatements) as Page[])('one statement makes the page %s', async (page) => {
  const parameters: Partial<Record<Page, (string | number)[]>> = pageParameters(sample)
  const [row] = await rowsOf(pageStatements[page], parameters[page])
  const [before, after] = envelope(page)
  const bare: unknown = JSON.parse(before + row?.page + after)
  expect(disagreement(await ask(pageAsks(apiKey, sample)[page]), bare)).toBe(null)
})

test('a bare hold writes what a checkout of one ticket writes', async () => {
  await rowsOf(createTargets)
  await rowsOf(openTargets)
  const [target] = await rowsOf('select rate_id, price_id from bench_targets where number = 1')
  const held = async () => {
    const [counts] = await rowsOf(countHolds)
    return Object.values(counts ?? {}).map(Number)
  }
  const targets = [{ rateId: String(target?.rate_id), priceId: String(target?.price_id) }]
  expect(await held()).toEqual([0, 0, 0, 0])
  for (const surface of ['rest', 'graphql'] as const)
    for (const asked of checkoutAsks(apiKey, surface, targets)) await ask(asked)
  expect(await held()).toEqual([2, 2, 2, 2])
  await gateway.db.transaction(async (tx) => {
    for (const statement of [hold.insertPayment('1', '7'), hold.insertTicket('1', '7'), hold.moveStock('1')])
      await tx.execute(sql.raw(statement))
  })
  expect(await held()).toEqual([3, 3, 3, 3])
})
