// Runs in: postgres, slow-forms

import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { deliveries } from '../../../src/domain/delivery/table.ts'
import { idempotencyKeys } from '../../../src/domain/payment/table.ts'
import {
  callHolderMutation,
  deliveriesOf,
  resendTickets,
  transferTicket,
  updateAttendee,
} from '../../support/attendees.ts'
import { sendDeliveriesOnce } from '../../support/deliveries.ts'
import { anOrganization, aRateNamed, channelHeaders, integrationHeaders } from '../../support/factories.ts'
import { type MailServer, startMailServer } from '../../support/mail-server.ts'
import * as refunds from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { aHeldTicket, aPaidTicket, buyTickets, holdTickets, payFor, ticketOf } from '../../support/tickets.ts'

// resendTickets: mails and messages once more, at most five times a ticket and day.

let server: MailServer
const sale = sharedSale({
  organizations: [anOrganization(), anOrganization({ _id: 'org_2' })],
  rates: [aRateNamed('1')],
})
beforeAll(async () => {
  server = await startMailServer()
})
beforeEach(async () => {
  await sale.db.delete(deliveries)
  server.mails.length = 0
})
afterAll(() => server.close())

const send = () => sendDeliveriesOnce(sale, { SMTP_URL: server.url })
const sentTo = () => server.mails.flatMap(({ to }) => to).toSorted()
const documents = () =>
  server.mails.map(({ mail }) => mail.attachments.map(({ filename }) => filename).toSorted())

/** Moves all deliveries of a ticket into the past. */
const age = (ticketId: string, interval: string) =>
  sale.db
    .update(deliveries)
    .set({ createdAt: sql`${deliveries.createdAt} - ${interval}::interval` })
    .where(eq(deliveries.ticketId, ticketId))

test.each([
  ['the channel that sold it', () => sale.channel],
  ['an integration of its organization', () => sale.integration.v2],
  ['an integration by id and secret', () => sale.integration.v1],
])('%s has a ticket sent again, and no other of the same address', async (_who, headers) => {
  const checkout = await buyTickets(sale, { entries: [{}, {}, { email: 'other@example.com' }] })
  const id = ticketOf(checkout, 1)
  const answer = await resendTickets(sale, { ticketId: id }, headers())
  expect(answer).toMatchObject({ queued: 1, tickets: [{ id, email: 'ana@example.com' }] })
  await send()
  expect(sentTo()).toEqual(['ana@example.com'])
  expect(documents()).toEqual([['noche-de-nandu-ticket-2.pdf', 'noche-de-nandu.ics']])
  expect(server.mails[0]?.mail.text).toContain(checkout.tickets[1]?.qr_code)
  expect(server.mails[0]?.mail.text).not.toContain(checkout.tickets[0]?.qr_code)
})

test('the tickets of a payment are sent again in a mail each, beside the mail of the checkout', async () => {
  const checkout = await buyTickets(sale, {
    entries: [{}, {}, { email: 'other@example.com' }],
    send_resourcers: true,
  })
  await send()
  expect(sentTo()).toEqual(['ana@example.com', 'other@example.com'])
  const answer = await resendTickets(sale, { paymentId: checkout.payment_id })
  expect(answer.queued).toBe(3)
  expect(answer.tickets?.map(({ id }) => id)).toEqual(checkout.tickets.map(({ _id }) => _id))
  await send()
  expect(sentTo()).toEqual([
    ...Array.from({ length: 3 }, () => 'ana@example.com'),
    ...Array.from({ length: 2 }, () => 'other@example.com'),
  ])
  const ids = server.mails.map(({ mail }) => mail.messageId)
  expect(new Set(ids).size).toBe(5)
})

test('a ticket with a phone number is sent as a message as well', async () => {
  const { id } = await aPaidTicket(sale, { entry: { phone: '+34600000001' } })
  expect((await resendTickets(sale, { ticketId: id })).queued).toBe(2)
  expect(await deliveriesOf(sale, id)).toEqual([
    'tickets email ana@example.com',
    'tickets whatsapp +34600000001',
  ])
  await send()
  const [message] = await sale.db.select().from(deliveries).where(eq(deliveries.medium, 'whatsapp'))
  expect(message).toMatchObject({ status: 'skipped', lastError: 'NOT_ENABLED' })
})

