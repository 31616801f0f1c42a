import { eq, inArray, sql } from 'drizzle-orm'
import type { Email } from 'postal-mime'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { queueMoved } from '../../../src/domain/delivery/move-dates.ts'
import { deliveries } from '../../../src/domain/delivery/table.ts'
import { events } from '../../../src/domain/event/table.ts'
import { importCatalogue } from '../../../src/domain/import/import-catalogue.ts'
import { erasePerson } from '../../../src/domain/retention/erase-person.ts'
import { exportPerson } from '../../../src/domain/retention/export-person.ts'
import { berta, transferTicket, updateAttendee } from '../../support/attendees.ts'
import { aBuyer, mustSell } from '../../support/box-office.ts'
import { buyDeliverable, deliveryCatalogue, sendDeliveriesOnce } from '../../support/deliveries.ts'
import { calendarEvent, type MailServer, startMailServer } from '../../support/mail-server.ts'
import { inTestMode, publishableHeaders } from '../../support/modes.ts'
import * as refunds from '../../support/refunds.ts'
import { type Sale, sharedSale } from '../../support/sale.ts'
import { holdTickets, ticketOf } from '../../support/tickets.ts'

// Notices: refunds, cancellations and other dates are told to holder and payer. Transfers are in
// transfer-mails.test.ts.

const [event] = deliveryCatalogue.events ?? []
const withWarranty = {
  ...deliveryCatalogue,
  events: [
    {
      ...event,
      ticket_rates: event?.ticket_rates?.map((rate) => ({
        ...(rate as object),
        warranty: { enabled: true, percentage: 10, hours: 0 },
        availability: { sold: 0, available: 1000 },
      })),
    },
  ],
} as typeof deliveryCatalogue

let server: MailServer
const sale = sharedSale(withWarranty)
beforeEach(async () => {
  server = await startMailServer()
})
afterEach(async () => {
  await server.close()
  await sale.db.delete(deliveries)
  await sale.db.update(events).set({ movedFrom: null, calendarSequence: 0 })
})
afterAll(async () => {})

/** Sends what is queued. Returns the mails by their recipient. */
async function mails(): Promise<Record<string, Email | undefined>> {
  server.mails.length = 0
  await sendDeliveriesOnce(sale, { SMTP_URL: server.url })
  return Object.fromEntries(server.mails.map(({ to, mail }) => [to[0], mail]))
}
const recipients = async () => Object.keys(await mails()).toSorted()
const bought = async (
  ...given: Parameters<typeof buyDeliverable> extends [Sale, ...infer More] ? More : never
) => {
  const checkout = await buyDeliverable(sale, ...given)
  await mails()
  return checkout
}
const plain = (text?: string) => text?.replace(/\s/g, ' ')

const movedTo = (day: string, more = {}) => ({
  ...withWarranty,
  events: [
    {
      ...withWarranty.events?.[0],
      start_date: `${day}T20:00:00.000Z`,
      end_date: `${day}T23:30:00.000Z`,
      ...more,
    },
  ],
})
const back = () => importCatalogue(sale.db, withWarranty, { notify: false })

const ana = { email: 'ana@example.com', full_name: 'Ana Núñez' }
const carl = { email: 'carl@example.com', full_name: 'Carl' }

test('a refund is told to who paid, with the amount and where it goes, in one mail where the holder paid', async () => {
  const checkout = await bought([ana], { language: 'de' })
  const id = ticketOf(checkout)
  await refunds.refundTicket(sale, id, { amount: 7.5 })
  const told = await mails()
  expect(Object.keys(told)).toEqual([ana.email])
  const mail = told[ana.email]
  expect(mail).toMatchObject({
    subject: 'Erstattung eines Tickets für Noche de Ñandú & <friends>',
    from: { name: 'Sala Ñ' },
    attachments: [],
  })
  for (const part of [
    'Wir erstatten 7,50 € auf die Karte',
    'Das Ticket gilt weiterhin',
    checkout.payment_id,
    id,
  ]) {
    expect(plain(mail?.text)).toContain(part)
    expect(plain(mail?.html)).toContain(part)
  }
  expect(mail?.html).toContain('<html lang="de">')
  expect(`${mail?.text}${mail?.html}`).not.toContain(checkout.tickets[0]?.qr_code)
})

