import { readdir } from 'node:fs/promises'
import { eq, sql } from 'drizzle-orm'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { deliveries } from '../../../src/domain/delivery/table.ts'
import { eraseTicket } from '../../../src/domain/retention/erase-person.ts'
import { resendTickets, scanCode, transferTicket, updateAttendee } from '../../support/attendees.ts'
import { commandRunner } from '../../support/commands.ts'
import { aRateOf } from '../../support/factories.ts'
import { shared } from '../../support/harness.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import { isCluster } from '../../support/on-one-server.ts'
import {
  endEvent,
  mailsWith,
  openWalkedSale,
  tablesWith,
  traces,
  zenobia,
} from '../../support/personal-data.ts'
import { changeTypesOf, ticketRow } from '../../support/refunds.ts'
import { openSale } from '../../support/sale.ts'
import { holdTickets, payFor, ticketOf } from '../../support/tickets.ts'

// A person who asks what is held about her, and to be forgotten.

const logged: string[] = []
let run: ReturnType<typeof commandRunner>
const sale = shared(() =>
  openWalkedSale({ settings: { LOG_LEVEL: 'info' }, onLog: (line) => void logged.push(line) }),
)
beforeAll(async () => {
  run = commandRunner(() => sale.database, { settings: { MAIL_DIR: sale.folder } })
  await sale.db.execute(sql`analyze`)
})

type Exported = Record<string, Record<string, unknown>[]>

test('the walk leaves traces in tables, statistics and mails, and none in the log', async () => {
  // The statistics of a cluster are on its workers, where they are not searched.
  const found = ['deliveries', 'payments', 'tickets', ...(isCluster ? [] : ['pg_stats'])]
  expect(await tablesWith(sale, traces)).toEqual(found)
  expect((await mailsWith(sale.folder, traces)).length).toBeGreaterThan(3)
  expect(logged.length).toBeGreaterThan(10)
  expect(logged.filter((line) => traces.some((trace) => line.toLowerCase().includes(trace)))).toEqual([])
  expect(await brokenInvariants(sale.db)).toEqual([])
})

test('everything that is held about a person is exported, without secrets and without others', async () => {
  const found = await run.json<Exported>('export-person', '--email', zenobia.email.toUpperCase())
  const ids = (kind: string) => (found[kind] ?? []).map(({ id }) => id)
  const hers = [sale.walk.full, sale.walk.unpaid, sale.walk.refunded, sale.walk.got, sale.walk.corrected]
  // And one that was sold at the door.
  expect(ids('tickets')).toHaveLength(6)
  expect(ids('tickets')).toEqual(expect.arrayContaining(hers.map((checkout) => ticketOf(checkout))))
  expect(found.tickets?.[0]).toMatchObject({
    full_name: zenobia.full_name,
    personal_document_number: 'QF-5550123',
  })
  expect(ids('payments')).toHaveLength(6)
  expect(ids('payments')).toEqual(expect.arrayContaining(hers.map(({ payment_id }) => payment_id)))
  expect(ids('charges')).toHaveLength(5)
  expect(ids('refunds')).toHaveLength(1)
  expect(ids('invoices')).toHaveLength(6)
  expect(found.check_ins).toMatchObject([{ ticket_id: ticketOf(sale.walk.full), outcome: 'OK' }])
  expect(found.redemptions).toMatchObject([{ supplement_id: 'sup_1', redeemed: 1 }])
  expect((found.changes ?? []).map(({ type }) => type)).toContain('ticket.entered')
  // The tickets that were sent to her for what is Berta's now, too.
  expect((found.deliveries ?? []).map(({ payment_id }) => payment_id)).toContain(sale.walk.given.payment_id)
  expect(JSON.stringify(found)).not.toContain('berta')
  expect(JSON.stringify(found)).not.toMatch(/page_token|document_token|session_id|request_hash/)
  expect(JSON.parse(await run.succeed('export-person', '--email', 'nobody@example.org'))).toMatchObject({
    tickets: [],
  })
})