test('a ticket is sent again to whom it belongs now, and a waiting mail to nobody else', async () => {
  const { id } = await aPaidTicket(sale)
  await resendTickets(sale, { ticketId: id })
  await updateAttendee(sale, id, { email: 'right@example.com' })
  await resendTickets(sale, { ticketId: id })
  await transferTicket(sale, id)
  await resendTickets(sale, { ticketId: id })
  await send()
  // The transfer sends the ticket, and a notice to the former holder.
  expect(sentTo()).toEqual(['berta@example.com', 'berta@example.com', 'right@example.com'])
})

test('a ticket is sent again five times within 24 hours, and after that once the first is a day old', async () => {
  const { id, checkout } = await aPaidTicket(sale, { count: 2 })
  await resendTickets(sale, { ticketId: id })
  await age(id, '23 hours')
  for (let times = 1; times < 5; times++) await resendTickets(sale, { ticketId: id }, sale.integration.v2)
  const before = await deliveriesOf(sale, id)
  for (const input of [{ ticketId: id }, { paymentId: checkout.payment_id }]) {
    const { errors } = await resendTickets(sale, input)
    expect(errors).toEqual([
      {
        __typename: 'LimitError',
        code: 'TOO_MANY_RESENDS',
        message: 'A ticket is sent again or transferred at most 5 times a day.',
        path: null,
        max: 5,
        retryAfter: expect.any(Number),
      },
    ])
    expect(errors?.[0]?.retryAfter).toBeGreaterThan(3500)
    expect(errors?.[0]?.retryAfter).toBeLessThanOrEqual(3600)
  }
  expect(await deliveriesOf(sale, id)).toEqual(before)
  // The other ticket of the payment is counted by itself.
  expect((await resendTickets(sale, { ticketId: ticketOf(checkout, 1) })).queued).toBe(1)
  await age(id, '1 hour')
  expect((await resendTickets(sale, { ticketId: id })).queued).toBe(1)
  expect(refunds.refusalCodes(await resendTickets(sale, { ticketId: id }))[0]).toMatch(/^TOO_MANY_RESENDS/)
})

test('the mail of a checkout and the message beside a mail do not count as sent again', async () => {
  const { id } = await aPaidTicket(sale, { entry: { phone: '+34600000001' }, send_resourcers: true })
  for (let times = 0; times < 5; times++) expect((await resendTickets(sale, { ticketId: id })).queued).toBe(2)
  expect(refunds.refusalCodes(await resendTickets(sale, { ticketId: id }))[0]).toMatch(/^TOO_MANY_RESENDS 5/)
})

test('resending under one idempotency key sends once, and is answered alike for 24 hours', async () => {
  const checkout = await buyTickets(sale, { entries: [{ phone: '+34600000001' }, {}] })
  const of = { paymentId: checkout.payment_id }
  const resend = (named: object = of, headers = sale.channel) => resendTickets(sale, named, headers, 'again')
  const answers = await Promise.all(Array.from({ length: 5 }, () => resend()))
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1)
  const [{ replayed: _, ...first } = {}] = answers
  expect(first).toMatchObject({ queued: 3, tickets: checkout.tickets.map(({ _id: id }) => ({ id })) })
  for (const answer of answers) expect(answer).toMatchObject(first)
  expect(await sale.db.$count(deliveries)).toBe(3)
  const other = await buyTickets(sale)
  for (const named of [{ ticketId: ticketOf(checkout) }, { paymentId: other.payment_id }])
    expect(refunds.refusalCodes(await resend(named))).toEqual(['IDEMPOTENCY_KEY_REUSED idempotencyKey'])
  // Keys are the caller's own.
  expect(await resend(of, sale.integration.v2)).toMatchObject({ queued: 3, replayed: false })
  await sale.db
    .update(idempotencyKeys)
    .set({ createdAt: sql`${idempotencyKeys.createdAt} - interval '1 day'` })
  expect(await resend()).toMatchObject({ queued: 3, replayed: false })
  expect(await sale.db.$count(deliveries)).toBe(9)
})

test('resending to several payments at once under one idempotency key sends for one of them', async () => {
  const bought = [await buyTickets(sale), await buyTickets(sale)]
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      resendTickets(sale, { paymentId: bought[index % 2]?.payment_id }, sale.channel, 'mixed'),
    ),
  )
  expect(answers.flatMap(refunds.refusalCodes)).toEqual(
    Array(4).fill('IDEMPOTENCY_KEY_REUSED idempotencyKey'),
  )
  expect(await sale.db.$count(deliveries)).toBe(1)
})

