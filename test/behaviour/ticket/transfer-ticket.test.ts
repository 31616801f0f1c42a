// Runs in: postgres, slow-forms

import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { changes } from '../../../src/domain/change/table.ts'
import { searchNameOf } from '../../../src/domain/event/search-words.ts'
import { events } from '../../../src/domain/event/table.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import {
  berta,
  callHolderMutation,
  deliveriesOf,
  pathOf,
  retiredOf,
  scanCode,
  transferTicket,
  updateAttendee,
} from '../../support/attendees.ts'
import { anEntry, countersOf, mustCheckOut } from '../../support/checkouts.ts'
import { openDoors } from '../../support/door.ts'
import {
  anEvent,
  anOrganization,
  aQuestion,
  aRateNamed,
  channelHeaders,
  integrationHeaders,
} from '../../support/factories.ts'
import * as refunds from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { stubProvider } from '../../support/stub-provider.ts'
import { aPaidTicket, buyTickets, ticketOf } from '../../support/tickets.ts'

// transferTicket: another holder, another code, another document. Mails are in delivery/transfer-mails.test.ts.

const rate = (name: string, more = {}) => aRateNamed(name, more)

const provider = stubProvider({
  refund: async ({ id }) => ({ kind: 'succeeded', reference: `re_${id}` }),
})

const sale = sharedSale({
  organizations: [anOrganization({ language: 'es' }), anOrganization({ _id: 'org_2' })],
  events: [
    anEvent({
      ticket_rates: [
        rate('1', { questions: [aQuestion({ _id: 'que_1', required: true })] }),
        rate('full', { availability: { sold: 0, available: 2 } }),
        rate('own', { transferable: false }),
      ],
    }),
    anEvent({ _id: 'evt_over', ticket_rates: [rate('over')] }),
  ],
  settings: { ...openDoors, PUBLIC_URL: 'https://tickets.example' },
  provider,
})

const personal = {
  phone: '+34600000001',
  gender: '1',
  birthday: '1990-01-02',
  address: 'Calle Mayor 1',
  postal_code: '28013',
  country_code: 'ES',
  personal_document_type: 'dni',
  personal_document_number: '12345678Z',
  answers: [{ question_id: 'que_1', answer: 'The radio' }],
}
const buy = (more = {}) => aPaidTicket(sale, { entry: { ...personal, ...more } })

test.each([
  ['the channel that sold it', () => sale.channel],
  ['an integration of its organization', () => sale.integration.v2],
  ['an integration by id and secret', () => sale.integration.v1],
])('%s gives a ticket to another person, with a new code and document', async (_who, headers) => {
  const { id, checkout } = await buy()
  const before = await refunds.ticketRow(sale, id)
  const paid = await refunds.paymentRow(sale, checkout)
  const { ticket } = await transferTicket(sale, id, { phone: '+34600999888', language: 'de-AT' }, headers())
  expect(ticket).toMatchObject({
    ...{ id, status: 'ACTIVATED', ...berta, phone: '+34600999888', language: 'de' },
    ...{ birthday: null, address: null, postalCode: null, countryCode: null },
    ...{ personalDocumentType: null, personalDocumentNumber: null, answers: [] },
  })
  expect(ticket?.qrCode).toMatch(/^[2-9A-Z]{17}$/)
  expect(ticket?.qrCode).not.toBe(before?.qrCode)
  const after = await refunds.ticketRow(sale, id)
  expect(after?.documentToken).toMatch(/^[0-9a-f]{64}dGt0/)
  expect(after?.documentToken).not.toBe(before?.documentToken)
  // Money, invoice, times and what was bought stay.
  expect(after).toEqual({
    ...before,
    ...{ ...berta, phone: '+34600999888', language: 'de', answers: [] },
    ...{ gender: null, birthday: null, address: null, postalCode: null, countryCode: null },
    ...{ personalDocumentType: null, personalDocumentNumber: null },
    ...{ qrCode: after?.qrCode, documentToken: after?.documentToken },
    ...{ searchName: searchNameOf(berta.fullName), updatedAt: after?.updatedAt },
  })
  expect(Number(after?.updatedAt)).toBeGreaterThan(Number(before?.updatedAt))
  expect(await refunds.paymentRow(sale, checkout)).toEqual(paid)
  expect(await retiredOf(sale, id)).toEqual([before?.documentToken])
})