test('a cancellation is told to holder and payer, each in their language, and not to others of the checkout', async () => {
  const checkout = await bought([ana, carl, { ...ana, email: 'dora@example.com' }], { language: 'fr' })
  const id = ticketOf(checkout, 1)
  await updateAttendee(sale, id, { language: 'it' })
  await refunds.cancelTicket(sale, id)
  const told = await mails()
  expect(Object.keys(told).toSorted()).toEqual([ana.email, carl.email])
  expect(told[ana.email]?.subject).toBe('Billet pour Noche de Ñandú & <friends> annulé')
  expect(told[carl.email]?.subject).toBe('Biglietto per Noche de Ñandú & <friends> annullato')
  for (const mail of Object.values(told)) {
    expect(mail?.text).toContain(id)
    expect(mail?.text).not.toMatch(/€|\/tickets\//)
  }
  // Cancelled again it is told to nobody.
  await refunds.cancelTicket(sale, id)
  expect(await recipients()).toEqual([])
})

test('refunds and cancellations of a payment are told for each ticket: the payer of all, the others of theirs', async () => {
  const checkout = await bought([ana, carl])
  const of = { paymentId: checkout.payment_id }
  const told = async () => {
    await mails()
    return server.mails
      .map(({ to, mail }) => `${to[0]} ${/€22\.00/.exec(plain(mail.text) ?? '') ?? ''}`)
      .toSorted()
  }
  await refunds.refundTickets(sale, of)
  expect(await told()).toEqual([`${ana.email} €22.00`, `${ana.email} €22.00`, `${carl.email} `])
  await refunds.cancelTickets(sale, of)
  expect(await told()).toEqual([`${ana.email} `, `${ana.email} `, `${carl.email} `])
  // Cancelled again they are told to nobody.
  await refunds.cancelTickets(sale, of)
  expect(await recipients()).toEqual([])
})

test('after a transfer payer and holder are told apart: neither is named to the other, and the payer alone learns the amount', async () => {
  const checkout = await bought([{ ...ana, phone: '+34600000001' }], { language: 'es' })
  const id = ticketOf(checkout)
  const { ticket } = await transferTicket(sale, id, { language: 'pt' })
  await mails()
  server.mails.length = 0
  await refunds.refundTicket(sale, id, { amount: 5 })
  await refunds.cancelTicket(sale, id)
  await sendDeliveriesOnce(sale, { SMTP_URL: server.url })
  const to = (address: string) =>
    server.mails.filter((sent) => sent.to.includes(address)).map(({ mail }) => mail)
  expect(server.mails).toHaveLength(4)
  expect(
    to(ana.email)
      .map(({ subject }) => subject)
      .toSorted(),
  ).toEqual([
    'Entrada para Noche de Ñandú & <friends> cancelada',
    'Reembolso de una entrada para Noche de Ñandú & <friends>',
  ])
  expect(
    to(berta.email)
      .map(({ subject }) => subject)
      .toSorted(),
  ).toEqual([
    'Bilhete para Noche de Ñandú & <friends> cancelado',
    'Reembolso de um bilhete para Noche de Ñandú & <friends>',
  ])
  expect(
    to(ana.email)
      .map(({ text }) => plain(text))
      .join(),
  ).toContain('Devolvemos 5,00 € a la tarjeta')
  const [toAna, toBerta] = [JSON.stringify(to(ana.email)), JSON.stringify(to(berta.email))]
  expect(toBerta).toContain('já não permitem a entrada')
  for (const secret of ['Ana', 'ana@', '+34600000001', '5,00', '€', checkout.tickets[0]?.qr_code])
    expect(toBerta).not.toContain(secret)
  for (const secret of ['Berta', 'berta@', ticket?.qrCode, '/tickets/']) expect(toAna).not.toContain(secret)
})

test('a return under warranty is one mail that tells of the cancellation and the amount', async () => {
  const checkout = await bought([{ ...ana, warranty: true }])
  await refunds.returnTicket(sale, ticketOf(checkout))
  const told = await mails()
  expect(told[ana.email]?.subject).toBe('Ticket for Noche de Ñandú & <friends> cancelled')
  expect(told[ana.email]?.text).toMatch(/We are refunding €22\.00 to the card.*no longer admit anybody/s)
  // The same refund is not told again.
  await refunds.returnTicket(sale, ticketOf(checkout))
  expect(await recipients()).toEqual([])
})

test('what the box office took is given back in person', async () => {
  const sold = await mustSell(sale, {
    tickets: [aBuyer('price_1', { email: 'dora@example.com' })],
  })
  await refunds.refundTicket(sale, sold.tickets[0]?.id ?? '')
  const told = await mails()
  expect(told['dora@example.com']?.text).toMatch(/gives you back €\d+\.\d\d in person/)
})

test('notify: false leaves the mails out', async () => {
  const checkout = await bought([{ ...ana, warranty: true }, ana, ana])
  const notify = false
  const of = (index: number) => ({ ticketId: ticketOf(checkout, index), notify })
  await refunds.callMutation(sale, 'returnTicket', of(0), sale.channel)
  await refunds.refundTicket(sale, of(1).ticketId, { notify })
  const named = { of: { ticketId: of(2).ticketId }, notify }
  await refunds.callMutation(sale, 'cancelTickets', named, sale.channel)
  expect((await refunds.ticketRow(sale, of(0).ticketId))?.status).toBe('cancelled')
  expect(await refunds.refundRows(sale, checkout)).toHaveLength(2)
  expect((await refunds.ticketRow(sale, of(2).ticketId))?.status).toBe('cancelled')
  expect(await recipients()).toEqual([])
})

test('a refusal tells nobody', async () => {
  const checkout = await bought([ana])
  expect((await refunds.refundTicket(sale, ticketOf(checkout), { amount: 9999 })).errors).toHaveLength(1)
  expect((await refunds.returnTicket(sale, ticketOf(checkout))).errors).toHaveLength(1)
  expect(await recipients()).toEqual([])
})

test('a test ticket is told of where it was mailed, and never where a publishable key sold it', async () => {
  const tested = await inTestMode(sale)
  for (const send_resourcers of [true, false]) {
    const { payment_id, tickets } = await buyDeliverable(tested, [ana], { send_resourcers })
    await mails()
    await refunds.cancelTicket(tested, tickets[0]?._id ?? '')
    const told = await mails()
    expect([payment_id, Object.keys(told)]).toEqual([payment_id, send_resourcers ? [ana.email] : []])
    if (send_resourcers) {
      expect(told[ana.email]?.subject).toMatch(/^\[TEST\] /)
      expect(told[ana.email]?.html).toContain('TEST: admits nobody')
    }
  }
  const page = await publishableHeaders(sale, { mode: 'test' })
  await holdTickets({ ...tested, channel: page }, { rate: 'free', entry: ana, send_resourcers: true })
  await sale.db.delete(deliveries)
  await importCatalogue(sale.db, movedTo('2099-07-20'))
  await queueMoved(sale.db)
  const unsent = sql`select id from payments where mode = 'test' and not send_tickets`
  expect(await sale.db.$count(deliveries)).toBeGreaterThan(0)
  expect(await sale.db.$count(deliveries, sql`${deliveries.paymentId} in (${unsent})`)).toBe(0)
  await back()
})

test('who was erased is told nothing, and nobody who came later passes for who paid', async () => {
  const options = { mailFolder: '/nowhere', force: true }
  const zoe = { email: 'zenobia@example.com', full_name: 'Zoe' }
  const checkout = await bought([zoe, carl])
  const [first, second] = [ticketOf(checkout), ticketOf(checkout, 1)]
  await transferTicket(sale, first)
  await mails()
  // That of another attendee leaves who paid.
  await erasePerson(sale.db, carl.email, options)
  await refunds.cancelTicket(sale, second)
  expect(await recipients()).toEqual([zoe.email])
  const exported = JSON.stringify(await exportPerson(sale.db, zoe.email))
  expect(exported).toContain('cancellation')
  await erasePerson(sale.db, zoe.email, options)
  await transferTicket(sale, first, { fullName: 'Dora', email: 'dora@example.com' })
  await mails()
  await refunds.refundTicket(sale, first, { amount: 3 })
  const told = await mails()
  expect(Object.keys(told)).toEqual(['dora@example.com'])
  expect(told['dora@example.com']?.text).not.toContain('3.00')
  expect(await sale.db.$count(deliveries, eq(deliveries.recipient, zoe.email))).toBe(0)
  // Erased before the first transfer.
  const other = ticketOf(await bought([zoe]))
  await erasePerson(sale.db, zoe.email, options)
  await transferTicket(sale, other)
  await transferTicket(sale, other, { fullName: 'Dora', email: 'dora@example.com' })
  await mails()
  await refunds.refundTicket(sale, other, { amount: 3 })
  expect((await mails())['dora@example.com']?.text).not.toContain('3.00')
  expect(await recipients()).toEqual([])
})

test('another date is told to holders and payer once, with the next sequence of the calendar entry', async () => {
  const paul = { email: 'paul@example.com', full_name: 'Paul' }
  const checkout = await bought([ana, ana, paul, paul], { language: 'ca' })
  const given = await bought([{ ...ana, email: 'zenobia@example.com' }])
  await transferTicket(sale, ticketOf(given))
  await refunds.cancelTicket(sale, ticketOf(checkout, 1))
  await mails()
  await importCatalogue(sale.db, movedTo('2099-08-01'))
  for (let times = 0; times < 2; times++) await queueMoved(sale.db)
  const told = await mails()
  const ours = [ana.email, paul.email, 'zenobia@example.com', berta.email]
  expect(server.mails.filter(({ to }) => to[0] === paul.email)).toHaveLength(1)
  for (const address of ours) expect(Object.keys(told)).toContain(address)
  const mail = told[paul.email]
  expect(mail?.subject).toBe('Nova data de Noche de Ñandú & <friends>')
  expect(plain(mail?.text)).toContain('La data anterior era: diumenge, 12 de juliol del 2099')
  for (const part of ['dissabte, 1 d’agost del 2099, 22:00 CEST', 'Les entrades continuen sent vàlides'])
    expect(plain(mail?.html)?.replaceAll('&#39;', '’')).toContain(part)
  const [entry, ...others] = mail?.attachments ?? []
  expect(others).toEqual([])
  expect(calendarEvent(Buffer.from(entry?.content as ArrayBuffer).toString())).toMatchObject({
    UID: 'evt_1@shop.example',
    SEQUENCE: '1',
    DTSTART: '20990801T200000Z',
  })
  expect(JSON.stringify(told['zenobia@example.com'])).not.toMatch(/berta/i)
  expect(JSON.stringify(told[berta.email])).not.toMatch(/zenobia/i)
  // The mail of a later purchase has the same sequence, and one of the same dates tells nobody.
  await importCatalogue(sale.db, movedTo('2099-08-01', { description: 'Other' }))
  await queueMoved(sale.db)
  expect(await recipients()).toEqual([])
  await buyDeliverable(sale, [{ ...ana, email: 'eva@example.com' }])
  const later = (await mails())['eva@example.com']?.attachments[1]
  expect(calendarEvent(Buffer.from(later?.content as ArrayBuffer).toString()).SEQUENCE).toBe('1')
  await back()
})

test.each([
  ['without notices', '2099-09-01', { notify: false }, {}, 1],
  [
    'of its end alone',
    '2099-07-11',
    {},
    { start_date: '2099-07-11T22:30:00.000Z', end_date: '2099-07-12T06:00:00.000Z' },
    1,
  ],
  ['to a past one', '2020-01-01', {}, {}, 1],
  [
    'of nothing but its name',
    '2099-07-11',
    {},
    { start_date: '2099-07-11T22:30:00.000Z', end_date: '2099-07-12T04:00:00.000Z', name: 'Other' },
    0,
  ],
])('a change %s is mailed to nobody', async (_what, day, options, more, sequence) => {
  await bought([ana])
  await importCatalogue(sale.db, movedTo(day, more), options)
  await queueMoved(sale.db)
  expect(await recipients()).toEqual([])
  const [row] = await sale.db.select().from(events)
  expect(row?.calendarSequence).toBe(sequence)
  await back()
})

test('a display date that moves is told as well, and a second move before the mails went out from the first date', async () => {
  await bought([ana])
  await importCatalogue(sale.db, movedTo('2099-10-02'))
  await importCatalogue(sale.db, movedTo('2099-10-02', { display_date: '2099-10-01T22:00:00.000Z' }))
  await queueMoved(sale.db)
  const told = await mails()
  expect(plain(told[ana.email]?.text)).toMatch(
    /Friday, 2 October 2099.*The date before was Sunday, 12 July 2099/s,
  )
  await back()
})

test('a date that is moved back before the mails went out is mailed to nobody', async () => {
  await bought([ana])
  await importCatalogue(sale.db, movedTo('2099-10-02'))
  await importCatalogue(sale.db, withWarranty)
  await queueMoved(sale.db)
  expect(await recipients()).toEqual([])
  const [row] = await sale.db.select().from(events)
  expect(row).toMatchObject({ calendarSequence: 2, movedFrom: null })
})

test('notices of many tickets take a few statements', async () => {
  const paymentIds: string[] = []
  for (let times = 0; times < 4; times++)
    paymentIds.push(
      (await bought(Array.from({ length: 20 }, (_, n) => ({ email: `h${times}-${n}@example.com` }))))
        .payment_id,
    )
  await importCatalogue(sale.db, movedTo('2099-11-01'))
  expect(await sale.db.$count(deliveries, inArray(deliveries.paymentId, paymentIds))).toBe(80)
  sale.statements.reset()
  await queueMoved(sale.db)
  expect(sale.statements.length).toBeLessThan(8)
  expect(await sale.db.$count(deliveries, eq(deliveries.occasion, 'date:1'))).toBeGreaterThanOrEqual(80)
  await back()
})