test('resending that is refused leaves its idempotency key free, and that of a checkout is another one', async () => {
  const { id, checkout: unpaid } = await aHeldTicket(sale, { headers: { 'idempotency-key': 'free' } })
  const resend = () => resendTickets(sale, { ticketId: id }, sale.channel, 'later')
  expect(refunds.refusalCodes(await resend())).toEqual(['ILLEGAL_TRANSITION PENDING'])
  await payFor(sale, unpaid)
  expect(await resend()).toMatchObject({ queued: 1, replayed: false })
  const other = await resendTickets(sale, { ticketId: id }, sale.channel, 'free')
  expect(other).toMatchObject({ queued: 1, replayed: false })
})

test('transfers and resends are counted together, and a transfer beyond five changes nothing', async () => {
  const { id } = await aPaidTicket(sale)
  const give = (times: number) =>
    transferTicket(sale, id, { fullName: `Holder ${times}`, email: `holder-${times}@example.com` })
  for (let times = 1; times < 5; times++) expect((await give(times)).errors).toBeUndefined()
  await resendTickets(sale, { ticketId: id })
  const before = [await refunds.ticketRow(sale, id), await deliveriesOf(sale, id)]
  for (const refused of [await give(5), await resendTickets(sale, { ticketId: id })]) {
    expect(refused.errors).toMatchObject([{ code: 'TOO_MANY_RESENDS', max: 5 }])
    expect(refused.errors?.[0]?.retryAfter).toBeGreaterThan(86_000)
  }
  // A retry of the last transfer makes no mail, so it is answered.
  expect((await give(4)).ticket?.fullName).toBe('Holder 4')
  expect([await refunds.ticketRow(sale, id), await deliveriesOf(sale, id)]).toEqual(before)
  await age(id, '1 day')
  expect((await give(5)).ticket?.fullName).toBe('Holder 5')
})

test('tickets that are not active are left out, and refused if there is no other', async () => {
  const checkout = await buyTickets(sale, { entries: [{}, { email: 'other@example.com' }] })
  await refunds.cancelTicket(sale, ticketOf(checkout))
  const { tickets } = await resendTickets(sale, { paymentId: checkout.payment_id })
  expect(tickets?.map(({ email }) => email)).toEqual(['other@example.com'])
  const cancelled = await resendTickets(sale, { ticketId: ticketOf(checkout) })
  expect(refunds.refusalCodes(cancelled)).toEqual(['ILLEGAL_TRANSITION CANCELLED'])
  const unpaid = await holdTickets(sale)
  for (const input of [{ ticketId: ticketOf(unpaid) }, { paymentId: unpaid.payment_id }])
    expect(refunds.refusalCodes(await resendTickets(sale, input))).toEqual(['ILLEGAL_TRANSITION PENDING'])
})

test.each([
  [{}],
  [{ ticketId: null, paymentId: null }],
  [{ ticketId: 'tkt_1', paymentId: null }],
  [{ ticketId: 'tkt_1', paymentId: 'pay_1' }],
])('resending %j is refused: exactly one is to be named', async (input) => {
  const { data, errors } = await callHolderMutation(sale, 'resendTickets', { of: input }, sale.channel)
  expect(data).toBeUndefined()
  expect(errors?.[0]).toMatchObject({ extensions: { code: 'BAD_REQUEST' } })
})

test('resending what is foreign is the same as resending what is absent', async () => {
  const { id: ticketId, paymentId } = await aPaidTicket(sale)
  const other = await channelHeaders(sale.db, 'org_1')
  const { v2: door } = await integrationHeaders(sale.db, 'org_2')
  for (const headers of [other, door]) {
    expect(refunds.refusalCodes(await resendTickets(sale, { ticketId }, headers))).toEqual([
      'NOT_FOUND of.ticketId',
    ])
    expect(refunds.refusalCodes(await resendTickets(sale, { paymentId }, headers))).toEqual([
      'NOT_FOUND of.paymentId',
    ])
  }
  for (const id of ['tkt_none', '\0'])
    expect(refunds.refusalCodes(await resendTickets(sale, { ticketId: id }))).toEqual([
      'NOT_FOUND of.ticketId',
    ])
  for (const id of ['pay_none', '\0'])
    expect(refunds.refusalCodes(await resendTickets(sale, { paymentId: id }))).toEqual([
      'NOT_FOUND of.paymentId',
    ])
  const { data, errors } = await callHolderMutation(sale, 'resendTickets', { of: { paymentId } }, {})
  expect([data, errors?.map(({ extensions }) => extensions?.code)]).toEqual([
    { resendTickets: null },
    ['UNAUTHENTICATED'],
  ])
  expect(await sale.db.$count(deliveries)).toBe(0)
})
