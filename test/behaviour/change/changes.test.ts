import { sql } from 'drizzle-orm'
import { beforeAll, expect, test } from 'vitest'
import { changeGrant } from '../../../src/domain/caller/change-grant.ts'
import { recordChanges } from '../../../src/domain/change/record-changes.ts'
import { changes } from '../../../src/domain/change/table.ts'
import { payments } from '../../../src/domain/payment/table.ts'
import { isFast } from '../../../src/engine/base/fast.ts'
import { changeFields } from '../../support/change-feed.ts'
import { aCatalogueOfTwo, channelHeaders, integrationHeaders } from '../../support/factories.ts'
import { inTestMode } from '../../support/modes.ts'
import { sharedSale } from '../../support/sale.ts'
import { settlePaymentById } from '../../support/settle-payment.ts'
import { endedOutcome } from '../../support/stub-provider.ts'
import { aPaidTicket, holdTickets } from '../../support/tickets.ts'

// The feed of changes.

let other: Record<string, string>
let ids: { first: string; second: string }
const sale = sharedSale(aCatalogueOfTwo(2))
beforeAll(async () => {
  other = await channelHeaders(sale.db, 'org_1')
  const { payment_id: first } = await holdTickets(sale, { count: 2 })
  await settlePaymentById(sale.db, first, endedOutcome('failed'))
  const { paymentId: second } = await aPaidTicket(sale, { rate: 2 })
  ids = { first, second }
})

const query = `query ($from: FeedStart! = { at: OLDEST }, $types: [ChangeType!], $first: Int! = 50) {
  changes(from: $from, types: $types, first: $first) {
    nodes { ${changeFields} createdAt } edges { cursor }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`

type Page = {
  changes: {
    nodes: { id: string; type: string; subject: { id: string }; sequence: number }[]
    edges: { cursor: string }[]
    pageInfo: {
      hasNextPage: boolean
      hasPreviousPage: boolean
      startCursor: string
      endCursor: string
    }
  }
}

async function page(variables: Record<string, unknown> = {}, headers = sale.channel) {
  const { data, errors } = await sale.graphql<Page>(query, variables, headers)
  expect(errors).toBeUndefined()
  if (!data) throw new Error('the feed answers')
  return data.changes
}
const summaryOf = ({ nodes }: Pick<Page['changes'], 'nodes'>) =>
  nodes.map(({ type, subject }) => `${type} ${subject.id.replace(/^tkt_.*/, 'tkt')}`)

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
  let from: object = { at: 'OLDEST' }
  for (let more = true; more; ) {
    const { nodes, pageInfo, edges } = await page({ from, first: 2 })
    expect(pageInfo).toMatchObject({ hasPreviousPage: seen.length > 0, endCursor: edges.at(-1)?.cursor })
    seen.push(...nodes.map(({ id }) => id))
    from = { after: pageInfo.endCursor }
    more = pageInfo.hasNextPage
  }
  expect(seen).toEqual(all.nodes.map(({ id }) => id))
  const after = all.pageInfo.endCursor
  const behind = await page({ from })
  expect(from).toEqual({ after })
  expect(behind).toMatchObject({ nodes: [], pageInfo: { hasNextPage: false, endCursor: after } })
})

test('changes take one statement a page', async () => {
  sale.statements.reset()
  await page()
  // Authentication and the page.
  expect(sale.statements).toHaveLength(2)
})

test('an empty page of a feed without changes has a cursor, after which come its first ones', async () => {
  const { channel } = await inTestMode(sale)
  const from = async (start: object) => (await page({ from: start }, channel)).pageInfo
  for (const at of ['OLDEST', 'NOW']) {
    const { hasNextPage, endCursor: after } = await from({ at })
    expect([hasNextPage, await from({ after })]).toMatchObject([false, { endCursor: after }])
  }
})

test('now is an empty page behind all changes that the caller may see, those without a position too', async () => {
  const { paymentId } = await aPaidTicket(sale, { rate: 2 })
  const now = await page({ from: { at: 'NOW' } })
  expect(now).toMatchObject({ nodes: [], pageInfo: { hasNextPage: false, hasPreviousPage: true } })
  const all = await page()
  expect(summaryOf(all)).toContain(`PAYMENT_PAID ${paymentId}`)
  expect(now.pageInfo.endCursor).toBe(all.pageInfo.endCursor)
  expect(now.pageInfo.startCursor).toBe(all.pageInfo.endCursor)
  const ofRates = await page({ from: { at: 'NOW' } }, other)
  expect(ofRates.pageInfo.endCursor).toBe((await page({}, other)).pageInfo.endCursor)
})

test('changes of some types alone are listed, and the cursor goes past the others', async () => {
  const all = await page()
  const types = ['RATE_SOLD_OUT', 'RATE_AVAILABLE']
  const wanted = all.nodes.filter(({ type }) => types.includes(type))
  const rates = await page({ types })
  expect(rates).toMatchObject({
    nodes: wanted,
    pageInfo: { ...all.pageInfo, startCursor: rates.edges[0]?.cursor },
  })
  const first = await page({ types, first: 1 })
  expect(first).toMatchObject({ nodes: wanted.slice(0, 1), pageInfo: { hasNextPage: true } })
  const second = await page({ types, from: { after: first.pageInfo.endCursor } })
  expect(second.nodes).toEqual(wanted.slice(1))
  const none = await page({ types: ['TICKET_ENTERED'] })
  expect(none).toMatchObject({
    nodes: [],
    pageInfo: { hasNextPage: false, endCursor: all.pageInfo.endCursor },
  })
})

