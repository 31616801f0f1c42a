// Runs in: pglite, postgres

import { expect, test } from 'vitest'
import { aLocation, anEvent, anOrganization, inDays } from '../../support/factories.ts'
import { publishableHeaders, scopedHeaders } from '../../support/modes.ts'
import { restProblems, sharedSale } from '../../support/sale.ts'

// Reads of the catalogue by both kinds of caller: viewer, organizations, nodes, events by slug and place.

const yearly = (id: string, days: number) =>
  anEvent({ _id: id, slug: 'yearly', start_date: inDays(days), end_date: inDays(days + 0.1) })
const sale = sharedSale({
  organizations: [anOrganization(), anOrganization({ _id: 'org_2', name: 'Other' })],
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
})

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
  const query = `{ viewer { kind channel { id name } integration { id name organization { id name } } scopes mode }
    organizations { nodes { id } } }`
  expect(await dataOf(query, sale.channel)).toEqual({
    viewer: {
      kind: 'CHANNEL',
      channel: { id: expect.stringMatching(/^chn_/), name: 'Shop' },
      integration: null,
      scopes: [],
      mode: 'LIVE',
    },
    organizations: { nodes: [{ id: 'org_1' }, { id: 'org_2' }] },
  })
  expect(await dataOf(query, sale.integration.v1)).toEqual({
    viewer: {
      kind: 'INTEGRATION',
      channel: null,
      integration: {
        id: expect.stringMatching(/^int_/),
        name: 'Door',
        organization: { id: 'org_1', name: 'Sala Ñ' },
      },
      scopes: ['TICKETS_READ', 'DOOR', 'REFUNDS', 'SALES', 'CATALOGUE'],
      mode: 'LIVE',
    },
    organizations: { nodes: [{ id: 'org_1' }] },
  })
  const who = '{ viewer { kind channel { name } integration { name } scopes mode } }'
  expect(await dataOf(who, await publishableHeaders(sale, { mode: 'test' }))).toEqual({
    viewer: { kind: 'PUBLISHABLE', channel: { name: 'Shop' }, integration: null, scopes: [], mode: 'TEST' },
  })
  expect(await dataOf(who, await scopedHeaders(sale, 'door'))).toEqual({
    viewer: {
      kind: 'INTEGRATION',
      channel: null,
      integration: { name: 'Door' },
      scopes: ['DOOR'],
      mode: 'LIVE',
    },
  })
  const { data, errors } = await sale.graphql(query)
  expect(data).toEqual({ viewer: null, organizations: null })
  expect(errors?.map(({ extensions }) => extensions?.code)).toEqual(['UNAUTHENTICATED', 'UNAUTHENTICATED'])
})

test('an organization by its identifier or slug', async () => {
  const query = (by: string) => `{ organization(by: { ${by} }) { id slug currency } }`
  const first = { organization: { id: 'org_1', slug: 'sala-n', currency: 'EUR' } }
  const second = { organization: { id: 'org_2', slug: 'other', currency: 'EUR' } }
  for (const headers of [sale.channel, sale.integration.v2, await publishableHeaders(sale)]) {
    const isOfBoth = headers !== sale.integration.v2
    for (const by of ['id: "org_1"', 'slug: "sala-n"'])
      expect(await dataOf(query(by), headers)).toEqual(first)
    for (const by of ['id: "org_2"', 'slug: "other"'])
      expect(await dataOf(query(by), headers)).toEqual(isOfBoth ? second : { organization: null })
    for (const by of ['id: "org_9"', 'slug: "nothing"', 'slug: "Sala-N"'])
      expect(await dataOf(query(by), headers)).toEqual({ organization: null })
  }
  const atDoor = await scopedHeaders(sale, 'door')
  const { data, errors } = await sale.graphql(query('id: "org_1"'), {}, atDoor)
  expect([data, errors?.[0]?.extensions?.code]).toEqual([{ organization: null }, 'FORBIDDEN'])
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
  const query = (of: string) =>
    `{ event(by: { slug: { organizationSlug: "${of}", slug: "yearly" } }) { id } }`
  expect(await dataOf(query('sala-n'), sale.integration.v2)).toEqual({ event: { id: 'evt_next' } })
  expect(await dataOf(query('other'), sale.channel)).toEqual({ event: { id: 'evt_far' } })
  expect(await dataOf(query('other'), sale.integration.v2)).toEqual({ event: null })
  expect(await dataOf('{ event(by: { id: "evt_far" }) { slug } }', sale.channel)).toEqual({
    event: { slug: 'yearly' },
  })
})

test.each([
  [''],
  ['(by: {})'],
  ['(by: { id: null })'],
  ['(by: { slug: { slug: "x" } })'],
  ['(by: { id: "x", slug: { organizationSlug: "x", slug: "x" } })'],
])('event%s is refused', async (args) => {
  const { data, errors } = await sale.graphql(`{ event${args} { id } }`, {}, sale.channel)
  expect(data).toBeUndefined()
  expect(errors?.map(({ extensions }) => extensions?.code)).toEqual(['BAD_REQUEST'])
})

test('events by place and genre, in either order, for integrations too', async () => {
  expect(await idsOf('filter: { city: "LISBOA" }')).toEqual(['evt_techno'])
  expect(await idsOf('filter: { countryCode: "pt" }', sale.integration.v2)).toEqual(['evt_techno'])
  expect(await idsOf('filter: { musicGenre: "Techno" }')).toEqual(['evt_techno'])
  for (const genre of ['techno', 'TÉCHNO', ' techno!'])
    expect(await idsOf(`filter: { musicGenre: "${genre}" }`)).toEqual(['evt_techno'])
  // As a whole, and never as the beginning of a word or a word of a name.
  for (const genre of ['tech', 'techno pop', 'next', '#techno'])
    expect(await idsOf(`filter: { musicGenre: "${genre}" }`)).toEqual(
      genre === '#techno' ? ['evt_techno'] : [],
    )
  for (const search of ['techno', '#techno'])
    expect(await idsOf(`filter: { search: "${search}" }`)).toEqual([])
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
  // One field that is refused leaves the others.
  const { data, errors } = await sale.graphql(
    `{ nodes(ids: [${many}]) { id } event(by: { id: "evt_far" }) { id } }`,
    {},
    sale.channel,
  )
  expect(data).toEqual({ nodes: null, event: { id: 'evt_far' } })
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
