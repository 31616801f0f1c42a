import { expect, test } from 'vitest'
import { aCatalogue, aLocation, anEvent, anOrganization, aRate, inDays } from '../../support/factories.ts'
import { restProblems, sharedSale } from '../../support/sale.ts'

const event = (_id: string, name: string, days: number, more: Parameters<typeof anEvent>[0] = {}) =>
  anEvent({ _id, name, start_date: inDays(days), end_date: inDays(days + 0.25), ...more })

const sameMoment = inDays(9)
const pastEnd = inDays(-9.75)
const beforePastEnd = new Date(Date.parse(pastEnd) - 1).toISOString()

const catalogue = aCatalogue({
  organizations: [anOrganization(), anOrganization({ _id: 'org_2', name: 'Other', currency: 'JPY' })],
  locations: [
    aLocation({ _id: 'loc_madrid', latitude: 40.4168, longitude: -3.7038 }),
    aLocation({ _id: 'loc_getafe', latitude: 40.305, longitude: -3.7329 }),
    aLocation({ _id: 'loc_barcelona', latitude: 41.3874, longitude: 2.1686 }),
    aLocation({ _id: 'loc_taveuni', latitude: -16.8, longitude: 179.99 }),
    aLocation({ _id: 'loc_taveuni_east', latitude: -16.8, longitude: -179.99 }),
    aLocation({ _id: 'loc_north_pole', latitude: 89.99, longitude: 10 }),
  ],
  events: [
    event('evt_past', 'Café del Mar: la última', -10, { end_date: pastEnd, location_id: 'loc_madrid' }),
    event('evt_running', 'Ñandú al amanecer', -0.1, { location_id: 'loc_madrid' }),
    event('evt_season', 'All season', -400, {
      end_date: inDays(0.5),
      organization_id: 'org_2',
      location_id: null,
    }),
    event('evt_c', 'CAFÉ Ibérico', 3, { location_id: 'loc_getafe' }),
    event('evt_b', 'Straße & Łódź Nights', 2, { location_id: 'loc_barcelona' }),
    event('evt_a', "O'Brien Café-Concert", 5, { organization_id: 'org_2', location_id: null }),
    event('evt_tie_2', 'Tie', 9, { start_date: sameMoment, location_id: 'loc_taveuni' }),
    event('evt_tie_1', 'Tie', 9, { start_date: sameMoment, location_id: 'loc_taveuni_east' }),
    event('evt_pole', 'Polar Night', 12, { location_id: 'loc_north_pole', ticket_rates: [aRate(), aRate()] }),
  ],
})

const sale = sharedSale(catalogue)

const list = (query: string) => sale.rest('GET', `/events?${query}`, { headers: sale.channel })

async function idsOverRest(query: string): Promise<string[]> {
  const answer = await list(query)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<{ data: { _id: string }[] }>().data.map(({ _id }) => _id)
}

type Page = { events: { nodes: { id: string }[]; totalCount: number } }

async function idsOverGraphql(args: string): Promise<string[]> {
  const query = `{ events${args && `(filter: { ${args} })`} { nodes { id } totalCount } }`
  const { data, errors } = await sale.graphql<Page>(query, {}, sale.channel)
  expect(errors).toBeUndefined()
  expect(data?.events.totalCount).toBe(data?.events.nodes.length)
  return (data?.events.nodes ?? []).map(({ id }) => id)
}

const upcoming = [
  'evt_season',
  'evt_running',
  'evt_b',
  'evt_c',
  'evt_a',
  'evt_tie_1',
  'evt_tie_2',
  'evt_pole',
]