test('a page of some types looks through a hundred changes, and says that more follow', async () => {
  const { endCursor: after } = (await page()).pageInfo
  const change = { subjectId: 'rate_1', organizationId: 'org_1', channelId: null, data: {} }
  await sale.db.transaction((tx) =>
    recordChanges(tx, [
      ...Array.from({ length: 100 }, () => ({ ...change, type: 'rate.available' as const })),
      { ...change, type: 'rate.sold_out' },
    ]),
  )
  const types = ['RATE_SOLD_OUT']
  const none = await page({ types, from: { after }, first: 1 })
  expect(none).toMatchObject({ nodes: [], pageInfo: { hasNextPage: true, startCursor: after } })
  const next = await page({ types, from: { after: none.pageInfo.endCursor }, first: 1 })
  expect(summaryOf(next)).toEqual(['RATE_SOLD_OUT rate_1'])
  expect(next.pageInfo.hasNextPage).toBe(false)
})

test('subjects are read with two statements more for any page, and for their identifiers alone with none', async () => {
  const read = async (subject: string, first = 5) => {
    sale.statements.reset()
    const changes = `changes(from: { at: OLDEST }, first: ${first}) { nodes { subject { ${subject} } } }`
    const { data, errors } = await sale.graphql<{ changes: { nodes: { subject: object }[] } }>(
      `{ ${changes} }`,
      {},
      sale.channel,
    )
    expect(errors).toBeUndefined()
    return { subjects: data?.changes.nodes.map(({ subject }) => subject), count: sale.statements.length }
  }
  const known = await read('__typename ... on Payment { id } ... on Ticket { id } ... on TicketRate { id }')
  expect(known.subjects).toEqual([
    { __typename: 'TicketRate', id: 'rate_1' },
    { __typename: 'Payment', id: ids.first },
    { __typename: 'TicketRate', id: 'rate_1' },
    { __typename: 'Payment', id: ids.second },
    { __typename: 'Ticket', id: expect.stringMatching(/^tkt_/) },
  ])
  expect(known.count).toBe(2)
  const fields =
    '... on Payment { paymentStatus: status } ... on Ticket { ticketStatus: status } ... on TicketRate { name }'
  const rows = await read(fields)
  expect(rows.subjects).toEqual([
    { name: 'Entrance' },
    { paymentStatus: 'FAILED' },
    { name: 'Entrance' },
    { paymentStatus: 'PAID' },
    { ticketStatus: 'ACTIVATED' },
  ])
  const { subjects, count } = await read(fields, 100)
  expect(subjects?.filter((subject) => 'ticketStatus' in subject).length).toBeGreaterThan(1)
  // Payments and rates share a statement. The slow forms join nothing, and read each ticket by itself.
  if (isFast('joined-reads')) expect([rows.count, count]).toEqual([4, 4])
})

test('a subject that is gone is null, and its identifier is told', async () => {
  const { endCursor: after } = (await page({ from: { at: 'NOW' } })).pageInfo
  const gone = {
    type: 'rate.available',
    subjectId: 'rate_gone',
    organizationId: 'org_1',
    channelId: null,
  } as const
  await sale.db.transaction((tx) => recordChanges(tx, [{ ...gone, data: {} }]))
  const query = `query ($after: String!) { changes(from: { after: $after }) {
    nodes { known: subject { ... on Node { id } } subject { ... on TicketRate { id name } } organization { id name } } } }`
  const { data } = await sale.graphql<Page>(query, { after }, sale.channel)
  expect(data?.changes.nodes).toEqual([
    { known: { id: 'rate_gone' }, subject: null, organization: { id: 'org_1', name: 'Sala Ñ' } },
  ])
})

test('an integration and a channel see the same subject as their role shows it', async () => {
  const query = `{ changes(from: { at: OLDEST }, types: [PAYMENT_FAILED]) {
    nodes { subject { ... on Payment { id pageUrl } } } } }`
  const subjectFor = async (headers: Record<string, string>) => {
    const { data } = await sale.graphql<{ changes: { nodes: { subject: { pageUrl: string | null } }[] } }>(
      query,
      {},
      headers,
    )
    return data?.changes.nodes.map(({ subject }) => subject)
  }
  const [ofChannel] = (await subjectFor(sale.channel)) ?? []
  expect(ofChannel).toEqual({ id: ids.first, pageUrl: expect.stringContaining('/pay/') })
  expect(await subjectFor(sale.integration.v2)).toEqual([{ id: ids.first, pageUrl: null }])
  expect(await subjectFor(other)).toEqual([])
})

test.each([
  [{ from: { after: 'nonsense' } }, 'CURSOR_UNKNOWN', 'from.after'],
  [{ from: { after: '' } }, 'CURSOR_UNKNOWN', 'from.after'],
  [{ types: [] }, 'INVALID', 'types'],
  [{ first: 0 }, 'INVALID', 'first'],
  [{ first: 101 }, 'INVALID', 'first'],
])('changes with %j are refused', async (variables, code, path) => {
  const { data, errors } = await sale.graphql<Page>(query, variables, sale.channel)
  expect(data?.changes).toBeNull()
  expect(errors?.[0]?.extensions).toMatchObject({ code })
  expect(JSON.stringify(errors?.[0])).toContain(path)
})

test.each(['{}', '{ after: "x", at: NOW }', '{ after: null }'])('a start %s is refused', async (from) => {
  const { data, errors } = await sale.graphql(`{ changes(from: ${from}) { nodes { id } } }`, {}, sale.channel)
  expect(data).toBeUndefined()
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_REQUEST' })
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
