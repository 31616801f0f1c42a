import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { schema } from '../../../src/app/schema.ts'
import { changeGrant } from '../../../src/domain/caller/change-grant.ts'
import { grants } from '../../../src/domain/caller/table.ts'
import { eraseTicket } from '../../../src/domain/retention/erase-person.ts'
import type { Checkout } from '../../support/checkouts.ts'
import { attendeeFields } from '../../support/contract-input.ts'
import { openDoors } from '../../support/door.ts'
import { anEvent, anOrganization, aQuestion, aRateNamed, aSupplement } from '../../support/factories.ts'
import { subscribe } from '../../support/live.ts'
import { scopedHeaders } from '../../support/modes.ts'
import { refundTicket } from '../../support/refunds.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { holdTickets, payFor, ticketOf } from '../../support/tickets.ts'

// What erasure, scopes and grants hide is null: it never takes a ticket, a scan or a list with it.

const rate = aRateNamed('1', {
  warranty: { enabled: true, percentage: 10, hours: 24 },
  supplements: [aSupplement({ _id: 'sup_1' })],
  questions: [aQuestion({ _id: 'que_1', type: 'text', items: [] })],
})
const discounts = [{ _id: 'dsc_1', code: 'TENTH', name: 'A tenth', percentage: 10 }]

type Headers = Record<string, string>

let sale: Sale
let folder: string
let door: Headers
/** Tickets of one checkout. */
let checkout: Checkout
let ids: string[]
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-hidden-'))
  sale = await openSale({
    organizations: [anOrganization({ discounts })],
    events: [anEvent({ _id: 'evt_1', ticket_rates: [rate] })],
    settings: openDoors,
    listen: true,
  })
  door = await scopedHeaders(sale, 'door')
  const everything = {
    ...{ phone: '+34600000001', birthday: '1990-01-02', address: 'Calle Mayor 1', postal_code: '28013' },
    ...{ country_code: 'ES', personal_document_type: 'dni', personal_document_number: '12345678Z' },
    ...{ answers: [{ question_id: 'que_1', answer: 'Yes' }], supplements: [{ supplement_id: 'sup_1' }] },
    warranty: true,
  }
  checkout = await holdTickets(sale, {
    count: 3,
    entry: everything,
    ...{ discount_code: 'TENTH', referral_id: 'blog', metadata: { table: 7 }, language: 'es' },
  })
  await payFor(sale, checkout)
  ids = checkout.tickets.map(({ _id }) => _id)
  for (const id of ids) expect((await refundTicket(sale, id, { amount: 1 })).errors).toBeUndefined()
})
afterAll(async () => {
  await sale.close()
  await rm(folder, { recursive: true })
})

const money = '{ amount currency }'
const places = 'availability { sold available }'
const organization = 'organization { id name slug currency }'
const price = `{ id name price ${money} fee ${money} total ${money} validUntil limit ${places} includes additionalInfo }`

// A selection of each field of a ticket that has one. All others have no fields below them.
const below: Record<string, string> = {
  event: `{ id name minimumAge startDate doorsOpenAt ${organization} location { id name timezone ${organization} }
    priceRange { min ${money} max ${money} } ticketRates { id status } }`,
  ticketRate: `{ id name status available ${places} warranty { percentage endsAt } event { id ${organization} }
    prices { id } currentPrice { id } supplements { id name } questions { id label options { id label } } }`,
  price,
  channel: '{ id name }',
  supplements: `{ supplementId name count redeemed price ${money} compareAtPrice ${money} }`,
  warranty: `{ price ${money} endsAt }`,
  attendee: attendeeFields.replace('attendee ', ''),
  answers: '{ question { id label options { label } } text checked option { id label } }',
  amounts: `{ price ${money} discount ${money} supplements ${money} fees ${money} warranty ${money} total ${money} }`,
  settlement: `{ paid ${money} refunded ${money} commission ${money} net ${money} }`,
  discount: '{ id code }',
  payment: `{ id status totalAmount ${money} refunded ${money} refunds { id } }`,
  refunds: `{ id status amount ${money} }`,
  checkIns: '(first: 1) { nodes { event { id } } }',
}
const names = Object.keys(
  (schema.getType('Ticket') as { getFields?(): object } | undefined)?.getFields?.() ?? {},
)
const fields = names.map((name) => `${name} ${below[name] ?? ''}`).join(' ')