const filters: [what: string, rest: string, graphql: string, ids: string[]][] = [
  ['those not yet ended, by start and id', '', '', upcoming],
  ['one organization', 'organization_id=org_2', 'organizationId: "org_2"', ['evt_season', 'evt_a']],
  ['an unknown organization', 'organization_id=org_9', 'organizationId: "org_9"', []],
  ['one location', 'location_id=loc_getafe', 'locationId: "loc_getafe"', ['evt_c']],
  [
    'past ones too if given a date',
    'start_date=2000-01-01&end_date=2999-01-01',
    'starts: { from: "2000-01-01T00:00:00Z", until: "2999-01-01T00:00:00Z" }',
    ['evt_season', 'evt_past', ...upcoming.slice(1)],
  ],
  [
    'those that start at or after a time',
    `start_date=${encodeURIComponent(sameMoment)}`,
    `starts: { from: "${sameMoment}" }`,
    ['evt_tie_1', 'evt_tie_2', 'evt_pole'],
  ],
  ['a word without its accent', 'search=cafe', 'search: "cafe"', ['evt_c', 'evt_a']],
  ['a word with another case and accent', 'search=C%C3%A1F%C3%89', 'search: "CáFÉ"', ['evt_c', 'evt_a']],
  ['two prefixes in any order', 'search=ibe+caf', 'search: "ibe caf"', ['evt_c']],
  ['nothing if one word is missing', 'search=cafe+tokyo', 'search: "cafe tokyo"', []],
  ['nothing for the middle of a word', 'search=afe', 'search: "afe"', []],
  ['letters without a decomposition', 'search=strasse+lodz', 'search: "strasse lodz"', ['evt_b']],
  ['words around an apostrophe and a hyphen', "search=o'brien+conc", 'search: "o\'brien conc"', ['evt_a']],
  ['all for a search without words', 'search=%20-%21%20', 'search: " -! "', upcoming],
  [
    'words among quotes and operators of a query language',
    "search=cafe'%3A*|%26!",
    'search: "cafe\':*|&!"',
    ['evt_c', 'evt_a'],
  ],
  ['a circle of 5 km', 'lat=40.42&lng=-3.7', 'near: { latitude: 40.42, longitude: -3.7 }', ['evt_running']],
  [
    'a circle of 20 km',
    'lat=40.42&lng=-3.7&radius=20',
    'near: { latitude: 40.42, longitude: -3.7, radius: 20 }',
    ['evt_running', 'evt_c'],
  ],
  [
    'a circle of 500 km, without Barcelona at 505 km',
    'lat=40.4168&lng=-3.7038&radius=500',
    'near: { latitude: 40.4168, longitude: -3.7038, radius: 500 }',
    ['evt_running', 'evt_c'],
  ],
  [
    'a circle across the date line',
    'lat=-16.8&lng=180&radius=3',
    'near: { latitude: -16.8, longitude: 180, radius: 3 }',
    ['evt_tie_1', 'evt_tie_2'],
  ],
  [
    'a circle around a pole',
    'lat=89.99&lng=-170&radius=3',
    'near: { latitude: 89.99, longitude: -170, radius: 3 }',
    ['evt_pole'],
  ],
  [
    'all filters together',
    'organization_id=org_1&location_id=loc_getafe&start_date=2000-01-01&search=caf&lat=40.3&lng=-3.7',
    'organizationId: "org_1", locationId: "loc_getafe", starts: { from: "2000-01-01T00:00:00Z" }, search: "caf", near: { latitude: 40.3, longitude: -3.7 }',
    ['evt_c'],
  ],
]

test.each(filters)('event list has %s', async (_what, rest, graphql, ids) => {
  expect(await idsOverRest(rest)).toEqual(ids)
  expect(await idsOverGraphql(graphql)).toEqual(ids)
})

test('event list of REST has those that end at or before a time', async () => {
  expect(await idsOverRest(`end_date=${pastEnd}`)).toEqual(['evt_past'])
  expect(await idsOverRest(`end_date=${beforePastEnd}`)).toEqual([])
})

test('event list takes a date, a timestamp and a timestamp with a zone for the same time', async () => {
  const { data } = (await list('start_date=2000-01-01')).json()
  expect((await list('start_date=2000-01-01T00:00:00')).json().data).toEqual(data)
  expect((await list('start_date=2000-01-01T02:00:00%2B02:00')).json().data).toEqual(data)
})

