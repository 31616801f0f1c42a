// Runs in: postgres, slow-forms

import { asc, eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { changes } from '../../../src/domain/change/table.ts'
import { events } from '../../../src/domain/event/table.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { anEventAtDoor, aVenueBetween, laterToday, scanTicket } from '../../support/door.ts'
import { anOrganization, aRateNamed, inDays, integrationHeaders } from '../../support/factories.ts'
import { cancelTicket } from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { aHeldTicket, aPaidTicket } from '../../support/tickets.ts'

// Check-in: what a scan answers and records.

const event = (_id: string, days: number, organization_id = 'org_1') =>
  anEventAtDoor({ _id, organization_id, ticket_rates: [aRateNamed(_id)] }, days)

const sale = sharedSale({
  organizations: [anOrganization(), anOrganization({ _id: 'org_2', name: 'Other' })],
  locations: [laterToday().location, aVenueBetween(12, 21, 'loc_noon')],
  events: [
    event('soon', 0.1),
    event('later', 30),
    event('others', 0.1, 'org_2'),
    laterToday({ _id: 'today', ticket_rates: [aRateNamed('today')] }).event,
    laterToday({ _id: 'tomorrow', location_id: 'loc_noon', ticket_rates: [aRateNamed('tomorrow')] }).event,
    laterToday({ _id: 'shown', display_date: inDays(2), ticket_rates: [aRateNamed('shown')] }).event,
  ],
})

test('check-in admits a ticket once and says when', async () => {
  const { qrCode, id } = await aPaidTicket(sale, { rate: 'soon' })
  const first = await scanTicket(sale, { qrCode })
  expect(first).toMatchObject({ outcome: 'OK', firstEnteredAt: null, replayed: false })
  expect(first.ticket).toMatchObject({ id, inside: 1 })
  const again = await scanTicket(sale, { ticketId: id })
  expect(again).toMatchObject({ outcome: 'NO_ENTRIES_LEFT', firstEnteredAt: first.ticket?.lastEnteredAt })
  expect(again.ticket).toMatchObject({
    inside: 1,
    firstEnteredAt: first.ticket?.lastEnteredAt,
    lastEnteredAt: first.ticket?.lastEnteredAt,
  })
  const lookup = await sale.rest('GET', `/integrations/tickets/${id}`, { headers: sale.integration.v2 })
  const seconds = Math.floor(Date.parse(first.ticket?.lastEnteredAt ?? '') / 1000)
  expect(lookup.json().data).toMatchObject({ enter: 1, entry_date: seconds })
})

test('check-in records a change for an entry and an exit, and for nothing else', async () => {
  const { id } = await aPaidTicket(sale, { rate: 'soon' })
  await scanTicket(sale, { ticketId: id })
  await scanTicket(sale, { ticketId: id })
  await scanTicket(sale, { ticketId: id, direction: 'OUT' })
  const recorded = await sale.db
    .select()
    .from(changes)
    .where(eq(changes.subjectId, id))
    .orderBy(asc(changes.sequence))
  expect(recorded.map(({ type, sequence, data }) => [type, sequence, data.enter])).toEqual([
    ['ticket.activated', 1, 0],
    ['ticket.entered', 2, 1],
    ['ticket.updated', 3, 0],
  ])
})

test('check-in OUT lets a ticket in again', async () => {
  const { id } = await aPaidTicket(sale, { rate: 'soon' })
  expect(await scanTicket(sale, { ticketId: id, direction: 'OUT' })).toMatchObject({ outcome: 'NOT_INSIDE' })
  await scanTicket(sale, { ticketId: id })
  expect(await scanTicket(sale, { ticketId: id, direction: 'OUT' })).toMatchObject({
    outcome: 'OK',
    ticket: { inside: 0 },
  })
  expect(await scanTicket(sale, { ticketId: id })).toMatchObject({ outcome: 'OK', ticket: { inside: 1 } })
})

test('check-in with a used key repeats its answer, and refuses another scan', async () => {
  const { id } = await aPaidTicket(sale, { rate: 'soon' })
  const idempotencyKey = 'once'
  expect(await scanTicket(sale, { ticketId: id, idempotencyKey })).toMatchObject({
    outcome: 'OK',
    replayed: false,
  })
  expect(await scanTicket(sale, { ticketId: id, idempotencyKey })).toMatchObject({
    outcome: 'OK',
    replayed: true,
  })
  expect((await scanTicket(sale, { ticketId: id, idempotencyKey, direction: 'OUT' })).errors).toEqual([
    { code: 'IDEMPOTENCY_KEY_REUSED', path: 'idempotencyKey' },
  ])
  // Keys are scoped to an integration.
  const other = await integrationHeaders(sale.db)
  expect(await scanTicket(sale, { ticketId: id, idempotencyKey }, other.v2)).toMatchObject({
    outcome: 'NO_ENTRIES_LEFT',
  })
})

test('check-in of one ticket many times at once admits it once', async () => {
  const { qrCode } = await aPaidTicket(sale, { rate: 'soon' })
  const same = await Promise.all(
    Array.from({ length: 4 }, () => scanTicket(sale, { qrCode, idempotencyKey: 'same' })),
  )
  expect(same.map(({ outcome }) => outcome)).toEqual(['OK', 'OK', 'OK', 'OK'])
  expect(same.filter(({ replayed }) => !replayed)).toHaveLength(1)
  const fresh = await aPaidTicket(sale, { rate: 'soon' })
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => scanTicket(sale, { qrCode: fresh.qrCode })),
  )
  expect(answers.map(({ outcome }) => outcome).sort()).toEqual([
    ...Array.from({ length: 3 }, () => 'NO_ENTRIES_LEFT'),
    'OK',
  ])
})

