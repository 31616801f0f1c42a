import { beforeAll, beforeEach, expect, test } from 'vitest'
import { changeGrant } from '../../../src/domain/caller/change-grant.ts'
import { grants } from '../../../src/domain/caller/table.ts'
import { anEntry, checkOut } from '../../support/checkouts.ts'
import { money } from '../../support/contract-input.ts'
import { aLocation, anEvent, anOrganization, aRateNamed } from '../../support/factories.ts'
import { countCheckoutRows, refusal } from '../../support/refusals.ts'
import { sharedSale } from '../../support/sale.ts'

const event = (organization: string) =>
  anEvent({
    _id: `evt_${organization}`,
    organization_id: `org_${organization}`,
    location_id: `loc_${organization}`,
    ticket_rates: [aRateNamed(organization)],
  })
const body = { ticket_rate_id: 'rate_2', tickets: [anEntry('price_2')] }

let sold: { ticket: string; payment: string }
const sale = sharedSale({
  organizations: [anOrganization(), anOrganization({ _id: 'org_2', name: 'Other' })],
  locations: [aLocation(), aLocation({ _id: 'loc_2', organization_id: 'org_2' })],
  events: [event('1'), event('2')],
})
beforeAll(async () => {
  const { data } = (await checkOut(sale, body)).json()
  sold = { ticket: data.tickets[0]._id, payment: data.payment_id }
})

const channelId = async () => (await sale.db.select().from(grants))[0]?.channelId ?? ''
const grant = async (granted: boolean) =>
  changeGrant(sale.db, { channelId: await channelId(), organizationId: 'org_2', granted })
beforeEach(() => grant(true))

const everyWay = `query ($ticket: ID!, $payment: ID!) {
  events { totalCount nodes { id } } named: events(filter: { organizationId: "org_2" }) { totalCount edges { node { id } } }
  at: events(filter: { locationId: "loc_2" }) { totalCount }
  event(by: { id: "evt_2" }) { id } organization(by: { id: "org_2" }) { id } ticketRate(id: "rate_2") { id event { id } }
  n1: node(id: "evt_2") { id } n2: node(id: "rate_2") { id } n3: node(id: "org_2") { id } n4: node(id: "loc_2") { id }
  ticket(id: $ticket) { id attendee { fullName } amounts { total { amount currency } }
    event { id minimumAge organization { id } location { id } } ticketRate { id name event { id } } price { includes }
    payment { id totalAmount { amount currency } tickets { id event { id } } } }
  payment(id: $payment) { id pageUrl tickets { id } } }`

async function view() {
  const { data, errors } = await sale.graphql<Record<string, unknown>>(everyWay, sold, sale.channel)
  expect(errors).toBeUndefined()
  const rest = await sale.rest('GET', '/events', { headers: sale.channel })
  const named = await sale.rest('GET', '/events?organization_id=org_2', { headers: sale.channel })
  const ids = (answer: typeof rest) => answer.json<{ data: { _id: string }[] }>().data.map(({ _id }) => _id)
  return { ...data, rest: ids(rest), restNamed: ids(named) }
}

// A ticket shows what was sold, also after the grant is withdrawn.
const ownTicket = {
  attendee: { fullName: 'Ana Núñez' },
  amounts: { total: money(22) },
  event: { id: 'evt_2', organization: { id: 'org_2' }, location: { id: 'loc_2' } },
  ticketRate: { id: 'rate_2', name: 'Entrance', event: { id: 'evt_2' } },
}

test('a granted organization is visible through every field and route', async () => {
  expect(await view()).toMatchObject({
    rest: ['evt_1', 'evt_2'],
    restNamed: ['evt_2'],
    events: { totalCount: 2 },
    named: { totalCount: 1, edges: [{ node: { id: 'evt_2' } }] },
    at: { totalCount: 1 },
    event: { id: 'evt_2' },
    ticketRate: { id: 'rate_2', event: { id: 'evt_2' } },
    n1: { id: 'evt_2' },
    n2: { id: 'rate_2' },
    n3: { id: 'org_2' },
    n4: { id: 'loc_2' },
    organization: { id: 'org_2' },
    ticket: ownTicket,
  })
})

test('a revoked grant hides the organization at once; tickets sold stay readable', async () => {
  expect(await grant(false)).toBe(true)
  const written = await countCheckoutRows(sale)
  expect(await view()).toMatchObject({
    rest: ['evt_1'],
    restNamed: [],
    events: { totalCount: 1, nodes: [{ id: 'evt_1' }] },
    named: { totalCount: 0, edges: [] },
    at: { totalCount: 0 },
    event: null,
    organization: null,
    ticketRate: null,
    n1: null,
    n2: null,
    n3: null,
    n4: null,
    ticket: {
      ...ownTicket,
      id: sold.ticket,
      payment: {
        id: sold.payment,
        totalAmount: money(22),
        tickets: [{ id: sold.ticket, event: { id: 'evt_2' } }],
      },
    },
    payment: { id: sold.payment, tickets: [{ id: sold.ticket }] },
  })
  const gone = await checkOut(sale, body)
  expect(refusal(gone)).toBe('404 NOT_FOUND ticket_rate_id')
  const absent = await checkOut(sale, { ...body, ticket_rate_id: 'rate_none' })
  const bodyOf = (answer: typeof gone) => answer.body.replace(/"request_id":"[^"]*"/, '')
  expect(bodyOf(gone)).toBe(bodyOf(absent))
  expect(await countCheckoutRows(sale)).toEqual(written)
})

test('a price of a hidden organization is refused like an absent price', async () => {
  await grant(false)
  const foreign = await checkOut(sale, { ticket_rate_id: 'rate_1', tickets: [anEntry('price_2')] })
  const absent = await checkOut(sale, { ticket_rate_id: 'rate_1', tickets: [anEntry('price_none')] })
  const bodyOf = (answer: typeof foreign) => answer.body.replace(/"request_id":"[^"]*"/, '')
  expect(refusal(foreign)).toBe('422 PRICE_NOT_IN_RATE tickets.0.price_id')
  expect(bodyOf(foreign)).toBe(bodyOf(absent))
})

test('a grant given again makes the organization visible again', async () => {
  await grant(false)
  expect(await grant(true)).toBe(true)
  expect((await view()).rest).toEqual(['evt_1', 'evt_2'])
})
