import { eq, sql } from 'drizzle-orm'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { deliveries } from '../../../src/domain/delivery/table.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { resendTickets, transferTicket } from '../../support/attendees.ts'
import { anEntry, type Checkout } from '../../support/checkouts.ts'
import {
  buyDeliverable,
  deliveryCatalogue,
  makeDeliveriesDue,
  readDeliveries,
  sendDeliveriesOnce,
} from '../../support/deliveries.ts'
import { type MailServer, startMailServer } from '../../support/mail-server.ts'
import { publishableHeaders } from '../../support/modes.ts'
import { openPageBuyer } from '../../support/payment-page-buyer.ts'
import { sharedSale } from '../../support/sale.ts'
import { ticketOf } from '../../support/tickets.ts'

// Bounds of mails: what a publishable key sells for nothing, and what an organization sends in an hour.

let server: MailServer
let page: Record<string, string>
const sale = sharedSale(deliveryCatalogue, { settings: { PUBLISHABLE_RATE_LIMIT: '1000' } })
beforeAll(async () => {
  page = await publishableHeaders(sale)
})
beforeEach(async () => {
  server = await startMailServer()
})
afterEach(async () => {
  await server.close()
  await sale.db.delete(deliveries)
})

const send = (settings = {}) => sendDeliveriesOnce(sale, { SMTP_URL: server.url, ...settings })
const sentTo = () => server.mails.flatMap(({ to }) => to).toSorted()

async function get(entries: object[], headers = page, rate = 'free'): Promise<Checkout> {
  const tickets = entries.map((entry) => anEntry(`price_${rate === 'free' ? 'free' : '1'}`, { ...entry }))
  const body = { ticket_rate_id: `rate_${rate}`, tickets, send_resourcers: true }
  const answer = await sale.rest('POST', '/tickets/checkout', { headers, body })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<{ data: Checkout }>().data
}
const strangers = Array.from({ length: 6 }, (_, index) => ({
  email: `stranger-${index}@example.com`,
  phone: `+3460000000${index}`,
}))

test('what a publishable key sells for nothing is one mail to its first attendee, with all tickets', async () => {
  const { payment_url } = await get(strangers)
  await send()
  expect(sentTo()).toEqual(['stranger-0@example.com'])
  expect(server.mails[0]?.mail.subject).toBe('Your tickets for Noche de Ñandú & <friends>')
  expect(server.mails[0]?.mail.attachments).toHaveLength(7)
  expect(await sale.db.$count(deliveries)).toBe(1)
  const outcome = await sale.app.inject({ url: new URL(payment_url).pathname })
  expect(outcome.body).toContain('s•••@example.com')
})

test('a ticket that was given to another person before that mail went out is not in it', async () => {
  const { payment_id } = await get(strangers.slice(0, 3))
  const [, second] = await sale.db
    .select()
    .from(tickets)
    .where(eq(tickets.paymentId, payment_id))
    .orderBy(tickets.position)
  await transferTicket(sale, second?.id ?? '')
  await send()
  const [first] = server.mails.filter(({ to }) => to.includes('stranger-0@example.com'))
  expect(first?.mail.attachments).toHaveLength(3)
})

test('an address gets five of those mails a day, and everything else as ever', async () => {
  for (let times = 0; times < 6; times++)
    await get([{ email: times % 2 ? 'zoe@example.com' : 'Zoe@example.com' }])
  await get([{ email: 'other@example.com' }])
  await get([{ email: 'zoe@example.com' }], sale.channel)
  const paid = await get([{ email: 'zoe@example.com' }, { email: 'bo@example.com' }], page, '1')
  await openPageBuyer(sale).pay(paid)
  await send()
  expect(
    sentTo()
      .map((address) => address.toLowerCase())
      .toSorted(),
  ).toEqual(
    ['bo@example.com', 'other@example.com', ...Array.from({ length: 7 }, () => 'zoe@example.com')].toSorted(),
  )
  const skipped = await sale.db.select().from(deliveries).where(eq(deliveries.status, 'skipped'))
  expect(skipped.map(({ lastError, occasion }) => [lastError, occasion])).toEqual([['TOO_MANY', 'public']])
  await sale.db.update(deliveries).set({ createdAt: sql`${deliveries.createdAt} - interval '1 day'` })
  await get([{ email: 'zoe@example.com' }])
  server.mails.length = 0
  await send()
  expect(sentTo()).toEqual(['zoe@example.com'])
})

