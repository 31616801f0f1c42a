import { eq } from 'drizzle-orm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { deliveries } from '../../../src/domain/delivery/table.ts'
import { deliveriesOf, resendTickets, transferTicket } from '../../support/attendees.ts'
import {
  buyDeliverable,
  deliveryCatalogue,
  makeDeliveriesDue,
  publicUrl,
  sendDeliveriesOnce,
} from '../../support/deliveries.ts'
import { type MailServer, startMailServer } from '../../support/mail-server.ts'
import { cancelTicket, ticketRow } from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { ticketOf } from '../../support/tickets.ts'

// Mails of a transfer: the ticket to its new holder, a notice to the former one.

let server: MailServer
const sale = sharedSale(deliveryCatalogue)
beforeEach(async () => {
  server = await startMailServer()
})
afterEach(async () => {
  await server.close()
  await sale.db.delete(deliveries)
})

const send = () => sendDeliveriesOnce(sale, { SMTP_URL: server.url })
const mailTo = (address: string) => server.mails.find(({ to }) => to.includes(address))?.mail
const statusOf = async (recipient: string) =>
  (await sale.db.select().from(deliveries).where(eq(deliveries.recipient, recipient)))
    .map(({ notice, status, lastError }) => `${notice?.about ?? 'tickets'} ${status} ${lastError}`)
    .toSorted()

/** Buys two tickets of one address, and sends their mail. */
async function aSentTicket() {
  const checkout = await buyDeliverable(sale, [{}, {}])
  await send()
  server.mails.length = 0
  return { checkout, id: ticketOf(checkout) }
}

test('a transfer sends the ticket to the new holder and a notice to the former one', async () => {
  const { checkout, id } = await aSentTicket()
  const before = await ticketRow(sale, id)
  await transferTicket(sale, id)
  const after = await ticketRow(sale, id)
  await send()
  expect(server.mails).toHaveLength(2)
  const ticket = mailTo('berta@example.com')
  expect(ticket).toMatchObject({ subject: 'Your ticket for Noche de Ñandú & <friends>' })
  expect(ticket?.attachments.map(({ filename }) => filename)).toEqual([
    ...['noche-de-nandu-ticket-1.pdf', 'noche-de-nandu.ics'],
  ])
  for (const part of ['Berta Öz', after?.qrCode, `${publicUrl}/tickets/${after?.documentToken}.pdf`])
    expect(ticket?.text).toContain(part)
  for (const part of [before?.qrCode, before?.documentToken, checkout.tickets[1]?.qr_code])
    expect(`${ticket?.text}${ticket?.html}`).not.toContain(part)
  const notice = mailTo('ana@example.com')
  expect(notice).toMatchObject({
    subject: 'Your ticket for Noche de Ñandú & <friends> was given to another person',
    messageId: expect.stringMatching(/^<dlv_\w+@shop\.example>$/),
    attachments: [],
  })
  for (const part of ['Entrance', 'Sunday, 12 July 2099, 00:30 CEST', 'Sala Ñ', checkout.payment_id]) {
    expect(notice?.text).toContain(part)
    expect(notice?.html).toContain(part)
  }
  for (const secret of ['Berta', 'berta@', before?.qrCode, after?.qrCode, '/tickets/', after?.documentToken])
    expect(JSON.stringify(notice)).not.toContain(secret)
  expect(notice?.html).not.toMatch(/<friends>|<script|<img|<link/)
})

test('the notice is in the language of the checkout, and the ticket in that of the new holder', async () => {
  const checkout = await buyDeliverable(sale, [{}], { language: 'de' })
  await send()
  server.mails.length = 0
  await transferTicket(sale, ticketOf(checkout))
  await send()
  expect(mailTo('berta@example.com')).toMatchObject({ subject: 'Your ticket for Noche de Ñandú & <friends>' })
  const notice = mailTo('ana@example.com')
  expect(notice?.subject).toBe(
    'Ihr Ticket für Noche de Ñandú & <friends> wurde an eine andere Person weitergegeben',
  )
  expect(notice?.html).toContain('<html lang="de">')
  expect(notice?.text).toContain(`nennen Sie die Bestellung ${checkout.payment_id}`)
})

