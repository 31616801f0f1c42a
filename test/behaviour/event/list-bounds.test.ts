import { asc, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { toCursor } from '../../../src/domain/event/cursor.ts'
import { events } from '../../../src/domain/event/table.ts'
import { aCatalogue } from '../../support/factories.ts'
import { refusal } from '../../support/refusals.ts'
import { openSale, type Sale } from '../../support/sale.ts'

// How far a list of events is read, and how far it is counted: 10,000, of the one that is there already and as many more.

let sale: Sale
beforeAll(async () => {
  sale = await openSale(aCatalogue())
  await grow(9_999)
})
afterAll(() => sale.close())

let grown = 0
async function grow(count: number): Promise<void> {
  await sale.db.execute(sql`insert into events (id, organization_id, name, slug, start_date, end_date, search_words)
    select 'evt_' || number, 'org_1', 'Noche', 'noche', now() + interval '1 day', now() + interval '2 days', 'noche'
    from generate_series(${grown + 1}::integer, ${grown + count}::integer) as number`)
  grown += count
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

test('10,000 are counted, and that is all of them', async () => {
  expect(await count()).toEqual({ totalCount: 10_000, totalCountIsCapped: false })
  // One statement for both fields.
  expect(counting()).toHaveLength(1)
})

test('the last page that an offset reaches is there, and one further is an error that names it', async () => {
  const last = await list('limit=100&offset=9900')
  expect(last.json().data).toHaveLength(100)
  expect(last.headers.link).not.toContain('rel="next"')
  expect((await list('offset=10000')).json().data).toEqual([])
  const beyond = await list('offset=10001')
  expect(refusal(beyond)).toBe('400 INVALID offset')
  expect(beyond.json().message).toBe('offset must be at most 10000.')
})

test('one more is counted no further, which the connection says', async () => {
  await grow(1)
  expect(await count()).toEqual({ totalCount: 10_000, totalCountIsCapped: true })
  expect(await count('totalCount')).toEqual({ totalCount: 10_000 })
  expect(await count('totalCountIsCapped')).toEqual({ totalCountIsCapped: true })
  await grow(200)
  expect(await count()).toEqual({ totalCount: 10_000, totalCountIsCapped: true })
  // A filter that finds fewer is counted whole.
  expect(await count('totalCount totalCountIsCapped', ', search: "nandu"')).toEqual({
    totalCount: 1,
    totalCountIsCapped: false,
  })
})

test('the database stops counting there', async () => {
  await count()
  expect(counting()[0]).toMatch(/limit \$\d+\) "counted"/)
})

test('no link leads past the bound, and the last one to it is answered', async () => {
  const before = await list('limit=100&offset=9900')
  expect(before.headers.link).toContain('offset=10000>; rel="next"')
  const last = await list('limit=100&offset=10000')
  expect(last.statusCode).toBe(200)
  expect(last.json().data).toHaveLength(100)
  // There are more, which no offset reaches.
  expect(last.headers.link).not.toContain('rel="next"')
  expect(last.headers.link).toContain('offset=9900>; rel="prev"')
  expect((await list('limit=7&offset=9994')).headers.link).not.toContain('rel="next"')
})

test('by cursors a client goes on past it', async () => {
  const [last] = await sale.db
    .select()
    .from(events)
    .orderBy(asc(events.startDate), asc(events.id))
    .offset(10_050)
    .limit(1)
  const { data } = await sale.graphql<{ events: { nodes: unknown[]; pageInfo: { hasNextPage: boolean } } }>(
    'query ($after: ID) { events(first: 100, after: $after) { nodes { id } pageInfo { hasNextPage } } }',
    { after: toCursor(last) },
    sale.channel,
  )
  expect(data?.events.nodes).toHaveLength(100)
  expect(data?.events.pageInfo.hasNextPage).toBe(true)
})