test('checkouts that are held together are counted together', async () => {
  await Promise.all(Array.from({ length: 20 }, () => get([{ email: 'all@example.com' }])))
  expect(await sale.db.$count(deliveries, eq(deliveries.status, 'pending'))).toBe(5)
  expect(await sale.db.$count(deliveries, eq(deliveries.status, 'skipped'))).toBe(15)
})

test('a confidential key sends what costs nothing to each address', async () => {
  await get(strangers.slice(0, 3), sale.channel)
  await send()
  expect(sentTo()).toEqual(strangers.slice(0, 3).map(({ email }) => email))
})

test('beyond its mails of an hour an organization waits, but for tickets that were paid', async () => {
  const checkouts: Checkout[] = []
  for (let times = 0; times < 5; times++)
    checkouts.push(await buyDeliverable(sale, [{ email: `paid-${times}@example.com` }]))
  await send({ MAILS_PER_HOUR: '3' })
  expect(server.mails).toHaveLength(5)
  server.mails.length = 0
  for (const checkout of checkouts) await resendTickets(sale, { ticketId: ticketOf(checkout) })
  await buyDeliverable(sale, [{ email: 'paid-5@example.com' }])
  await send({ MAILS_PER_HOUR: '3' })
  expect(server.mails).toHaveLength(4)
  expect(sentTo()).toContain('paid-5@example.com')
  const waiting = await sale.db.select().from(deliveries).where(eq(deliveries.status, 'pending'))
  expect(waiting.map(({ attempts, lastError }) => [attempts, lastError])).toEqual([
    [0, 'TOO_MANY'],
    [0, 'TOO_MANY'],
  ])
  // They don't come up at once, and wait again while the hour is full.
  await send({ MAILS_PER_HOUR: '3' })
  await makeDeliveriesDue(sale)
  await send({ MAILS_PER_HOUR: '3' })
  expect(server.mails).toHaveLength(4)
  for (const { dueAt } of await sale.db.select().from(deliveries).where(eq(deliveries.status, 'pending')))
    expect(dueAt.getTime()).toBeLessThan(Date.now() + 4_200_000)
  await sale.db.update(deliveries).set({ sentAt: sql`${deliveries.sentAt} - interval '1 hour'` })
  await makeDeliveriesDue(sale)
  await send({ MAILS_PER_HOUR: '3' })
  expect(server.mails).toHaveLength(6)
  expect(Object.values(await readDeliveries(sale)).map(({ status }) => status)).not.toContain('pending')
})

test('a delivery that is put off keeps its attempts and its last failure, claimed or not', async () => {
  const checkout = await buyDeliverable(sale, [{ email: 'paid@example.com' }])
  await send()
  await resendTickets(sale, { ticketId: ticketOf(checkout) })
  await send()
  // More than are claimed at a time.
  await sale.db.execute(sql`
    insert into deliveries (organization_id, id, payment_id, occasion, medium, recipient, attempts, last_error)
    select organization_id, 'dlv_again_' || n, payment_id, 'again:' || n, medium, recipient, 3, 'SMTP_451'
    from deliveries, generate_series(1, 120) as n where occasion <> '' limit 120`)
  await send({ MAILS_PER_HOUR: '1' })
  const waiting = await sale.db.select().from(deliveries).where(eq(deliveries.status, 'pending'))
  expect(waiting).toHaveLength(120)
  expect(new Set(waiting.map(({ attempts, lastError }) => `${attempts} ${lastError}`))).toEqual(
    new Set(['3 SMTP_451']),
  )
})
