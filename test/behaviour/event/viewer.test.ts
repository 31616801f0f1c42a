// Runs in: pglite, postgres

import { afterAll, beforeAll, expect, test } from 'vitest'
import { aCatalogue, aLocation, anEvent, anOrganization, inDays } from '../../support/factories.ts'
import { scopedHeaders } from '../../support/modes.ts'
import { openSale, restProblems, type Sale } from '../../support/sale.ts'

// Reads of the catalogue by both kinds of caller: viewer, organizations, nodes, events by slug and place.

let sale: Sale
beforeAll(async () => {
  const yearly = (id: string, days: number) =>
    anEvent({ _id: id, slug: 'yearly', start_date: inDays(days), end_date: inDays(days + 0.1) })
  sale = await openSale(
    aCatalogue({
      organizations: [anOrganization(), anOrganization({ _id: 'org_2' })],
      locations: [aLocation(), aLocation({ _id: 'loc_2', city: 'Lisboa', country_code: 'PT' })],
      events: [
        yearly('evt_past', -300),
        yearly('evt_next', 60),
        yearly('evt_later', 400),
        anEvent({
          _id: 'evt_techno',
          location_id: 'loc_2',
          music_genres: ['Techno'],
          start_date: inDays(10),
        }),
        anEvent({ _id: 'evt_far', slug: 'yearly', organization_id: 'org_2', location_id: undefined }),
      ],
    }),
  )
})
afterAll(() => sale.close())

async function dataOf<Data>(query: string, headers: Record<string, string>): Promise<Data> {
  const { data, errors } = await sale.graphql<Data>(query, {}, headers)
  expect(errors).toBeUndefined()
  if (!data) throw new Error('the answer has data')
  return data
}
const idsOf = async (args: string, headers = sale.channel) => {
  const query = `{ events(${args}) { nodes { id } } }`
  const { events } = await dataOf<{ events: { nodes: { id: string }[] } }>(query, headers)
  return events.nodes.map(({ id }) => id)
}

test('a viewer is told who it is', async () => {
  const query = '{ viewer { kind id name organizations { id name } scopes mode } }'
  expect(await dataOf(query, sale.channel)).toMatchObject({
    viewer: { kind: 'CHANNEL', name: 'Shop', organizations: [{ id: 'org_1' }, { id: 'org_2' }], scopes: [] },
  })
  expect(await dataOf(query, sale.integration.v1)).toMatchObject({
    viewer: { kind: 'INTEGRATION', name: 'Door', organizations: [{ id: 'org_1', name: 'Sala Ñ' }] },
  })
  expect((await sale.graphql(query)).errors?.[0]?.extensions?.code).toBe('UNAUTHENTICATED')
})

test('organizations in pages', async () => {
  const query = (args: string) =>
    `{ organizations(${args}) { nodes { id } pageInfo { hasNextPage endCursor } } }`
  type Page = {
    organizations: { nodes: { id: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string } }
  }
  const { organizations } = await dataOf<Page>(query('first: 1'), sale.channel)
  expect(organizations).toMatchObject({ nodes: [{ id: 'org_1' }], pageInfo: { hasNextPage: true } })
  const next = await dataOf<Page>(query(`after: "${organizations.pageInfo.endCursor}"`), sale.channel)
  expect(next.organizations).toMatchObject({ nodes: [{ id: 'org_2' }], pageInfo: { hasNextPage: false } })
  expect((await dataOf<Page>(query('first: 5'), sale.integration.v2)).organizations.nodes).toEqual([
    { id: 'org_1' },
  ])
})

test('an event by its slug is the next one, of the organization that is named', async () => {
  const query = (of: string) => `{ event(slug: "yearly", organizationId: "${of}") { id } }`
  expect(await dataOf(query('org_1'), sale.integration.v2)).toEqual({ event: { id: 'evt_next' } })
  expect(await dataOf(query('org_2'), sale.channel)).toEqual({ event: { id: 'evt_far' } })
  expect(await dataOf(query('org_2'), sale.integration.v2)).toEqual({ event: null })
})

