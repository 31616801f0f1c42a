// Runs in: postgres

import { eq } from 'drizzle-orm'
import { beforeAll, expect, test } from 'vitest'
import { changes } from '../../../src/domain/change/table.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { callHolderMutation, updateAttendees } from '../../support/attendees.ts'
import { toItems } from '../../support/contract-input.ts'
import { anEvent, anOrganization, aRateNamed, channelHeaders, inDays } from '../../support/factories.ts'
import * as refunds from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { buyTickets } from '../../support/tickets.ts'

// updateAttendees: up to 200 attendees in one call, all or none. The rules of one are in update-attendee.test.ts.

const event = (organization: string, number: number, age?: string) =>
  anEvent({
    organization_id: organization,
    ...(age && { age }),
    start_date: inDays(30),
    end_date: inDays(31),
    ticket_rates: [aRateNamed(number)],
  })

let everywhere: Record<string, string>
const sale = sharedSale({
  organizations: [anOrganization({ language: 'ca' }), anOrganization({ _id: 'org_2' })],
  events: [event('org_1', 1), event('org_1', 2, '+18'), event('org_2', 3)],
})
beforeAll(async () => {
  everywhere = await channelHeaders(sale.db, 'org_1', 'org_2')
})

const idsOf = ({ tickets }: { tickets: { _id: string }[] }) => tickets.map(({ _id }) => _id)
const rowsOf = async (ids: string[]) => Promise.all(ids.map((id) => refunds.ticketRow(sale, id)))
const changesOf = async (ids: string[]) =>
  (await Promise.all(ids.map((id) => refunds.changeTypesOf(sale, id)))).flat()

test('thirty attendees of several payments are corrected at once, in the order of the call', async () => {
  const ids = [
    ...idsOf(await buyTickets(sale, { count: 20 })),
    ...idsOf(await buyTickets(sale, { rate: '2', count: 10 })),
  ].toReversed()
  const attendees = ids.map((ticketId, index) => ({
    ticketId,
    // Each names other fields.
    ...(index % 2 ? { fullName: `Guest ${index}` } : { email: `guest-${index}@example.com`, language: null }),
    ...(index % 3 === 0 && { birthday: '1990-01-02', address: 'Calle "Mayor", \\ 1' }),
  }))
  const { tickets: answered } = await updateAttendees(sale, attendees, sale.integration.v2)
  expect(answered?.map(({ id }) => id)).toEqual(ids)
  expect(answered?.[1]).toMatchObject({ fullName: 'Guest 1', email: 'ana@example.com', birthday: null })
  expect(answered?.[6]).toMatchObject({
    fullName: 'Ana Núñez',
    email: 'guest-6@example.com',
    birthday: '1990-01-02',
    address: 'Calle "Mayor", \\ 1',
    language: 'ca',
  })
  expect((await rowsOf(ids)).map((row) => row?.searchName)).toEqual(
    ids.map((_, index) => (index % 2 ? `guest ${index}` : 'ana nunez')),
  )
  expect((await changesOf(ids)).filter((type) => type === 'ticket.updated')).toHaveLength(30)
  // Once more changes nothing.
  await updateAttendees(sale, attendees)
  expect((await changesOf(ids)).filter((type) => type === 'ticket.updated')).toHaveLength(30)
})

test('the number of statements does not depend on the number of attendees', async () => {
  const ids = idsOf(await buyTickets(sale, { count: 20 }))
  const costOf = async (count: number, fullName: string) => {
    sale.statements.reset()
    const { errors } = await updateAttendees(
      sale,
      ids.slice(0, count).map((ticketId) => ({ ticketId, fullName })),
    )
    expect(errors).toBeUndefined()
    return sale.statements.length
  }
  const one = await costOf(1, 'Bo')
  expect(one).toBeLessThan(12)
  expect(await costOf(20, 'Cy')).toBe(one)
})

test('every mistake is reported with its place, and nothing is changed', async () => {
  const [good, cancelled, entered, minor] = [
    ...idsOf(await buyTickets(sale, { count: 3 })),
    ...idsOf(await buyTickets(sale, { rate: '2' })),
  ] as [string, string, string, string]
  await refunds.cancelTicket(sale, cancelled)
  await sale.db.update(tickets).set({ firstEntryAt: new Date() }).where(eq(tickets.id, entered))
  const before = [await rowsOf([good, cancelled, entered, minor]), await sale.db.$count(changes)]
  const send = async (attendees: object[], headers = sale.channel) =>
    refunds.refusalCodes(await updateAttendees(sale, attendees, headers))
  const wrong = [
    { ticketId: good, email: 'x' },
    { ticketId: minor, phone: 'x' },
  ]
  expect(await send(wrong)).toEqual(['INVALID attendees.0.email', 'INVALID attendees.1.phone'])
  expect(
    await send([
      { ticketId: good, fullName: 'Zoe' },
      { ticketId: cancelled, fullName: 'Zoe' },
      { ticketId: entered, fullName: 'Zoe' },
      { ticketId: minor, birthday: `${new Date().getUTCFullYear() - 5}-01-01` },
    ]),
  ).toEqual([
    'ILLEGAL_TRANSITION attendees.1.ticketId CANCELLED',
    'ALREADY_ENTERED attendees.2.ticketId',
    'UNDER_AGE attendees.3.birthDate 18',
  ])
  const absent = [{ ticketId: good }, { ticketId: 'tkt_none' }, { ticketId: '\0' }]
  expect(await send(absent)).toEqual(['NOT_FOUND attendees.1.ticketId', 'NOT_FOUND attendees.2.ticketId'])
  expect(await send([{ ticketId: good }, { ticketId: minor }, { ticketId: good }])).toEqual([
    'INVALID attendees.2.ticketId',
  ])
  expect(await send([])).toEqual(['INVALID attendees'])
  expect(await send(Array.from({ length: 201 }, () => ({ ticketId: good })))).toEqual(['INVALID attendees'])
  expect([await rowsOf([good, cancelled, entered, minor]), await sale.db.$count(changes)]).toEqual(before)
})

test('attendees are of one organization, and foreign ones are like absent ones', async () => {
  const [own] = idsOf(await buyTickets(sale))
  const buyOne = async (number: number) => {
    const items = toItems(`rate_${number}`, [
      { priceId: `price_${number}`, fullName: 'Ana', email: 'a@example.com' },
    ])
    const { data } = await sale.graphql<{ checkout: { tickets: { id: string }[] } }>(
      `mutation ($input: CheckoutInput!) { checkout(input: $input) { ... on CheckoutPayload { tickets { id } } } }`,
      { input: { items, idempotencyKey: crypto.randomUUID() } },
      everywhere,
    )
    return data?.checkout.tickets[0]?.id
  }
  const theirs = await buyOne(3)
  const foreign = await updateAttendees(sale, [{ ticketId: own }, { ticketId: theirs }])
  expect(refunds.refusalCodes(foreign)).toEqual(['NOT_FOUND attendees.1.ticketId'])
  const two = [
    { ticketId: theirs, fullName: 'Bo' },
    { ticketId: await buyOne(1), fullName: 'Bo' },
  ]
  expect(refunds.refusalCodes(await updateAttendees(sale, two, everywhere))).toEqual([
    'INVALID attendees.1.ticketId',
  ])
  const { data: none, errors } = await callHolderMutation(sale, 'updateAttendees', { attendees: [] }, {})
  expect([none, errors?.map(({ extensions }) => extensions?.code)]).toEqual([
    { updateAttendees: null },
    ['UNAUTHENTICATED'],
  ])
})
