// Runs in: postgres, slow-forms

import { asc, sql } from 'drizzle-orm'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { events } from '../../../src/domain/event/table.ts'
import { toCursor } from '../../../src/domain/listing/search-events.ts'
import { aCatalogueOfTwo, anEvent, channelHeaders, inDays } from '../../support/factories.ts'
import { refusal } from '../../support/refusals.ts'
import { openSale, sharedSale } from '../../support/sale.ts'

// Limits of the event list: offsets and counts end at 10,000.

const sale = sharedSale({ events: [anEvent({ _id: 'evt_0' })] })
beforeAll(async () => {
  await growTo(10_000)
})

let total = 1
/** Adds events until there are this many. */
async function growTo(count: number): Promise<void> {
  if (count <= total) return
  await sale.db.execute(sql`insert into events (id, organization_id, name, slug, start_date, end_date, search_words)
    select 'evt_' || number, 'org_1', 'Noche', 'noche', now() + interval '1 day', now() + interval '2 days', 'noche'
    from generate_series(${total}::integer, ${count - 1}::integer) as number`)
  total = count
}

const list = (query: string) => sale.rest('GET', `/events?${query}`, { headers: sale.channel })
const count = async (fields = 'totalCount totalCountIsCapped', args = '') => {
  sale.statements.reset()
  const { data, errors } = await sale.graphql<{ events: Record<string, unknown> }>(
    `{ events(first: 1${args}) { ${fields} } }`,
    {},
    sale.channel,
  )
  expect(errors).toBeUndefined()
  return data?.events
}
const counting = () => sale.statements.filter((text) => text.includes('count(*)'))

test('event count of exactly 10,000 is not capped', async () => {
  expect(await count()).toEqual({ totalCount: 10_000, totalCountIsCapped: false })
  // One statement for both fields.
  expect(counting()).toHaveLength(1)
})

test('event list reaches an offset of 10,000 and refuses one beyond', async () => {
  const last = await list('limit=100&offset=9900')
  expect(last.json().data).toHaveLength(100)
  expect(last.headers.link).not.toContain('rel="next"')
  expect((await list('offset=10000')).json().data).toEqual([])
  const beyond = await list('offset=10001')
  expect(refusal(beyond)).toBe('400 INVALID offset')
  expect(beyond.json().message).toBe('offset must be at most 10000.')
})

test('event count over 10,000 is capped and says so', async () => {
  await growTo(10_001)
  expect(await count()).toEqual({ totalCount: 10_000, totalCountIsCapped: true })
  expect(await count('totalCount')).toEqual({ totalCount: 10_000 })
  expect(await count('totalCountIsCapped')).toEqual({ totalCountIsCapped: true })
  await growTo(10_201)
  expect(await count()).toEqual({ totalCount: 10_000, totalCountIsCapped: true })
  // A filter with fewer results is counted in full.
  expect(await count('totalCount totalCountIsCapped', ', filter: { search: "nandu" }')).toEqual({
    totalCount: 1,
    totalCountIsCapped: false,
  })
})

test('event count stops in the database', async () => {
  await count()
  expect(counting()[0]).toMatch(/limit 10001\) as events$/)
})

test('event list links to no offset over 10,000', async () => {
  await growTo(10_201)
  const before = await list('limit=100&offset=9900')
  expect(before.headers.link).toContain('offset=10000>; rel="next"')
  const last = await list('limit=100&offset=10000')
  expect(last.statusCode).toBe(200)
  expect(last.json().data).toHaveLength(100)
  // There are more events, but no offset reaches them.
  expect(last.headers.link).not.toContain('rel="next"')
  expect(last.headers.link).toContain('offset=9900>; rel="prev"')
  expect((await list('limit=7&offset=9994')).headers.link).not.toContain('rel="next"')
})

test('event cursors lead past the offset limit', async () => {
  await growTo(10_201)
  const [last] = await sale.db
    .select()
    .from(events)
    .orderBy(asc(events.startDate), asc(events.id))
    .offset(10_050)
    .limit(1)
  const { data } = await sale.graphql<{ events: { nodes: unknown[]; pageInfo: { hasNextPage: boolean } } }>(
    'query ($after: String) { events(first: 100, after: $after) { nodes { id } pageInfo { hasNextPage } } }',
    { after: last && toCursor(last) },
    sale.channel,
  )
  expect(data?.events.nodes).toHaveLength(100)
  expect(data?.events.pageInfo.hasNextPage).toBe(true)
})

test('an event until the end of the calendar leaves the lists of all organizations as they are', async () => {
  const catalogue = aCatalogueOfTwo(10)
  const ofOrganization = (organization_id: string, _id: string, start_date: string, end_date: string) =>
    anEvent({ organization_id, location_id: undefined, _id, start_date, end_date })
  const [usual] = catalogue.events ?? []
  catalogue.events?.push(
    ofOrganization('org_2', 'evt_for_ever', inDays(-4_000), '9999-12-31T23:59:59Z'),
    ofOrganization('org_1', 'evt_month', inDays(-30), inDays(1)),
    ofOrganization('org_1', 'evt_week', inDays(-6), inDays(1)),
    ofOrganization('org_1', 'evt_past', inDays(-5_000), inDays(-4_999)),
  )
  const other = await openSale(catalogue)
  onTestFinished(() => other.close())
  const idsOf = async (headers: Record<string, string>) => {
    const answer = await other.rest('GET', '/events', { headers })
    expect(answer.statusCode).toBe(200)
    const { data } = await other.graphql<{ events: { nodes: { id: string }[]; totalCount: number } }>(
      '{ events { nodes { id } totalCount } }',
      {},
      headers,
    )
    expect(data?.events.totalCount).toBe(data?.events.nodes.length)
    return data?.events.nodes.map(({ id }) => id)
  }
  expect(await idsOf(await channelHeaders(other.db, 'org_1'))).toEqual(['evt_month', 'evt_week', usual?._id])
  expect((await idsOf(await channelHeaders(other.db, 'org_2')))?.[0]).toBe('evt_for_ever')
  expect(await idsOf(other.channel)).toHaveLength(5)
})