test('check-in refuses tickets that are unpaid, of another event, unknown or cancelled, even with force', async () => {
  const unpaid = await aHeldTicket(sale, { rate: 'soon' })
  const ticket = await aPaidTicket(sale, { rate: 'soon' })
  const others = await aPaidTicket(sale, { rate: 'others' })
  for (const force of [false, true]) {
    expect(await scanTicket(sale, { qrCode: unpaid.qrCode, force })).toMatchObject({ outcome: 'UNPAID' })
    expect(await scanTicket(sale, { qrCode: ticket.qrCode, eventId: 'later', force })).toMatchObject({
      outcome: 'WRONG_EVENT',
      ticket: { inside: 0 },
    })
    for (const unknown of [{ qrCode: 'NOBODYS' }, { ticketId: 'tkt_nobodys' }, { ticketId: others.id }])
      expect(await scanTicket(sale, { ...unknown, force })).toMatchObject({
        outcome: 'NOT_FOUND',
        ticket: null,
      })
  }
  await sale.db.update(tickets).set({ status: 'cancelled' }).where(eq(tickets.id, ticket.id))
  expect(await scanTicket(sale, { qrCode: ticket.qrCode, force: true })).toMatchObject({
    outcome: 'CANCELLED',
  })
})

test('check-in opens twelve hours before the event by the time of the scan', async () => {
  const { id } = await aPaidTicket(sale, { rate: 'later' })
  expect(await scanTicket(sale, { ticketId: id })).toMatchObject({
    outcome: 'TOO_EARLY',
    ticket: { inside: 0 },
  })
  const offline = await aPaidTicket(sale, { rate: 'later' })
  const at = new Date(Date.now() - 60_000).toISOString()
  await sale.db
    .update(events)
    .set({ startDate: new Date(Date.parse(at) + 11.9 * 3_600_000) })
    .where(eq(events.id, 'later'))
  expect(await scanTicket(sale, { ticketId: offline.id, scannedAt: at })).toMatchObject({
    outcome: 'OK',
    ticket: { lastEnteredAt: at },
  })
  const ahead = new Date(Date.now() + 3_600_000).toISOString()
  expect((await scanTicket(sale, { ticketId: offline.id, scannedAt: ahead })).errors).toEqual([
    { code: 'INVALID', path: 'scannedAt' },
  ])
})