test('nobody is erased from tickets of events ahead without force', async () => {
  const { code, errors } = await run.fail('erase', '--email', zenobia.email)
  expect(code).toBe(1)
  expect(errors).toMatch(/^Nothing is erased: 5 tickets are for events that have not ended \(tkt_/)
  expect((await run.fail('erase', '--ticket', ticketOf(sale.walk.full))).errors).toMatch(/: 1 tickets/)
  expect(await tablesWith(sale, ['qf-5550123'])).toContain('tickets')
})

test('a ticket is erased by itself', async () => {
  const id = ticketOf(sale.walk.refunded)
  const erased = await run.json<Record<string, unknown>>('erase', '--ticket', id, '--force')
  expect(erased).toMatchObject({ tickets: [id], deliveries: 3, mails: 2 })
  expect(await ticketRow(sale, id)).toMatchObject({
    email: 'anonymized',
    qrCode: sale.walk.refunded.tickets[0]?.qr_code,
  })
  expect(await run.json('erase', '--ticket', id)).toMatchObject({ tickets: [], deliveries: 0 })
  expect(await run.fail('erase', '--ticket', 'tkt_none')).toEqual({
    code: 1,
    errors: 'There is no such ticket.',
  })
})

test('a person is erased from every table, every statistic and every mail', async () => {
  const before = await ticketRow(sale, ticketOf(sale.walk.full))
  const output = await run.succeed('erase', '--email', zenobia.email.toUpperCase(), '--force')
  expect(output).toMatch(/^Erased: tickets 5, deliveries \d+, mails in the folder \d+, referrals 1\.$/)
  expect(await tablesWith(sale, traces)).toEqual([])
  expect(await mailsWith(sale.folder, traces)).toEqual([])
  expect((await readdir(sale.folder)).length).toBeGreaterThan(0)
  expect(await brokenInvariants(sale.db)).toEqual([])
  const { fullName, email, searchName, metadata, answers, phone, status, totalAmount, qrCode } = {
    ...(await ticketRow(sale, ticketOf(sale.walk.full))),
  }
  expect({ fullName, email, searchName, metadata, answers, phone }).toEqual({
    ...{
      fullName: 'anonymized',
      email: 'anonymized',
      searchName: '',
      metadata: null,
      answers: [],
      phone: null,
    },
  })
  expect({ status, totalAmount, qrCode }).toEqual({
    ...{ status: before?.status, totalAmount: before?.totalAmount, qrCode: before?.qrCode },
  })
  // Her friend's ticket of the same payment, and the one that she gave away.
  expect((await ticketRow(sale, ticketOf(sale.walk.full, 1)))?.email).toBe('berta@example.com')
  expect((await ticketRow(sale, ticketOf(sale.walk.given)))?.phone).toBe('+34600999888')
  expect(await run.succeed('erase', '--email', zenobia.email)).toBe('Nothing is held about them.')
  // Whoever copied her data learns that it changed.
  expect((await changeTypesOf(sale, ticketOf(sale.walk.full))).at(-1)).toBe('ticket.updated')
})

test('views of an erased ticket keep their form, and it still admits', async () => {
  const { body, statusCode } = await sale.rest(
    'GET',
    `/integrations/tickets/${ticketOf(sale.walk.corrected)}`,
    {
      headers: sale.integration.v2,
    },
  )
  expect(statusCode).toBe(200)
  expect(JSON.parse(body).data).toMatchObject({ name: 'anonymized', email: 'anonymized', phone: null })
  expect(await scanCode(sale, { qrCode: sale.walk.corrected.tickets[0]?.qr_code ?? '' })).toBe('OK')
  const token = (await ticketRow(sale, ticketOf(sale.walk.got)))?.documentToken
  expect((await sale.rest('GET', `/tickets/${token}.pdf`)).statusCode).toBe(200)
  const page = await sale.rest('GET', new URL(sale.walk.full.payment_url).pathname)
  expect(page.statusCode).toBe(200)
  expect(page.body).not.toContain('•••ab')
})

test('an erased holder is neither sent nor corrected, but the ticket can be given away', async () => {
  const id = ticketOf(sale.walk.got)
  const codes = async (answer: Promise<{ errors?: { code: string }[] }>) =>
    (await answer).errors?.map(({ code }) => code)
  expect(await codes(resendTickets(sale, { ticketId: id }))).toEqual(['ILLEGAL_TRANSITION'])
  expect(await codes(updateAttendee(sale, id, { fullName: 'Someone' }))).toEqual(['ILLEGAL_TRANSITION'])
  expect((await transferTicket(sale, id)).ticket).toMatchObject({ email: 'berta@example.com' })
  expect(await tablesWith(sale, ['anonymized@', '"anonymized"'])).toEqual([])
  expect(await brokenInvariants(sale.db)).toEqual([])
})

test('after the event nothing has to be forced', async () => {
  await endEvent(sale, 1)
  expect(await run.json('erase', '--email', 'berta@example.com')).toMatchObject({ tickets: { length: 3 } })
  expect(await tablesWith(sale, ['berta'])).toEqual([])
  expect(await brokenInvariants(sale.db)).toEqual([])
})

test.each([
  [['erase'], '--email: give it or --ticket, and not both.'],
  [['erase', '--email', 'a@example.com', '--ticket', 'tkt_1'], '--email: give it or --ticket, and not both.'],
  [['erase', '--email', 'nobody'], '--email must be an e-mail address.'],
  [['export-person'], 'export-person needs --email'],
])('boxoffice %s', async (args, errors) => {
  expect(await run.fail(...args)).toEqual({ code: 2, errors: `${errors}\nRun it with --help to see how.` })
})

test('what is still to be sent to a phone that somebody else has as well is sent', async () => {
  const phone = '+34600111222'
  const lent = await openSale({ rates: [aRateOf(10)] })
  onTestFinished(() => lent.close())
  const checkout = await holdTickets(lent, {
    entries: ['ana', 'ben'].map((name) => ({ email: `${name}@example.com`, phone })),
    send_resourcers: true,
  })
  await payFor(lent, checkout)
  await eraseTicket(lent.db, ticketOf(checkout), { mailFolder: sale.folder, force: true })
  const rows = await lent.db.select().from(deliveries).where(eq(deliveries.medium, 'whatsapp'))
  expect(rows).toMatchObject([{ recipient: phone, status: 'pending' }])
})