test('a transfer records one change, without anything personal in it', async () => {
  const { id } = await buy()
  await transferTicket(sale, id)
  expect(await refunds.changeTypesOf(sale, id)).toEqual(['ticket.activated', 'ticket.transferred'])
  const [change] = (await sale.db.select().from(changes).where(eq(changes.subjectId, id))).filter(
    ({ type }) => type === 'ticket.transferred',
  )
  const { qrCode, documentToken } = (await refunds.ticketRow(sale, id)) ?? {}
  for (const secret of ['Berta', 'berta@', 'Ana', qrCode, documentToken])
    expect(JSON.stringify(change)).not.toContain(secret)
})

test('a holder who names no language or phone has the language of the organization and no phone', async () => {
  const { id } = await aPaidTicket(sale, { entry: personal, language: 'fr' })
  expect((await refunds.ticketRow(sale, id))?.language).toBe('fr')
  expect((await transferTicket(sale, id)).ticket).toMatchObject({ language: 'es', phone: null })
})

test('the former code is NOT_FOUND at the door at once, and the new one lets in', async () => {
  const { id } = await buy()
  const before = await refunds.ticketRow(sale, id)
  const { ticket } = await transferTicket(sale, id)
  expect(await scanCode(sale, { qrCode: before?.qrCode ?? '' })).toBe('NOT_FOUND')
  expect(await scanCode(sale, { qrCode: ticket?.qrCode ?? '' })).toBe('OK')
})

test('the former document is 410, after each of two transfers, and the new one is a PDF', async () => {
  const { id } = await buy()
  const first = (await updateAttendee(sale, id, {})).ticket?.documentUrl
  const second = (await transferTicket(sale, id)).ticket?.documentUrl
  const third = (await transferTicket(sale, id, { fullName: 'Carl', email: 'carl@example.com' })).ticket
    ?.documentUrl
  for (const url of [first, second]) {
    const { statusCode, headers, body } = await sale.rest('GET', pathOf(url))
    expect(statusCode).toBe(410)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['cache-control']).toBe('private, no-store')
    expect(body).toContain('This ticket has another holder')
    expect(body).not.toMatch(/Berta|Carl|Ana/)
  }
  const living = await sale.rest('GET', pathOf(third))
  expect([living.statusCode, living.headers['content-type']]).toEqual([200, 'application/pdf'])
  expect(await retiredOf(sale, id)).toHaveLength(2)
})

test('a transfer works where everything is sold out, and moves no stock and no money', async () => {
  const checkout = await buyTickets(sale, { rate: 'full', count: 2 })
  const counters = await countersOf(sale)
  expect(counters.rate_full).toEqual({ sold: 2, held: 0 })
  expect((await transferTicket(sale, ticketOf(checkout))).ticket).toMatchObject(berta)
  expect(await countersOf(sale)).toEqual(counters)
  expect(await refunds.refundRows(sale, checkout)).toEqual([])
  expect((await refunds.ticketRow(sale, ticketOf(checkout, 1)))?.email).toBe('ana@example.com')
})

test('a transferred ticket is refunded to the payment and can be cancelled', async () => {
  const { id, checkout } = await buy()
  await transferTicket(sale, id)
  expect((await refunds.refundTicket(sale, id)).refund).toMatchObject({ amount: 22, status: 'SUCCEEDED' })
  expect(await refunds.paymentRow(sale, checkout)).toMatchObject({ status: 'refunded' })
  // A refunded ticket still admits its holder, whoever that is.
  expect((await transferTicket(sale, id, { fullName: 'Carl' })).ticket?.fullName).toBe('Carl')
  expect((await refunds.cancelTicket(sale, id)).ticket?.status).toBe('CANCELLED')
})

test('a transfer to the person who has the ticket changes nothing, even after entry', async () => {
  const { id } = await buy()
  const first = await transferTicket(sale, id, { phone: '+34600999888' })
  const queued = await deliveriesOf(sale, id)
  expect(await transferTicket(sale, id, { phone: '+34600999888' }, sale.integration.v2)).toEqual(first)
  // A name with another address is another person, and so is the other way round; a phone is not.
  expect(await transferTicket(sale, id)).toEqual(first)
  expect(await scanCode(sale, { ticketId: id })).toBe('OK')
  expect((await transferTicket(sale, id)).ticket).toEqual(first.ticket)
  expect(await deliveriesOf(sale, id)).toEqual(queued)
  expect(await refunds.changeTypesOf(sale, id)).toEqual([
    ...['ticket.activated', 'ticket.transferred', 'ticket.entered'],
  ])
  expect(await retiredOf(sale, id)).toHaveLength(1)
})

test.each([{ fullName: 'Berta' }, { email: 'b@example.com' }])(
  'a transfer to a person with another %j makes another code',
  async (other) => {
    const { id } = await buy()
    const { ticket } = await transferTicket(sale, id)
    expect((await transferTicket(sale, id, other)).ticket?.qrCode).not.toBe(ticket?.qrCode)
  },
)