test('check-in with force admits before the doors open, on the day of the event at its venue alone', async () => {
  const { id } = await aPaidTicket(sale, { rate: 'today' })
  expect(await scanTicket(sale, { ticketId: id })).toMatchObject({
    outcome: 'TOO_EARLY',
    ticket: { inside: 0 },
  })
  expect(await scanTicket(sale, { ticketId: id, force: true })).toMatchObject({
    outcome: 'OK',
    ticket: { inside: 1 },
  })
  // The same hour as `today`, where it is another day by then; an event that is shown with another day.
  for (const event of ['tomorrow', 'shown']) {
    const { id, qrCode } = await aPaidTicket(sale, { rate: event })
    for (const ticket of [{ ticketId: id }, { qrCode }, { ticketId: id, eventId: event }])
      expect(await scanTicket(sale, { ...ticket, force: true })).toMatchObject({
        ...{ outcome: 'TOO_EARLY', forced: true, ticket: { inside: 0 } },
      })
  }
})

test('check-in with force admits a ticket already inside without counting it twice', async () => {
  const { id } = await aPaidTicket(sale, { rate: 'soon' })
  const first = await scanTicket(sale, { ticketId: id })
  const again = await scanTicket(sale, { ticketId: id, force: true })
  expect(again).toMatchObject({
    outcome: 'OK',
    firstEnteredAt: first.ticket?.lastEnteredAt,
    ticket: { inside: 1 },
  })
})

test('check-in of a code used twice takes the given event, and else tells of the nearest', async () => {
  const [later, soon] = [
    await aPaidTicket(sale, { rate: 'later', entry: { qr_code: 'TWICE' } }),
    await aPaidTicket(sale, { rate: 'soon', entry: { qr_code: 'TWICE' } }),
  ]
  expect(await scanTicket(sale, { qrCode: 'TWICE', eventId: 'later', force: true })).toMatchObject({
    ticket: { id: later.id },
  })
  expect(await scanTicket(sale, { qrCode: 'TWICE', eventId: 'today' })).toMatchObject({
    outcome: 'WRONG_EVENT',
    ticket: { id: soon.id },
  })
})

test('check-in of a code used twice tells of the ticket of the given event, though it was cancelled', async () => {
  const cancelled = await aPaidTicket(sale, { rate: 'soon', entry: { qr_code: 'BOTH' } })
  await cancelTicket(sale, cancelled.id)
  await aPaidTicket(sale, { rate: 'later', entry: { qr_code: 'BOTH' } })
  expect((await scanTicket(sale, { qrCode: 'BOTH', eventId: 'soon' })).outcome).toBe('CANCELLED')
})

test.each([
  [{ qrCode: 'with space' }, 'ticket.qrCode'],
  [{ ticketId: '' }, 'ticket.ticketId'],
  [{ qrCode: 'A', idempotencyKey: ' ' }, 'idempotencyKey'],
])('check-in with %j is refused', async (given, path) => {
  expect((await scanTicket(sale, given)).errors).toEqual([expect.objectContaining({ path })])
})

test.each([
  [{}],
  [{ qrCode: 'A', ticketId: 'tkt_1' }],
  [{ qrCode: null }],
  [{ qrCode: 'A', ticketId: null }],
])('check-in takes one of code and identifier, not %j', async (given) => {
  const input = { ticket: given, idempotencyKey: 'one' }
  const mutation = 'mutation ($input: CheckInTicketInput!) { checkInTicket(input: $input) { __typename } }'
  const { data, errors } = await sale.graphql(mutation, { input }, sale.integration.v2)
  expect(data).toBeUndefined()
  expect(errors?.[0]).toMatchObject({ extensions: { code: 'BAD_REQUEST' } })
  expect(errors?.[0]?.message).toMatch(/"input\.ticket"|ScannedTicketInput|"qrCode"/)
})

test('check-in with the key of a channel is refused', async () => {
  const { data, errors } = await sale.graphql(
    'mutation { checkInTicket(input: { ticket: { qrCode: "A" }, eventId: "evt_1", idempotencyKey: "1" }) { __typename } }',
    {},
    sale.channel,
  )
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'FORBIDDEN' })
  expect(data).toEqual({ checkInTicket: null })
})