test.each([
  ['', 'REQUIRED', 'id'],
  ['(slug: "x")', 'REQUIRED', 'organizationId'],
  ['(id: "x", slug: "x", organizationId: "x")', 'INVALID', 'slug'],
])('event%s is refused: %s %s', async (args, code, path) => {
  const { errors } = await sale.graphql(`{ event${args} { id } }`, {}, sale.channel)
  expect(errors?.[0]?.extensions?.code).toBe(code)
  expect(JSON.stringify(errors?.[0]?.extensions)).toContain(path)
})

test('events by place and genre, in either order, for integrations too', async () => {
  expect(await idsOf('city: "LISBOA"')).toEqual(['evt_techno'])
  expect(await idsOf('countryCode: "pt"', sale.integration.v2)).toEqual(['evt_techno'])
  expect(await idsOf('genre: "Techno"')).toEqual(['evt_techno'])
  expect(await idsOf('genre: "techno"')).toEqual([])
  const all = await idsOf('orderBy: START_DATE_ASC', sale.integration.v2)
  expect(all).toEqual(['evt_techno', 'evt_next', 'evt_later'])
  expect(await idsOf('orderBy: START_DATE_DESC', sale.integration.v2)).toEqual(all.toReversed())
})

test('nodes come in the order of their identifiers, one statement for all', async () => {
  const query = '{ nodes(ids: ["evt_far", "nothing", "org_1", "evt_next", "evt_next"]) { id __typename } }'
  sale.statements.reset()
  expect(await dataOf(query, sale.channel)).toEqual({
    nodes: [
      { id: 'evt_far', __typename: 'Event' },
      null,
      { id: 'org_1', __typename: 'Organization' },
      { id: 'evt_next', __typename: 'Event' },
      { id: 'evt_next', __typename: 'Event' },
    ],
  })
  expect(sale.statements.length).toBeLessThanOrEqual(8)
  const many = Array.from({ length: 101 }, (_, number) => `"evt_${number}"`).join()
  const { errors } = await sale.graphql(`{ nodes(ids: [${many}]) { id } }`, {}, sale.channel)
  expect(errors?.[0]?.extensions?.code).toBe('INVALID')
})

test('GET /events by cursor goes on where a page ended', async () => {
  const read = async (url: string) => {
    const answer = await sale.rest('GET', url, { headers: sale.channel })
    const next = String(answer.headers.link ?? '').match(/<([^>]*)>; rel="next"/)?.[1]
    const ids = answer.json<{ data: { _id: string }[] }>().data.map(({ _id }) => _id)
    return { ids, next: next && new URL(next) }
  }
  const found: string[] = []
  let url = '/events?cursor=&limit=3&start_date=2000-01-01'
  for (;;) {
    const { ids, next } = await read(url)
    found.push(...ids)
    if (!next) break
    expect(next.searchParams.get('cursor')).not.toBe('')
    url = next.pathname + next.search
  }
  expect(found).toEqual(['evt_past', 'evt_techno', 'evt_far', 'evt_next', 'evt_later'])
  const both = await sale.rest('GET', '/events?cursor=&offset=1', { headers: sale.channel })
  expect(restProblems(both)).toEqual(['INVALID cursor'])
})

test('an integration lists the events of its organization on both surfaces, by the scope of its key', async () => {
  type Listed = { data: { _id: string }[] }
  const list = (headers: Record<string, string>) => sale.rest('GET', '/events', { headers })
  const listed = async (headers: Record<string, string>) =>
    (await list(headers)).json<Listed>().data.map(({ _id }) => _id)
  const own = ['evt_techno', 'evt_next', 'evt_later']
  for (const headers of [sale.integration.v1, sale.integration.v2]) {
    expect(await listed(headers)).toEqual(own)
    expect(await idsOf('first: 9', headers)).toEqual(own)
  }
  expect(await listed(sale.channel)).toEqual(['evt_techno', 'evt_far', 'evt_next', 'evt_later'])
  const door = await scopedHeaders(sale, 'door')
  const refused = await list(door)
  expect([refused.statusCode, restProblems(refused)]).toEqual([403, ['FORBIDDEN']])
  const { errors } = await sale.graphql('{ events { nodes { id } } }', {}, door)
  expect(errors?.[0]?.extensions?.code).toBe('FORBIDDEN')
})