// A moment in the forms of ISO 8601 that programs write, at an offset in minutes.
function formsOf(moment: string, offset: number): string[] {
  const local = new Date(Date.parse(moment) + offset * 60_000).toISOString().slice(0, -1)
  const size = new Date(Math.abs(offset) * 60_000).toISOString().slice(11, 16)
  const zone = `${offset < 0 ? '-' : '+'}${size}`
  const basic = local.replace(/[-:]/g, '')
  return [
    ...[`${local}${zone}`, `${local}${zone.replace(':', '')}`, `${local.replace('.', ',')}${zone}`],
    ...[`${local.toLowerCase()}${zone}`, `${basic}${zone.replace(':', '')}`],
    ...(offset % 60 === 0 ? [`${local}${zone.slice(0, 3)}`] : []),
    ...(offset === 0 ? [`${local}Z`, `${local}z`, `${basic}Z`, local] : []),
  ]
}

test.each([0, 330, -210, 600, -720])(
  'a moment at an offset of %i minutes is the same in every form',
  async (offset) => {
    // As browsers encode it, and as people write it in an address.
    for (const [shift, ids] of [
      [0, ['evt_tie_1', 'evt_tie_2', 'evt_pole']],
      [1, ['evt_pole']],
    ] as const)
      for (const form of formsOf(new Date(Date.parse(sameMoment) + shift).toISOString(), offset))
        for (const sent of [encodeURIComponent(form), form])
          expect(await idsOverRest(`start_date=${sent}`), sent).toEqual(ids)
  },
)

test('a time without seconds is taken over REST, and GraphQL takes the forms of RFC 3339 alone', async () => {
  for (const form of [
    '2000-01-01T10:00Z',
    '2000-01-01T10:00+05',
    '20000101T1000+0530',
    '2000-01-01T10:00 0530',
  ]) {
    expect((await list(`start_date=${form}`)).statusCode, form).toBe(200)
    const query = `{ events(filter: { starts: { from: "${form}" } }) { totalCount } }`
    const { errors } = await sale.graphql(query, {}, sale.channel)
    expect(errors?.[0]?.message, form).toMatch(/^DateTime must be a date and a time with its time zone/)
  }
})

test('event list by limit and offset links to the pages around', async () => {
  const first = await list('limit=3')
  expect(first.headers.link).toBe('<http://127.0.0.1:4000/events?limit=3&offset=3>; rel="next"')
  const second = await list('limit=3&offset=3')
  expect(second.headers.link).toBe(
    '<http://127.0.0.1:4000/events?limit=3&offset=6>; rel="next", <http://127.0.0.1:4000/events?limit=3&offset=0>; rel="prev"',
  )
  expect((await list('limit=8')).headers.link).toBeUndefined()
  const paged = [
    ...(await idsOverRest('limit=3')),
    ...(await idsOverRest('limit=3&offset=3')),
    ...(await idsOverRest('limit=3&offset=6')),
  ]
  expect(paged).toEqual(upcoming)
  expect(await idsOverRest('offset=1000')).toEqual([])
})

test('event list by cursor is complete, even across equal start dates', async () => {
  const query = `query ($after: String) { events(first: 2, after: $after) {
    edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`
  type Connection = {
    edges: { cursor: string; node: { id: string } }[]
    nodes: { id: string }[]
    pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string; endCursor: string }
  }
  const pageAfter = async (after: string | null): Promise<Connection> => {
    const { data } = await sale.graphql<{ events: Connection }>(query, { after }, sale.channel)
    if (!data) throw new Error('a page has data')
    return data.events
  }
  const ids: string[] = []
  let after: string | null = null
  for (let pages = 1; ; pages++) {
    const { edges, nodes, pageInfo }: Connection = await pageAfter(after)
    expect(edges.map(({ node }) => node)).toEqual(nodes)
    expect([edges[0]?.cursor, edges.at(-1)?.cursor]).toEqual([pageInfo.startCursor, pageInfo.endCursor])
    expect(pageInfo.hasPreviousPage).toBe(pages > 1)
    ids.push(...nodes.map(({ id }) => id))
    if (!pageInfo.hasNextPage) break
    after = pageInfo.endCursor
  }
  expect(ids).toEqual(upcoming)
})

