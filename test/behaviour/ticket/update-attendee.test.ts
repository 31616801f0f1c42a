// Runs in: postgres, slow-forms

import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changes } from '../../../src/domain/change/table.ts'
import { deliveries } from '../../../src/domain/delivery/table.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { callHolderMutation, scanCode, updateAttendee } from '../../support/attendees.ts'
import { sendDeliveriesOnce } from '../../support/deliveries.ts'
import { anEventAtDoor } from '../../support/door.ts'
import {
  anEvent,
  anOrganization,
  aRateNamed,
  channelHeaders,
  integrationHeaders,
} from '../../support/factories.ts'
import { type MailServer, startMailServer } from '../../support/mail-server.ts'
import * as refunds from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { aPaidTicket, buyTickets, holdTickets, payFor, ticketOf } from '../../support/tickets.ts'

// updateAttendees with one attendee: what was typed is corrected, until somebody enters.

let server: MailServer
const sale = sharedSale({
  organizations: [anOrganization({ language: 'ca' }), anOrganization({ _id: 'org_2' })],
  events: [
    anEvent({
      age: '+18',
      start_date: '2099-07-11T22:30:00.000Z',
      end_date: '2099-07-12T04:00:00.000Z',
      ticket_rates: [aRateNamed('1')],
    }),
    anEventAtDoor({ ticket_rates: [aRateNamed('tonight')] }),
  ],
})
beforeAll(async () => {
  server = await startMailServer()
})
afterAll(() => server.close())

const everything = {
  fullName: 'Ana Núñez Gil',
  email: 'ana.nunez@example.com',
  phone: '+34600111222',
  birthday: '1990-02-03',
  address: 'Calle Mayor 1',
  postalCode: '28013',
  countryCode: 'PT',
  personalDocumentType: 'PASSPORT',
  personalDocumentNumber: 'X123',
  language: 'pt',
}
const cleared = Object.fromEntries(Object.keys(everything).map((name) => [name, null]))

const unpaid = (more = {}) => holdTickets(sale, more)

test.each([
  ['the channel that sold it', () => sale.channel],
  ['an integration of its organization', () => sale.integration.v2],
  ['an integration by id and secret', () => sale.integration.v1],
])('%s corrects every field of an attendee, and clears those that are optional', async (_who, headers) => {
  const { id } = await aPaidTicket(sale)
  const { ticket } = await updateAttendee(sale, id, { ...everything, countryCode: 'pt' }, headers())
  expect(ticket).toMatchObject({ id, status: 'ACTIVATED', ...everything })
  const { fullName, email } = everything
  const emptied = await updateAttendee(sale, id, { ...cleared, fullName, email }, headers())
  // An attendee without a language is addressed in the organization's.
  expect(emptied.ticket).toMatchObject({ ...cleared, fullName, email, language: 'ca' })
  const rows = await sale.db.select().from(changes).where(eq(changes.subjectId, id))
  const updates = rows.filter(({ type }) => type === 'ticket.updated')
  expect(updates.map(({ sequence }) => sequence).toSorted()).toEqual([2, 3])
  for (const { data } of updates) {
    expect(Object.keys(data).toSorted()).toEqual(
      ['enter', 'event_id', 'for', 'payment_id', 'status', 'ticket_id', 'ticket_rate_id'].toSorted(),
    )
    expect(data.status).toBe('activated')
  }
})

test('a correction leaves code, document and fields that it does not name, and again changes nothing', async () => {
  const { id } = await aPaidTicket(sale, { entry: { phone: '+34600000001', address: 'Here' } })
  const before = await refunds.ticketRow(sale, id)
  await updateAttendee(sale, id, { fullName: ' Ana Gil ' })
  const after = await refunds.ticketRow(sale, id)
  expect(after).toEqual({
    ...before,
    fullName: 'Ana Gil',
    searchName: 'ana gil',
    updatedAt: after?.updatedAt,
  })
  expect(Number(after?.updatedAt)).toBeGreaterThan(Number(before?.updatedAt))
  const { ticket } = await updateAttendee(sale, id, { fullName: 'Ana Gil', address: 'Here' })
  expect(ticket).toMatchObject({ fullName: 'Ana Gil', phone: '+34600000001', address: 'Here' })
  expect(await refunds.changeTypesOf(sale, id)).toEqual(['ticket.activated', 'ticket.updated'])
  await updateAttendee(sale, id, {})
  expect(await refunds.changeTypesOf(sale, id)).toHaveLength(2)
})

