import { expect, test } from 'vitest'
import { changeGrant } from '../../../src/domain/caller/change-grant.ts'
import { anEvent, anOrganization, aRateNamed, inDays } from '../../support/factories.ts'
import { ownersOf, scopedHeaders } from '../../support/modes.ts'
import { sharedSale } from '../../support/sale.ts'
import { holdTickets } from '../../support/tickets.ts'

// `Organization.events`: the list of all events, within one organization.

const event = (organization: number, name: string, days: number, more = {}) =>
  anEvent({
    ...{ _id: `evt_${name}`, organization_id: `org_${organization}`, location_id: null },
    ...{ start_date: inDays(days), end_date: inDays(days + 0.1), ticket_rates: [aRateNamed(name)], ...more },
  })

const sale = sharedSale({
  organizations: [anOrganization(), anOrganization({ _id: 'org_2', name: 'Other' })],
  events: [
    event(1, 'past', -9),
    event(1, 'last', 9),
    event(2, 'other', 8),
    event(1, 'closed', 7, { ticket_rates: [aRateNamed('closed', { complete: true })] }),
    event(1, 'first', 6),
  ],
})

type Headers = Record<string, string>
type Events = { totalCount: number; nodes: { id: string }[]; pageInfo: { endCursor: string } }

const fields = '{ totalCount nodes { id } pageInfo { endCursor } }'

/** Asks for events of an organization, as edges lead to it from the root field `to`. */
async function eventsOf(to: string, args = '', headers: Headers = sale.channel) {
  const below = '}'.repeat(to.split('{').length - to.split('}').length)
  const { data, errors } = await sale.graphql(`{ ${to} events${args} ${fields} ${below} }`, {}, headers)
  const find = (value: unknown): Events | null | undefined => {
    if (typeof value !== 'object' || value === null) return undefined
    if ('events' in value) return value.events as Events | null
    return Object.values(value).map(find)[0]
  }
  return { events: find(data), code: errors?.[0]?.extensions?.code }
}
const idsOf = async (...asked: Parameters<typeof eventsOf>) => {
  const { events, code } = await eventsOf(...asked)
  expect(code).toBeUndefined()
  expect(events?.totalCount).toBe(events?.nodes.length)
  return events?.nodes.map(({ id }) => id.slice(4))
}

const one = 'organization(by: { id: "org_1" }) {'

test.each([
  ['', ['first', 'closed', 'last']],
  ['(orderBy: START_DATE_DESC)', ['last', 'closed', 'first']],
  ['(filter: { onSale: true })', ['first', 'last']],
  ['(filter: { onSale: false })', ['closed']],
  ['(filter: { starts: { from: "2000-01-01T00:00:00Z" } })', ['past', 'first', 'closed', 'last']],
  ['(filter: { organizationId: "org_1" })', ['first', 'closed', 'last']],
  // A filter leads to no other organization.
  ['(filter: { organizationId: "org_2" })', []],
])('an organization lists its events by the arguments of the list of all: %s', async (args, ids) => {
  expect(await idsOf(one, args)).toEqual(ids)
})

test('a cursor of an organization leads on within it', async () => {
  const { events } = await eventsOf(one, '(first: 1)')
  expect(events).toMatchObject({ totalCount: 3, nodes: [{ id: 'evt_first' }] })
  const next = await eventsOf(one, `(first: 1, after: "${events?.pageInfo.endCursor}")`)
  expect(next.events?.nodes).toEqual([{ id: 'evt_closed' }])
})

test('a page of one organization takes as many statements as one of all', async () => {
  const count = async (query: string) => {
    sale.statements.reset()
    expect((await sale.graphql(query, {}, sale.channel)).errors).toBeUndefined()
    return sale.statements.length
  }
  const nodes = '{ nodes { id name ticketRates { id } } }'
  const all = await count(`{ events ${nodes} }`)
  // The organization is read as well.
  expect(await count(`{ ${one} events ${nodes} } }`)).toBeLessThanOrEqual(all + 1)
})

test('events of many organizations are too expensive, of a few they are not', async () => {
  const ask = (first: number) => eventsOf(`organizations(first: ${first}) { nodes {`)
  expect((await ask(50)).code).toBe('QUERY_TOO_COMPLEX')
  expect((await ask(10)).code).toBeUndefined()
})

test('an integration without the scope of the catalogue finds no events by any edge', async () => {
  const viewer = 'viewer { integration { organization {'
  expect(await idsOf(viewer, '', await scopedHeaders(sale, 'catalogue'))).toHaveLength(3)
  expect(await eventsOf(viewer, '', await scopedHeaders(sale, 'tickets:read'))).toEqual({
    events: null,
    code: 'FORBIDDEN',
  })
})

test('a sold ticket leads to no events of an organization that has withdrawn its grant', async () => {
  const { tickets } = await holdTickets(sale, { rate: 'other' })
  const ticket = `ticket(id: "${tickets[0]?._id}") { event { organization {`
  expect(await idsOf(ticket)).toEqual(['other'])
  const { channelId } = await ownersOf(sale)
  await changeGrant(sale.db, { channelId, organizationId: 'org_2', granted: false })
  expect(await idsOf(ticket)).toEqual([])
})