type Shown = Record<string, unknown>

/** Asks without any error. */
async function ask<Data>(query: string, variables: object, headers: Headers): Promise<Data> {
  const { data, errors } = await sale.graphql<Data>(query, variables as Record<string, unknown>, headers)
  expect(errors).toBeUndefined()
  return data as Data
}

const asTicket = (id: string, headers: Headers) =>
  ask<{ ticket: Shown }>(`query ($id: ID!) { ticket(id: $id) { ${fields} } }`, { id }, headers)

const scan = async (id: string, headers: Headers, direction = 'IN') => {
  const { checkInTicket } = await ask<{ checkInTicket: { checkIn: { outcome: string; ticket: Shown } } }>(
    `mutation ($input: CheckInTicketInput!) { checkInTicket(input: $input) {
      ... on CheckInTicketPayload { checkIn { outcome ticket { ${fields} } } } } }`,
    { input: { ticket: { ticketId: id }, eventId: 'evt_1', direction, idempotencyKey: crypto.randomUUID() } },
    headers,
  )
  return checkInTicket.checkIn
}

const redeem = async (id: string, headers: Headers) => {
  const { redeemSupplement } = await ask<{ redeemSupplement: { outcome: string; ticket: Shown } }>(
    `mutation ($input: RedeemSupplementInput!) { redeemSupplement(input: $input) {
      ... on RedeemSupplementPayload { outcome ticket { ${fields} } } } }`,
    {
      input: {
        ...{ ticket: { ticketId: id }, eventId: 'evt_1', supplementId: 'sup_1' },
        idempotencyKey: crypto.randomUUID(),
      },
    },
    headers,
  )
  return redeemSupplement
}

type Listed = { id: string; attendee: { fullName: string } | null }

/** The tickets of the checkout by each edge and list that leads to them. */
async function everyList(headers: Headers): Promise<Listed[][]> {
  const shown = '{ id attendee { fullName } event { id } ticketRate { id name } }'
  const { tickets, payment, nodes, payments } = await ask<{
    tickets: { nodes: Listed[] }
    payment: { tickets: Listed[] }
    payments: { nodes: { tickets: Listed[] }[] }
    nodes: Listed[]
  }>(
    `query ($id: ID!, $ids: [ID!]!) { tickets(orderBy: CREATED_ASC, first: 3) { nodes ${shown} }
      payment(id: $id) { tickets ${shown} } payments(first: 1) { nodes { tickets ${shown} } }
      nodes(ids: $ids) { ... on Ticket ${shown} } }`,
    { id: checkout.payment_id, ids },
    headers,
  )
  // They were sold at one time, so they are listed by their identifiers.
  const byPlace = tickets.nodes.toSorted((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id))
  return [byPlace, payment.tickets, nodes, payments.nodes[0]?.tickets ?? []]
}

const hiddenAtDoor = [
  ...['amounts', 'answers', 'channel', 'correctiveInvoiceReferences', 'discount', 'documentUrl'],
  ...['invoiceReference', 'metadata', 'payment', 'qrCode', 'referralId', 'refunds', 'settlement', 'warranty'],
]

test('a key of the door alone sees the name and what the door needs, and null instead of everything else', async () => {
  const id = ticketOf(checkout)
  const before = (await asTicket(id, sale.integration.v2)).ticket
  // Control: each of these has a value for a key that may see it.
  expect(hiddenAtDoor.filter((name) => before[name] == null)).toEqual([])
  const scanned = await scan(id, door)
  expect(scanned.outcome).toBe('OK')
  expect((await redeem(id, door)).ticket).toMatchObject({ id, attendee: { fullName: 'Ana Núñez' } })
  const { ticket: all } = await asTicket(id, sale.integration.v2)
  const { outcome, ticket: seen } = await scan(id, door)
  expect(outcome).toBe('NO_ENTRIES_LEFT')
  expect(Object.keys(seen).toSorted()).toEqual(names.toSorted())
  expect(seen).toEqual({
    ...all,
    ...Object.fromEntries(hiddenAtDoor.map((name) => [name, null])),
    attendee: {
      ...{ fullName: 'Ana Núñez', email: null, phone: null, language: null, birthDate: null },
      ...{ address: null, identityDocument: null },
    },
  })
  // Control: somebody who may see them does.
  expect(all.attendee).toMatchObject({
    ...{ email: 'ana@example.com', phone: '+34600000001', language: 'es', birthDate: '1990-01-02' },
    ...{ address: { street: 'Calle Mayor 1' }, identityDocument: { type: 'DNI', number: '12345678Z' } },
  })
})