test('an address and an identity document are replaced as a whole, and cleared by null', async () => {
  const { id } = await aPaidTicket(sale)
  const told = { address: 'Calle Mayor 1', postalCode: '28013', countryCode: 'PT' }
  const document = { personalDocumentType: 'passport', personalDocumentNumber: 'X123' }
  await updateAttendee(sale, id, { ...told, ...document, personalDocumentType: 'PASSPORT' })
  expect(await refunds.ticketRow(sale, id)).toMatchObject({ ...told, ...document })
  const correct = async (correction: object) => {
    const input = { attendees: [{ ticketId: id, ...correction }] }
    expect((await callHolderMutation(sale, 'updateAttendees', input, sale.channel)).errors).toBeUndefined()
    return refunds.ticketRow(sale, id)
  }
  expect(await correct({ address: { street: 'Rua Nova 2' } })).toMatchObject({
    ...{ address: 'Rua Nova 2', postalCode: null, countryCode: null, ...document },
  })
  expect(await correct({ identityDocument: null, phone: '+34600000001' })).toMatchObject({
    ...{ address: 'Rua Nova 2', personalDocumentType: null, personalDocumentNumber: null },
  })
  expect(await correct({ address: null })).toMatchObject({ address: null, phone: '+34600000001' })
})

test('a name is kept composed, with one space and no marks of direction; joiners within a word stay', async () => {
  const { id } = await aPaidTicket(sale)
  const { ticket } = await updateAttendee(sale, id, {
    fullName: '\u200fAna  Nu\u0301n\u0303ez\u00a0 Gil\u200e',
  })
  expect(ticket?.fullName).toBe('Ana Núñez Gil')
  const persian = await updateAttendee(sale, id, { fullName: 'علی\u200cپور' })
  expect(persian.ticket?.fullName).toBe('علی\u200cپور')
})

test('a correction shows later in the same request, and over REST', async () => {
  const { payment_id: paymentId, tickets: issued } = await buyTickets(sale)
  const [ticket] = issued
  const { data } = await sale.graphql<Record<string, unknown>>(
    `mutation ($id: ID!) {
      none: cancelPayment(input: { paymentId: "pay_none" }) { __typename }
      done: updateAttendees(input: { attendees: [{ ticketId: $id, fullName: "Zoe" }] }) {
        ... on UpdateAttendeesPayload { tickets { payment { id tickets { attendee { fullName } } } } } } }`,
    { id: ticket?._id },
    sale.channel,
  )
  expect(data?.done).toEqual({
    tickets: [{ payment: { id: paymentId, tickets: [{ attendee: { fullName: 'Zoe' } }] } }],
  })
  const lookup = await sale.rest('GET', `/integrations/tickets/${ticket?._id}`, {
    headers: sale.integration.v2,
  })
  expect(lookup.json().data).toMatchObject({ name: 'Zoe' })
})

test('an address that is corrected before payment gets the mail; one that is corrected later does not', async () => {
  const checkout = await unpaid({ send_resourcers: true })
  const id = ticketOf(checkout)
  const { ticket } = await updateAttendee(sale, id, { email: 'right@example.com' })
  expect(ticket?.status).toBe('PENDING')
  await payFor(sale, checkout)
  await sendDeliveriesOnce(sale, { SMTP_URL: server.url })
  expect(server.mails.map(({ to }) => to)).toEqual([['right@example.com']])
  await updateAttendee(sale, id, { email: 'later@example.com' })
  await sendDeliveriesOnce(sale, { SMTP_URL: server.url })
  expect(server.mails).toHaveLength(1)
})

test('a mail that waits while its address is corrected is not sent to the former one', async () => {
  const checkout = await unpaid({ send_resourcers: true })
  await payFor(sale, checkout)
  await updateAttendee(sale, ticketOf(checkout), { email: 'other@example.com' })
  const sent = server.mails.length
  await sendDeliveriesOnce(sale, { SMTP_URL: server.url })
  expect(server.mails).toHaveLength(sent)
  const [delivery] = await sale.db
    .select()
    .from(deliveries)
    .where(eq(deliveries.paymentId, checkout.payment_id))
  expect(delivery).toMatchObject({ status: 'skipped', lastError: 'NO_TICKETS' })
})