test('a transfer is mailed even if the checkout asked for no mails, and sends a message to a phone', async () => {
  const checkout = await buyDeliverable(sale, [{ phone: '+34600000001' }], { send_resourcers: false })
  const id = ticketOf(checkout)
  await transferTicket(sale, id, { phone: '+34600999888' })
  expect(await deliveriesOf(sale, id)).toEqual([
    'tickets email berta@example.com',
    'tickets whatsapp +34600999888',
    'transfer email ana@example.com',
  ])
})

test('a transfer within one address sends the ticket and no notice', async () => {
  const { id } = await aSentTicket()
  await transferTicket(sale, id, { email: 'ana@example.com' })
  expect(await deliveriesOf(sale, id)).toEqual(['tickets email ana@example.com'])
  await send()
  expect(server.mails.map(({ mail }) => mail.attachments.length)).toEqual([2])
})

test('a ticket that is given on before its mails went out is sent to its last holder alone', async () => {
  const checkout = await buyDeliverable(sale, [{}])
  const id = ticketOf(checkout)
  await transferTicket(sale, id)
  await transferTicket(sale, id, { fullName: 'Carl', email: 'carl@example.com' })
  await send()
  expect(mailTo('carl@example.com')?.text).toContain((await ticketRow(sale, id))?.qrCode)
  // The mail of the checkout has nothing to send any more.
  expect(await statusOf('ana@example.com')).toEqual(['tickets skipped NO_TICKETS', 'transfer sent null'])
  expect(await statusOf('berta@example.com')).toEqual(['tickets skipped NO_TICKETS', 'transfer sent null'])
  await makeDeliveriesDue(sale)
  const { length } = server.mails
  await send()
  expect(server.mails).toHaveLength(length)
})

test('a ticket that is given back and forth is mailed each time', async () => {
  const { id } = await aSentTicket()
  await transferTicket(sale, id)
  await transferTicket(sale, id, { fullName: 'Ana Núñez', email: 'ana@example.com' })
  await transferTicket(sale, id)
  await send()
  expect(server.mails.map(({ to }) => to[0]).toSorted()).toEqual([
    ...Array.from({ length: 2 }, () => 'ana@example.com'),
    // Two tickets, the same by now, and one notice.
    ...Array.from({ length: 3 }, () => 'berta@example.com'),
  ])
})

test('a cancelled ticket is not sent to its new holder, and the former one still hears of the transfer', async () => {
  const { id } = await aSentTicket()
  await transferTicket(sale, id)
  await cancelTicket(sale, id)
  await send()
  expect(
    server.mails.map(({ to, mail }) => `${to[0]} ${mail.subject?.split(' for ')[0]}`).toSorted(),
  ).toEqual(['ana@example.com Ticket', 'ana@example.com Your ticket', 'berta@example.com Ticket'])
  expect(await statusOf('berta@example.com')).toEqual([
    'cancellation sent null',
    'tickets skipped NO_TICKETS',
  ])
})

test('a notice that is refused again while others are taken is dead, without another', async () => {
  const { id } = await aSentTicket()
  server.answer = (recipient) => (recipient === 'ana@example.com' ? 550 : null)
  await transferTicket(sale, id)
  await send()
  // The first mail to the new holder may have been taken before the notice was refused.
  await resendTickets(sale, { ticketId: id })
  await send()
  await makeDeliveriesDue(sale)
  await send()
  expect(await statusOf('ana@example.com')).toEqual(['tickets sent null', 'transfer dead SMTP_550'])
  expect(await statusOf('berta@example.com')).toEqual(['tickets sent null', 'tickets sent null'])
})
