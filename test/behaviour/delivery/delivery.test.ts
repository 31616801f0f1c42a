import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eq, sql } from 'drizzle-orm'
import PostalMime from 'postal-mime'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { deliveries } from '../../../src/domain/delivery/table.ts'
import { events } from '../../../src/domain/event/table.ts'
import { organizations } from '../../../src/domain/organization/table.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { claimDue } from '../../../src/engine/data/leased-jobs.ts'
import { anEntry, mustCheckOut } from '../../support/checkouts.ts'
import {
  buyDeliverable,
  deliveryCatalogue,
  makeDeliveriesDue,
  publicUrl,
  readDeliveries,
  sendDeliveriesOnce,
} from '../../support/deliveries.ts'
import { calendarEvent, type MailServer, startMailServer } from '../../support/mail-server.ts'
import { sharedSale } from '../../support/sale.ts'
import { holdTickets } from '../../support/tickets.ts'

// Delivery by mail, received by a real server. WhatsApp is in delivery-whatsapp.test.ts.

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

const tokenOf = async (id: unknown) => {
  const [ticket] = await sale.db
    .select()
    .from(tickets)
    .where(eq(tickets.id, String(id)))
  return ticket?.documentToken
}

test('mail delivery sends each address one mail with its tickets', async () => {
  const { payment_id, tickets } = await buyDeliverable(sale, [
    { full_name: 'Ana Núñez', email: 'ana@example.com', supplements: [{ supplement_id: 'sup_1' }] },
    { full_name: 'Łukasz Żółć', email: 'lukasz@example.com' },
    { full_name: '李 <b>', email: 'ana@example.com' },
  ])
  await send()
  const codes = tickets.map(({ qr_code }) => qr_code)
  const [toAna, toLukasz] = ['ana@example.com', 'lukasz@example.com'].map((address) =>
    server.mails.filter(({ to }) => to.includes(address)),
  )
  expect(server.mails).toHaveLength(2)
  const mail = toAna?.[0]?.mail
  expect(mail).toMatchObject({
    from: { name: 'Sala Ñ', address: 'tickets@shop.example' },
    to: [{ address: 'ana@example.com' }],
    subject: 'Your tickets for Noche de Ñandú & <friends>',
    messageId: expect.stringMatching(/^<dlv_\w+@shop\.example>$/),
  })
  for (const expected of [
    'Sunday, 12 July 2099, 00:30 CEST',
    'Sala Ñ, Gran Vía, 1, Madrid',
    'Entrance · Early, Cloakroom, €24.50',
    'Total: €46.50',
    'Cloakroom',
    payment_id,
    codes[0],
    codes[2],
    `${publicUrl}/tickets/${await tokenOf(tickets[0]?._id)}.pdf`,
  ]) {
    expect(mail?.text).toContain(expected)
    expect(mail?.html).toContain(expected)
  }
  expect(mail?.text).toContain('李 <b>')
  expect(mail?.html).toContain('李 &lt;b&gt;')
  expect(mail?.html).not.toMatch(/<b>|<friends>|<img|<script|<link|url\(/)
  expect(mail?.text).not.toContain(codes[1])
  expect(mail?.attachments.map(({ filename, mimeType }) => [filename, mimeType])).toEqual([
    ['noche-de-nandu-ticket-1.pdf', 'application/pdf'],
    ['noche-de-nandu-ticket-3.pdf', 'application/pdf'],
    ['noche-de-nandu.ics', 'text/calendar'],
  ])
  expect(toLukasz?.[0]?.mail).toMatchObject({ subject: 'Your ticket for Noche de Ñandú & <friends>' })
  expect(toLukasz?.[0]?.mail.attachments).toHaveLength(2)
  expect(await readDeliveries(sale)).toEqual({
    'ana@example.com': { status: 'sent', attempts: 1, lastError: null },
    'lukasz@example.com': { status: 'sent', attempts: 1, lastError: null },
  })
})

test('a name that looks encoded is shown as it is, and not decoded', async () => {
  const [before] = await sale.db.select().from(events).where(eq(events.id, 'evt_1'))
  const rename = async (name: string) => {
    await sale.db.update(events).set({ name }).where(eq(events.id, 'evt_1'))
    await sale.db.update(organizations).set({ name })
  }
  onTestFinished(async () => {
    await rename(before?.name ?? '')
    await sale.db.update(organizations).set({ name: 'Sala Ñ' })
  })
  for (const name of [
    ...[
      '=?utf-8?B?aGFjaw==?=',
      '=?UTF-8?Q?a=0D=0Ab?=',
      '=?iso-8859-1?q?a?= night',
      'x=?utf-8?B?aGFjaw==?=y',
      '=?',
    ],
    `${'=?utf-8?B?aGFjaw==?= '.repeat(9)}end`,
    '=?utf-8?B?aGFjaw==?= Ñandú "live"',
  ]) {
    await rename(name)
    await buyDeliverable(sale, [{}])
    await send()
    const mail = server.mails.at(-1)?.mail
    expect(mail?.subject).toBe(`Your ticket for ${name}`)
    expect(mail?.from?.name).toBe(name.replaceAll('=?', '= ?').trim())
  }
})

test('mail attachments are a PDF of the ticket and a calendar event', async () => {
  await buyDeliverable(sale, [{}])
  await send()
  const [document, calendar] = server.mails[0]?.mail.attachments ?? []
  const bytes = (content: unknown) => Buffer.from(content as ArrayBuffer)
  expect(bytes(document?.content).subarray(0, 5).toString()).toBe('%PDF-')
  expect(calendarEvent(bytes(calendar?.content).toString())).toMatchObject({
    UID: 'evt_1@shop.example',
    DTSTART: '20990711T223000Z',
    DTEND: '20990712T040000Z',
    SUMMARY: 'Noche de Ñandú & <friends>',
    LOCATION: expect.stringContaining('Sala Ñ, Gran Vía, 1, Madrid'),
    GEO: '40.4168;-3.7038',
  })
})

test('names that were kept before they had to be one line are shown cleaned', async () => {
  const { payment_id } = await buyDeliverable(sale, [{}])
  const fullName = 'Ana\u202e\nPay again at\u2028https://evil.example\u200b'
  await sale.db.update(tickets).set({ fullName }).where(eq(tickets.paymentId, payment_id))
  await send()
  const { text, html } = server.mails[0]?.mail ?? {}
  for (const part of [text, html]) expect(part).toContain('Ana Pay again at https://evil.example')
  expect(`${text}${html}`).not.toMatch(/[\u200b\u2028\u202e]/)
})

test('mail delivery sends nothing twice', async () => {
  await buyDeliverable(sale, [{}])
  await send()
  await makeDeliveriesDue(sale)
  await send()
  expect(server.mails).toHaveLength(1)
})

test('mail delivery sends nothing unless the checkout asks for it and is paid', async () => {
  await buyDeliverable(sale, [{}], { send_resourcers: false })
  const tickets = [anEntry('price_1')]
  await mustCheckOut(sale, { ticket_rate_id: 'rate_1', tickets, send_resourcers: true })
  await send()
  expect(server.mails).toEqual([])
  expect(await sale.db.$count(deliveries)).toBe(0)
})

test('mail delivery sends free tickets too', async () => {
  await holdTickets(sale, { rate: 'free', send_resourcers: true })
  await send()
  expect(server.mails[0]?.mail.text).toContain('Guests · General')
})

test('mail delivery is retried until the server is up', async () => {
  await buyDeliverable(sale, [{}])
  const port = Number(new URL(server.url).port)
  await server.close()
  await send()
  const waiting = { status: 'pending', lastError: expect.stringMatching(/^E(SOCKET|CONN\w+)$/) }
  expect(await readDeliveries(sale)).toEqual({ 'ana@example.com': { ...waiting, attempts: 1 } })
  const [pause] = await sale.db
    .select({ seconds: sql<number>`extract(epoch from ${deliveries.dueAt} - now())::float8` })
    .from(deliveries)
  expect(pause?.seconds).toBeGreaterThan(10)
  expect(pause?.seconds).toBeLessThanOrEqual(30)
  await send()
  expect(await readDeliveries(sale)).toMatchObject({ 'ana@example.com': { attempts: 1 } })
  await makeDeliveriesDue(sale)
  await send()
  expect(await readDeliveries(sale)).toMatchObject({ 'ana@example.com': { ...waiting, attempts: 2 } })
  server = await startMailServer(port)
  await makeDeliveriesDue(sale)
  await send()
  expect(server.mails).toHaveLength(1)
  expect(await readDeliveries(sale)).toEqual({
    'ana@example.com': { status: 'sent', attempts: 3, lastError: null },
  })
})

test.each([
  ['for good', 550, 'dead'],
  ['for now', 451, 'pending'],
  ['because of our own login', 530, 'pending'],
])('mail refused %s with %i is %s, and other mails are sent', async (_name, code, status) => {
  server.answer = (recipient) => (recipient.startsWith('gone') ? code : null)
  await buyDeliverable(sale, [{ email: 'gone@example.com' }, {}])
  expect(await send()).toEqual([])
  // The refusal is repeated, and another mail is taken before: the first other one may have been earlier.
  await buyDeliverable(sale, [{ email: 'other@example.com' }])
  expect(await send()).toEqual([])
  await makeDeliveriesDue(sale)
  const log = await send()
  expect(log).toEqual(
    status === 'dead'
      ? [
          {
            delivery: expect.stringMatching(/^dlv_/),
            code: `SMTP_${code}`,
            message: expect.stringContaining('is dead'),
          },
        ]
      : [],
  )
  const sent = { status: 'sent', attempts: 1, lastError: null }
  expect(await readDeliveries(sale)).toEqual({
    'ana@example.com': sent,
    'other@example.com': sent,
    'gone@example.com': { status, attempts: 2, lastError: `SMTP_${code}` },
  })
})

test('mail delivery is dead after 24 attempts', async () => {
  server.answer = () => 451
  await buyDeliverable(sale, [{}])
  await sale.db.update(deliveries).set({ attempts: 22 })
  await send()
  expect(await readDeliveries(sale)).toMatchObject({ 'ana@example.com': { status: 'pending', attempts: 23 } })
  await makeDeliveriesDue(sale)
  await send()
  expect(await readDeliveries(sale)).toMatchObject({ 'ana@example.com': { status: 'dead', attempts: 24 } })
  await makeDeliveriesDue(sale)
  await send()
  expect(await readDeliveries(sale)).toMatchObject({ 'ana@example.com': { attempts: 24 } })
})

test('mail delivery with an expired lease is sent by another process under the same Message-ID', async () => {
  await buyDeliverable(sale, [{}])
  const [taken] = await claimDue(sale.db, deliveries, { limit: 10, leaseSeconds: 300 })
  await send()
  expect(server.mails).toEqual([])
  await makeDeliveriesDue(sale)
  await send()
  expect(server.mails[0]?.mail.messageId).toBe(`<${taken?.id}@shop.example>`)
})

test('mail delivery leaves out cancelled tickets, and is skipped if none is left', async () => {
  const cancel = (id: unknown) =>
    sale.db
      .update(tickets)
      .set({ status: 'cancelled' })
      .where(eq(tickets.id, String(id)))
  const { tickets: issued } = await buyDeliverable(sale, [{}, {}, { email: 'gone@example.com' }])
  await cancel(issued[0]?._id)
  await cancel(issued[2]?._id)
  await send()
  expect(server.mails.map(({ mail }) => mail.attachments.map(({ filename }) => filename))).toEqual([
    ['noche-de-nandu-ticket-2.pdf', 'noche-de-nandu.ics'],
  ])
  expect(await readDeliveries(sale)).toMatchObject({
    'gone@example.com': { status: 'skipped', lastError: 'NO_TICKETS' },
  })
})

test('mail delivery without SMTP_URL writes files and says so in the log', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'boxoffice-mail-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await buyDeliverable(sale, [{ full_name: 'Secretia', email: 'secretia@example.com' }])
  const [{ id } = { id: '' }] = await sale.db.select().from(deliveries)
  const settings = { MAIL_DIR: join(folder, 'mail') }
  const lines = await sendDeliveriesOnce(sale, settings)
  expect(lines).toEqual([
    { folder: settings.MAIL_DIR, message: 'SMTP_URL is not set: mails are written to a folder' },
    { delivery: id, message: 'a mail was written to the folder' },
  ])
  await sale.db.update(deliveries).set({ status: 'pending', dueAt: sql`now()` })
  await sendDeliveriesOnce(sale, settings)
  expect(await readdir(settings.MAIL_DIR)).toEqual([`${id}.eml`])
  const file = join(settings.MAIL_DIR, `${id}.eml`)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const mail = await PostalMime.parse(await readFile(file))
  expect(mail).toMatchObject({
    to: [{ address: 'secretia@example.com' }],
    subject: 'Your ticket for Noche de Ñandú & <friends>',
  })
  expect(mail.attachments).toHaveLength(2)
})

test('mail delivery after an unexpected error rejects and is retried later', async () => {
  await buyDeliverable(sale, [{}])
  const file = fileURLToPath(import.meta.url)
  await expect(sendDeliveriesOnce(sale, { MAIL_DIR: join(file, 'mail') })).rejects.toMatchObject({
    syscall: 'mkdir',
  })
  expect(await readDeliveries(sale)).toEqual({
    'ana@example.com': { status: 'pending', attempts: 1, lastError: 'INTERNAL' },
  })
})
