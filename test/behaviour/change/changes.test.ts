import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changeGrant } from '../../../src/auth/change-grant.ts'
import { changes } from '../../../src/domain/change/table.ts'
import { payments } from '../../../src/domain/payment/table.ts'
import { anEntry, mustCheckOut } from '../../support/checkouts.ts'
import { aCatalogueOfTwo, channelHeaders, integrationHeaders } from '../../support/factories.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { settlePaymentById } from '../../support/settle-payment.ts'
import { endedOutcome, paidOutcome } from '../../support/stub-provider.ts'

// The feed of changes.

let sale: Sale
let other: Record<string, string>
let ids: { first: string; second: string }
beforeAll(async () => {
  sale = await openSale(aCatalogueOfTwo(2))
  other = await channelHeaders(sale.db, 'org_1')
  const sell = (number: number, count: number) =>
    mustCheckOut(sale, {
      ticket_rate_id: `rate_${number}`,
      tickets: Array.from({ length: count }, () => anEntry(`price_${number}`)),
    })
  const first = await sell(1, 2)
  const second = await sell(2, 1)
  await settlePaymentById(sale.db, first.payment_id, endedOutcome('failed'))
  await settlePaymentById(sale.db, second.payment_id, paidOutcome(second.payment_id))
  ids = { first: first.payment_id, second: second.payment_id }
})
afterAll(() => sale.close())

const query = `query ($after: String, $first: Int! = 50) { changes(after: $after, first: $first) {
  nodes { id type subjectId sequence data createdAt } edges { cursor }
  pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`

type Page = {
  changes: {
    nodes: { id: string; type: string; subjectId: string; sequence: number; data: Record<string, unknown> }[]
    edges: { cursor: string }[]
    pageInfo: {
      hasNextPage: boolean
      hasPreviousPage: boolean
      startCursor: string
      endCursor: string | null
    }
  }
}

async function page(variables: Record<string, unknown> = {}, headers = sale.channel) {
  const { data, errors } = await sale.graphql<Page>(query, variables, headers)
  expect(errors).toBeUndefined()
  if (!data) throw new Error('the feed answers')
  return data.changes
}
const summaryOf = ({ nodes }: { nodes: { type: string; subjectId: string }[] }) =>
  nodes.map(({ type, subjectId }) => `${type} ${subjectId.replace(/^tkt_.*/, 'tkt')}`)

test('changes of a channel are its payments and tickets and the rates it may sell, in order', async () => {
  const all = await page()
  expect(summaryOf(all)).toEqual([
    'RATE_SOLD_OUT rate_1',
    `PAYMENT_FAILED ${ids.first}`,
    'RATE_AVAILABLE rate_1',
    `PAYMENT_PAID ${ids.second}`,
    'TICKET_ACTIVATED tkt',
  ])
  expect(all.nodes.map(({ sequence }) => sequence)).toEqual([1, 1, 2, 1, 1])
  expect(all.nodes[3]?.data).toEqual({
    payment_id: ids.second,
    ticket_rate_id: 'rate_2',
    status: 'paid',
    total_amount: 22,
    refunded: 0,
    currency: 'EUR',
  })
  expect(JSON.stringify(all)).not.toMatch(/Ana|example\.com/)
})

test('changes of another channel are rates only; those of an integration are its organization’s', async () => {
  expect(summaryOf(await page({}, other))).toEqual(['RATE_SOLD_OUT rate_1', 'RATE_AVAILABLE rate_1'])
  expect(summaryOf(await page({}, sale.integration.v2))).toEqual([
    'RATE_SOLD_OUT rate_1',
    `PAYMENT_FAILED ${ids.first}`,
    'RATE_AVAILABLE rate_1',
  ])
  const second = await integrationHeaders(sale.db, 'org_2')
  expect(summaryOf(await page({}, second.v1))).toEqual([`PAYMENT_PAID ${ids.second}`, 'TICKET_ACTIVATED tkt'])
})

test('changes after a revoked grant lack its rates and keep the channel’s own sales', async () => {
  const [sold] = await sale.db.select().from(payments).limit(1)
  const grant = (granted: boolean) =>
    changeGrant(sale.db, { channelId: sold?.channelId ?? '', organizationId: 'org_1', granted })
  await grant(false)
  expect(summaryOf(await page())).toEqual([
    `PAYMENT_FAILED ${ids.first}`,
    `PAYMENT_PAID ${ids.second}`,
    'TICKET_ACTIVATED tkt',
  ])
  await grant(true)
})

test('changes continue from a cursor, page by page and from the end', async () => {
  const all = await page()
  const seen: string[] = []
  let after: string | null = null
  for (let more = true; more; ) {
    const { nodes, pageInfo, edges } = await page({ after, first: 2 })
    seen.push(...nodes.map(({ id }) => id))
    expect(pageInfo).toMatchObject({ hasPreviousPage: after !== null, endCursor: edges.at(-1)?.cursor })
    after = pageInfo.endCursor
    more = pageInfo.hasNextPage
  }
  expect(seen).toEqual(all.nodes.map(({ id }) => id))
  const behind = await page({ after })
  expect(behind).toMatchObject({ nodes: [], pageInfo: { hasNextPage: false, endCursor: after } })
})

test('changes take one statement a page', async () => {
  sale.statements.reset()
  await page()
  // Authentication and the page.
  expect(sale.statements).toHaveLength(2)
})

test.each([
  [{ after: 'nonsense' }, 'CURSOR_UNKNOWN', 'after'],
  [{ first: 0 }, 'INVALID', 'first'],
  [{ first: 101 }, 'INVALID', 'first'],
])('changes with %j are refused', async (variables, code, path) => {
  const { data, errors } = await sale.graphql<Page>(query, variables, sale.channel)
  expect(data?.changes).toBeNull()
  expect(errors?.[0]?.extensions).toMatchObject({ code })
  expect(JSON.stringify(errors?.[0])).toContain(path)
})

test('changes without credentials are refused', async () => {
  const { errors } = await sale.graphql(query)
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'UNAUTHENTICATED' })
})

test('changes of one subject are numbered without gaps', async () => {
  const counted = sale.db
    .select({
      off: sql<number>`sequence - row_number() over (partition by subject_id order by feed_position)`.as(
        'off',
      ),
    })
    .from(changes)
    .as('counted')
  expect(await sale.db.$count(counted)).toBeGreaterThan(4)
  expect(await sale.db.$count(counted, sql`off <> 0`)).toBe(0)
})