test('a transfer is refused where the rate forbids it, and a correction is not', async () => {
  const { id } = await aPaidTicket(sale, { rate: 'own' })
  const before = await refunds.ticketRow(sale, id)
  expect(refunds.refusalCodes(await transferTicket(sale, id))).toEqual(['TRANSFER_NOT_ALLOWED'])
  expect(refunds.refusalCodes(await transferTicket(sale, id, {}, sale.integration.v2))).toEqual([
    'TRANSFER_NOT_ALLOWED',
  ])
  expect(await refunds.ticketRow(sale, id)).toEqual(before)
  expect((await updateAttendee(sale, id, { fullName: 'Ana Gil' })).ticket?.fullName).toBe('Ana Gil')
})

test('a transfer is possible during the event and refused once it has ended', async () => {
  const checkout = await buyTickets(sale, { rate: 'over', count: 2 })
  const startDate = sql`now() - interval '1 hour'`
  await sale.db
    .update(events)
    .set({ startDate, endDate: sql`now() + interval '1 hour'` })
    .where(eq(events.id, 'evt_over'))
  expect((await transferTicket(sale, ticketOf(checkout))).ticket).toMatchObject(berta)
  await sale.db.update(events).set({ endDate: sql`now()` }).where(eq(events.id, 'evt_over'))
  const late = ticketOf(checkout, 1)
  expect(refunds.refusalCodes(await transferTicket(sale, late))).toEqual(['EVENT_ENDED'])
  expect((await refunds.ticketRow(sale, late))?.email).toBe('ana@example.com')
})

test('a transfer of a ticket that is unpaid, expired or cancelled is refused', async () => {
  const entries = [anEntry('price_1', personal)]
  const unpaid = await mustCheckOut(sale, { ticket_rate_id: 'rate_1', tickets: entries })
  const refusal = async (id: string) => refunds.refusalCodes(await transferTicket(sale, id))
  expect(await refusal(ticketOf(unpaid))).toEqual(['ILLEGAL_TRANSITION PENDING'])
  await refunds.cancelPayment(sale, unpaid.payment_id)
  expect(await refusal(ticketOf(unpaid))).toEqual(['ILLEGAL_TRANSITION EXPIRED'])
  const { id: cancelled } = await buy()
  await refunds.cancelTicket(sale, cancelled)
  expect(await refusal(cancelled)).toEqual(['ILLEGAL_TRANSITION CANCELLED'])
})

test.each([
  ['is inside', { entered: 1, firstEntryAt: new Date() }],
  ['was inside', { entered: 0, firstEntryAt: new Date() }],
])('a transfer is refused once somebody %s', async (_how, entry) => {
  const { id } = await buy()
  await sale.db.update(tickets).set(entry).where(eq(tickets.id, id))
  expect(refunds.refusalCodes(await transferTicket(sale, id))).toEqual(['ALREADY_ENTERED'])
  expect(await retiredOf(sale, id)).toEqual([])
})

test.each([
  [{ fullName: ' ' }, 'INVALID attendee.fullName'],
  [{ email: 'berta' }, 'INVALID attendee.email'],
  [{ phone: '600' }, 'INVALID attendee.phone'],
  [{ language: '!' }, 'INVALID attendee.language'],
])('a transfer to %j is refused as in a checkout', async (given, problem) => {
  const { id } = await buy()
  expect(refunds.refusalCodes(await transferTicket(sale, id, given))).toEqual([problem])
  expect(await deliveriesOf(sale, id)).toEqual([])
})

test('a transfer of a foreign ticket is the same as of an absent one', async () => {
  const { id } = await buy()
  const other = await channelHeaders(sale.db, 'org_1')
  const { v2: door } = await integrationHeaders(sale.db, 'org_2')
  for (const answer of [
    await transferTicket(sale, id, {}, other),
    await transferTicket(sale, id, {}, door),
    await transferTicket(sale, 'tkt_none'),
    await transferTicket(sale, '\0'),
  ])
    expect(refunds.refusalCodes(answer)).toEqual(['NOT_FOUND ticketId'])
  const { data, errors } = await callHolderMutation(
    ...([sale, 'transferTicket', { ticketId: id, attendee: berta }, {}] as const),
  )
  expect([data, errors?.map(({ extensions }) => extensions?.code)]).toEqual([
    { transferTicket: null },
    ['UNAUTHENTICATED'],
  ])
  expect((await refunds.ticketRow(sale, id))?.email).toBe('ana@example.com')
})