test.each(['START_DATE_ASC', 'START_DATE_DESC'])(
  'pages of one in the order %s leave out no event',
  async (orderBy) => {
    const query = `query ($after: String) { events(first: 1, after: $after, orderBy: ${orderBy}) {
    nodes { id } pageInfo { hasNextPage endCursor } } }`
    type Single = {
      events: { nodes: { id: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string } }
    }
    const ids: string[] = []
    for (let after: string | null = null, isLast = false; !isLast; ) {
      const { data }: { data?: Single | null } = await sale.graphql<Single>(query, { after }, sale.channel)
      if (!data) throw new Error('a page has data')
      ids.push(...data.events.nodes.map(({ id }) => id))
      after = data.events.pageInfo.endCursor
      isLast = !data.events.pageInfo.hasNextPage
    }
    expect(ids.toSorted()).toEqual(upcoming.toSorted())
  },
)

test('event list has ticket rates only with populate', async () => {
  const rates = async (query: string) =>
    (await list(`${query}&search=polar`)).json().data[0].ticket_rates?.length
  expect(await rates('')).toBeUndefined()
  expect(await rates('populate=*')).toBe(2)
  expect(await rates('populate=ticket-rates')).toBe(2)
  expect(await rates('populate=ticket-rates,*')).toBe(2)
})

test.each([
  ['limit=0', 'INVALID limit'],
  ['limit=101', 'INVALID limit'],
  ['limit=ten', 'INVALID limit'],
  ['offset=-1', 'INVALID offset'],
  ['offset=1.5', 'INVALID offset'],
  ['lat=40', 'REQUIRED lng'],
  ['lng=3', 'REQUIRED lat'],
  ['radius=5', 'REQUIRED lat'],
  ['lat=91&lng=0', 'INVALID lat'],
  ['lat=0&lng=181', 'INVALID lng'],
  ['lat=0&lng=0&radius=0', 'INVALID radius'],
  ['lat=0&lng=0&radius=500.1', 'INVALID radius'],
  ['start_date=2026-02-30', 'INVALID start_date'],
  ['end_date=tomorrow', 'INVALID end_date'],
  ['end_date=20261127', 'INVALID end_date'],
  ['end_date=2026-11-27T10Z', 'INVALID end_date'],
  ['end_date=2026-11-27T10:00:60Z', 'INVALID end_date'],
  ['end_date=2026-11-27T10:00.5Z', 'INVALID end_date'],
  ['populate=prices', 'INVALID populate.0'],
  ['colour=red', 'UNKNOWN_FIELD colour'],
  ['limit=1&limit=2', 'INVALID limit'],
])('event list with %s is refused', async (query, problem) => {
  const answer = await list(query)
  expect(answer.statusCode).toBe(400)
  expect(restProblems(answer)).toEqual([problem])
})

test('an event is published until it ends, whatever is left to buy, and ended from then on', async () => {
  const { data } = await sale.graphql<{ events: { nodes: { id: string; status: string }[] } }>(
    '{ events(filter: { starts: { from: "2000-01-01T00:00:00Z" } }) { nodes { id status } } }',
    {},
    sale.channel,
  )
  const statuses = Object.fromEntries(data?.events.nodes.map(({ id, status }) => [id, status]) ?? [])
  const expected = Object.fromEntries(upcoming.map((id) => [id, 'PUBLISHED']))
  expect(statuses).toEqual({ ...expected, evt_past: 'ENDED' })
})
