// Runs in: postgres, slow-forms

import { asc, eq } from 'drizzle-orm'
import { afterAll, expect, test } from 'vitest'
import { changes } from '../../../src/domain/change/table.ts'
import { laterToday, scanTicket } from '../../support/door.ts'
import { aLocation, anEvent, aRateNamed, inDays } from '../../support/factories.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import { cancelTicket } from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { aPaidTicket } from '../../support/tickets.ts'

// Check-in of several people with one ticket.

const start = { start_date: inDays(0.1), end_date: inDays(0.3) }
const today = laterToday({ ticket_rates: [aRateNamed('later', { admits: 2 })] })
const sale = sharedSale({
  locations: [aLocation(), today.location],
  events: [
    anEvent({ ...start, ticket_rates: [aRateNamed('table', { admits: 4 }), aRateNamed('single')] }),
    today.event,
  ],
})
afterAll(async () => expect(await brokenInvariants(sale.db)).toEqual([]))

const buy = async (name: string) => (await aPaidTicket(sale, { rate: name })).id

const admitted = (people: number, inside: number) => ({ outcome: 'OK', people, inside, admits: 4 })
const refused = (people: number, inside: number) => ({
  ...admitted(people, inside),
  outcome: 'NO_ENTRIES_LEFT',
})

test('a table for four enters in parts, and never with a fifth person', async () => {
  const ticketId = await buy('table')
  expect(await scanTicket(sale, { ticketId })).toMatchObject(admitted(1, 1))
  expect(await scanTicket(sale, { ticketId, people: 2 })).toMatchObject(admitted(2, 3))
  expect(await scanTicket(sale, { ticketId, people: 2 })).toMatchObject(refused(2, 3))
  expect(await scanTicket(sale, { ticketId })).toMatchObject(admitted(1, 4))
  expect(await scanTicket(sale, { ticketId })).toMatchObject(refused(1, 4))
})

test('a table for four enters at once', async () => {
  const ticketId = await buy('table')
  expect(await scanTicket(sale, { ticketId, people: 5 })).toMatchObject(refused(5, 0))
  expect(await scanTicket(sale, { ticketId, people: 4 })).toMatchObject(admitted(4, 4))
})

test('both lookups and the checkout view count the people', async () => {
  const ticketId = await buy('table')
  await scanTicket(sale, { ticketId, people: 3 })
  const { data } = await sale.graphql(
    'query ($id: ID!) { ticket(id: $id) { admits inside } }',
    { id: ticketId },
    sale.channel,
  )
  expect(data).toEqual({ ticket: { admits: 4, inside: 3 } })
  const lookup = await sale.rest('GET', `/integrations/tickets/${ticketId}`, { headers: sale.integration.v2 })
  expect(lookup.json().data).toMatchObject({ for: 4, enter: 3 })
})

test('people leave together, all or none, and may enter again', async () => {
  const ticketId = await buy('table')
  await scanTicket(sale, { ticketId, people: 3 })
  const out = { ticketId, direction: 'OUT' } as const
  expect(await scanTicket(sale, { ...out, people: 4 })).toMatchObject({ outcome: 'NOT_INSIDE', inside: 3 })
  expect(await scanTicket(sale, { ...out, people: 2 })).toMatchObject(admitted(2, 1))
  expect(await scanTicket(sale, { ticketId, people: 3 })).toMatchObject(admitted(3, 4))
  expect(await scanTicket(sale, { ...out, people: 4 })).toMatchObject(admitted(4, 0))
})

test('force admits people who left without a scan, but never more than the ticket admits', async () => {
  const ticketId = await buy('table')
  await scanTicket(sale, { ticketId, people: 3 })
  expect(await scanTicket(sale, { ticketId, people: 2, force: true })).toMatchObject(admitted(2, 4))
  expect(await scanTicket(sale, { ticketId, people: 4, force: true })).toMatchObject(admitted(4, 4))
  expect(await scanTicket(sale, { ticketId, people: 5, force: true })).toMatchObject(refused(5, 4))
  const out = { ticketId, direction: 'OUT', force: true } as const
  expect(await scanTicket(sale, { ...out, people: 5 })).toMatchObject({ outcome: 'NOT_INSIDE', inside: 4 })
  const later = await buy('later')
  expect(await scanTicket(sale, { ticketId: later, people: 2 })).toMatchObject({ outcome: 'TOO_EARLY' })
  const forced = { ticketId: later, people: 2, force: true }
  expect(await scanTicket(sale, forced)).toMatchObject({ outcome: 'OK', inside: 2 })
})

test('a key belongs to its number of people, and its repetition counts nobody', async () => {
  const ticketId = await buy('table')
  const pair = { ticketId, people: 2, idempotencyKey: 'pair' }
  expect(await scanTicket(sale, pair)).toMatchObject({ ...admitted(2, 2), replayed: false })
  expect(await scanTicket(sale, pair)).toMatchObject({ ...admitted(2, 2), replayed: true })
  const reused = [{ code: 'IDEMPOTENCY_KEY_REUSED', path: 'idempotencyKey' }]
  expect((await scanTicket(sale, { ...pair, people: 1 })).errors).toEqual(reused)
  // A repetition shows who was inside then.
  await scanTicket(sale, { ticketId })
  expect(await scanTicket(sale, pair)).toMatchObject({
    ...{ outcome: 'OK', people: 2, inside: 2, replayed: true, ticket: { inside: 3 } },
  })
})

test('a change says how many people entered, and how many are inside after an exit', async () => {
  const ticketId = await buy('table')
  await scanTicket(sale, { ticketId, people: 3 })
  await scanTicket(sale, { ticketId, people: 2 })
  await scanTicket(sale, { ticketId, people: 2, direction: 'OUT' })
  await scanTicket(sale, { ticketId })
  const recorded = await sale.db
    .select()
    .from(changes)
    .where(eq(changes.subjectId, ticketId))
    .orderBy(asc(changes.sequence))
  expect(recorded.slice(1).map(({ type, data }) => [type, data.people, data.enter, data.for])).toEqual([
    ['ticket.entered', 3, 3, 4],
    ['ticket.updated', undefined, 1, 4],
    ['ticket.entered', 1, 2, 4],
  ])
})

test('a group of which somebody entered cannot be cancelled', async () => {
  const ticketId = await buy('table')
  await scanTicket(sale, { ticketId, people: 2 })
  await scanTicket(sale, { ticketId, people: 2, direction: 'OUT' })
  expect((await cancelTicket(sale, ticketId)).errors?.map(({ code }) => code)).toEqual(['ALREADY_ENTERED'])
})

test('an unknown ticket counts nobody', async () => {
  const unknown = { outcome: 'NOT_FOUND', people: 2, inside: null, admits: null, ticket: null }
  expect(await scanTicket(sale, { ticketId: 'tkt_nobodys', people: 2 })).toMatchObject(unknown)
})

test.each([0, -1])('a scan of %i people is refused', async (people) => {
  const ticketId = await buy('table')
  expect((await scanTicket(sale, { ticketId, people })).errors).toEqual([{ code: 'INVALID', path: 'people' }])
  expect(await scanTicket(sale, { ticketId, people: 2_147_483_647 })).toMatchObject({
    outcome: 'NO_ENTRIES_LEFT',
  })
})