test.each([
  [{ fullName: null }, 'INVALID fullName'],
  [{ fullName: 'Ana\nNúñez' }, 'INVALID fullName'],
  [{ fullName: '\u202eanA' }, 'INVALID fullName'],
  [{ fullName: 'x'.repeat(201) }, 'INVALID fullName'],
  [{ email: null }, 'INVALID email'],
  [{ email: 'ana' }, 'INVALID email'],
  [{ phone: '600' }, 'INVALID phone'],
  [{ birthday: '2001-02-30' }, 'INVALID birthDate'],
  [{ postalCode: 'x'.repeat(21) }, 'INVALID address.postalCode'],
  [{ countryCode: 'XX' }, 'INVALID address.countryCode'],
  [{ personalDocumentNumber: '\0' }, 'INVALID identityDocument.number'],
  [{ language: 'klingon!' }, 'INVALID language'],
])('a correction to %j is refused as in a checkout', async (given, problem) => {
  const { id } = await aPaidTicket(sale)
  const before = await refunds.ticketRow(sale, id)
  expect(refunds.refusalCodes(await updateAttendee(sale, id, { postalCode: '1', ...given }))).toEqual([
    problem.replace(' ', ' attendees.0.'),
  ])
  expect(await refunds.ticketRow(sale, id)).toEqual(before)
})

test('a blank field corrects nothing', async () => {
  const { id } = await aPaidTicket(sale)
  const before = await refunds.ticketRow(sale, id)
  expect((await updateAttendee(sale, id, { fullName: '', address: ' ' })).errors).toBeUndefined()
  expect(await refunds.ticketRow(sale, id)).toEqual(before)
})

test('every mistake of a correction is reported at once', async () => {
  const { id } = await aPaidTicket(sale)
  const answer = await updateAttendee(sale, id, { email: 'x', phone: 'x' })
  expect(refunds.refusalCodes(answer)).toEqual(['INVALID attendees.0.email', 'INVALID attendees.0.phone'])
})

test.each([
  ['is inside', { entered: 1, firstEntryAt: new Date() }],
  ['was inside', { entered: 0, firstEntryAt: new Date() }],
])('a correction is refused once somebody %s', async (_how, entry) => {
  const { id } = await aPaidTicket(sale)
  await sale.db.update(tickets).set(entry).where(eq(tickets.id, id))
  expect(refunds.refusalCodes(await updateAttendee(sale, id, everything))).toEqual([
    'ALREADY_ENTERED attendees.0.ticketId',
  ])
})

test('a correction after a scan at the door is refused', async () => {
  const { id } = await aPaidTicket(sale, { rate: 'tonight' })
  expect(await scanCode(sale, { ticketId: id })).toBe('OK')
  expect(refunds.refusalCodes(await updateAttendee(sale, id, everything))).toEqual([
    'ALREADY_ENTERED attendees.0.ticketId',
  ])
})

test('a correction of a ticket that is cancelled or expired is refused', async () => {
  const { id: cancelled } = await aPaidTicket(sale)
  await refunds.cancelTicket(sale, cancelled)
  const expired = await unpaid()
  await refunds.cancelPayment(sale, expired.payment_id)
  for (const [id, status] of [
    [cancelled, 'CANCELLED'],
    [ticketOf(expired), 'EXPIRED'],
  ] as const)
    expect(refunds.refusalCodes(await updateAttendee(sale, id, everything))).toEqual([
      `ILLEGAL_TRANSITION attendees.0.ticketId ${status}`,
    ])
})

test('a correction of a foreign ticket is the same as of an absent one', async () => {
  const { id } = await aPaidTicket(sale)
  const other = await channelHeaders(sale.db, 'org_1')
  const { v2: door } = await integrationHeaders(sale.db, 'org_2')
  for (const answer of [
    await updateAttendee(sale, id, everything, other),
    await updateAttendee(sale, id, everything, door),
    await updateAttendee(sale, 'tkt_none', everything),
    await updateAttendee(sale, '\0', everything),
  ])
    expect(refunds.refusalCodes(answer)).toEqual(['NOT_FOUND attendees.0.ticketId'])
  const { data, errors } = await callHolderMutation(
    ...([sale, 'updateAttendees', { attendees: [{ ticketId: id }] }, {}] as const),
  )
  expect([data, errors?.map(({ extensions }) => extensions?.code)]).toEqual([
    { updateAttendees: null },
    ['UNAUTHENTICATED'],
  ])
  expect((await refunds.ticketRow(sale, id))?.fullName).toBe('Ana Núñez')
})