test('an erased person is null, and leaves the ticket, its lists and its scans', async () => {
  const id = ticketOf(checkout, 1)
  const before = (await asTicket(id, sale.channel)).ticket
  await eraseTicket(sale.db, id, { mailFolder: folder, force: true })
  for (const headers of [sale.channel, sale.integration.v2]) {
    const { ticket } = await asTicket(id, headers)
    // The channel sees neither.
    const { discount, checkIns } = ticket
    // What the person told is gone, and nothing else.
    expect(ticket).toEqual({
      ...{ ...before, discount, checkIns, updatedAt: ticket.updatedAt },
      ...{ attendee: null, answers: [], metadata: null },
    })
    for (const list of await everyList(headers)) {
      expect(list.map((listed) => listed.id)).toEqual(ids)
      expect(list.map(({ attendee }) => attendee?.fullName ?? null)).toEqual(['Ana Núñez', null, 'Ana Núñez'])
    }
  }
  const stream = subscribe<{ checkIns: { node: { outcome: string; ticket: Shown } } }>(sale.url, door, {
    query: `subscription { checkIns(eventId: "evt_1") { node { outcome ticket { id attendee { fullName email } qrCode } } } }`,
  })
  await stream.opened()
  for (const headers of [door, sale.integration.v2]) {
    expect(await scan(id, headers)).toMatchObject({ outcome: 'OK', ticket: { id, attendee: null } })
    expect(await scan(id, headers, 'OUT')).toMatchObject({ outcome: 'OK', ticket: { id, attendee: null } })
  }
  expect(await redeem(id, door)).toMatchObject({ outcome: 'OK', ticket: { id, attendee: null } })
  const erased = await stream.until(({ checkIns: { node } }) => node.ticket?.id === id)
  expect(erased.checkIns.node).toEqual({ outcome: 'OK', ticket: { id, attendee: null, qrCode: null } })
  await scan(ticketOf(checkout, 2), door)
  const living = await stream.until(({ checkIns: { node } }) => node.ticket?.id === ticketOf(checkout, 2))
  expect(living.checkIns.node.ticket).toMatchObject({ attendee: { fullName: 'Ana Núñez', email: null } })
  expect(stream.errors).toEqual([])
})

test('a channel whose grant was withdrawn still sees what it sold, with event, rate and price', async () => {
  const before = await Promise.all(ids.map((id) => asTicket(id, sale.channel)))
  const lists = await everyList(sale.channel)
  const [grant] = await sale.db.select().from(grants)
  const given = { channelId: grant?.channelId ?? '', organizationId: 'org_1' }
  expect(await changeGrant(sale.db, { ...given, granted: false })).toBe(true)
  // What else is offered is of the catalogue.
  const sold = before.map(({ ticket }) => {
    const event = { ...(ticket.event as object), priceRange: null, ticketRates: [] }
    return { ticket: { ...ticket, event } }
  })
  expect(await Promise.all(ids.map((id) => asTicket(id, sale.channel)))).toEqual(sold)
  expect(await everyList(sale.channel)).toEqual(lists)
  expect(lists.flat()).toHaveLength(4 * ids.length)
  for (const { ticket } of before)
    expect(ticket).toMatchObject({
      event: { id: 'evt_1', organization: { id: 'org_1' }, location: { id: 'loc_1' } },
      ticketRate: { id: 'rate_1', event: { id: 'evt_1' } },
      price: { id: 'price_1' },
      warranty: { endsAt: expect.any(String) },
    })
  // Control: nothing else of the organization is visible.
  expect(
    await ask(
      '{ event(by: { id: "evt_1" }) { id } ticketRate(id: "rate_1") { id } events { nodes { id } } a: node(id: "price_1") { id } b: node(id: "loc_1") { id } }',
      {},
      sale.channel,
    ),
  ).toEqual({ event: null, ticketRate: null, events: { nodes: [] }, a: null, b: null })
})
