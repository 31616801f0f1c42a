// Runs in: postgres

import { setTimeout } from 'node:timers/promises'
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { newDocumentToken, newId } from '../../../src/domain/contract/ids.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { buyDeliverable, deliveryCatalogue } from '../../support/deliveries.ts'
import { channelHeaders } from '../../support/factories.ts'
import { inTestMode } from '../../support/modes.ts'
import { sharedSale } from '../../support/sale.ts'
import { holdTickets } from '../../support/tickets.ts'

// `/tickets/{token}.pdf` and the field that links to it. What the document shows is in
// system/ticket-pdf.test.ts.

const lines: string[] = []

const sale = sharedSale(deliveryCatalogue, {
  settings: { PUBLIC_URL: 'https://tickets.example', LOG_LEVEL: 'trace' },
  onLog: (line) => lines.push(line),
})

type Headers = Record<string, string>

async function documentUrlOf(id: unknown, headers: Headers = sale.channel) {
  const query = 'query ($id: ID!) { ticket(id: $id) { documentUrl } }'
  const { data } = await sale.graphql<{ ticket: { documentUrl: string | null } | null }>(
    query,
    { id },
    headers,
  )
  return data?.ticket?.documentUrl
}

/** Sells a ticket, paid, and finds the path of its document. */
async function aTicket() {
  const { tickets } = await buyDeliverable(sale, [{}])
  const id = tickets[0]?._id
  return { id, path: new URL((await documentUrlOf(id)) ?? '').pathname }
}

const get = (path: string) => sale.rest('GET', path)

test('ticket document is a PDF for anybody with its URL, and is never cached', async () => {
  const { path } = await aTicket()
  sale.statements.reset()
  const { statusCode, headers, rawPayload } = await get(path)
  expect(statusCode).toBe(200)
  expect(headers).toMatchObject({
    'content-type': 'application/pdf',
    'cache-control': 'private, no-store',
    'content-disposition': 'inline; filename="noche-de-nandu-ticket-1.pdf"',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
    'x-content-type-options': 'nosniff',
  })
  expect(rawPayload.subarray(0, 5).toString()).toBe('%PDF-')
  expect(sale.statements).toHaveLength(1)
})

test('documentUrl is readable by the channel that sold the ticket and by its organization only', async () => {
  const { id } = await aTicket()
  const url = await documentUrlOf(id)
  expect(url).toMatch(/^https:\/\/tickets\.example\/tickets\/[0-9a-f]{64}[\w-]{50}\.pdf$/)
  expect(await documentUrlOf(id, sale.integration.v2)).toBe(url)
  expect(await documentUrlOf(id, await channelHeaders(sale.db))).toBeUndefined()
})

test('documentUrl of an unpaid ticket is null', async () => {
  const { tickets } = await holdTickets(sale)
  expect(await documentUrlOf(tickets[0]?._id)).toBeNull()
})

test('ticket document of a cancelled ticket is 410 with a page', async () => {
  const { id, path } = await aTicket()
  await sale.db
    .update(tickets)
    .set({ status: 'cancelled' })
    .where(eq(tickets.id, String(id)))
  const { statusCode, headers, body } = await get(path)
  expect(statusCode).toBe(410)
  expect(headers['content-type']).toBe('text/html; charset=utf-8')
  expect(headers['cache-control']).toBe('private, no-store')
  expect(body).toContain('This ticket was cancelled')
  expect(await documentUrlOf(id)).toBeNull()
})

test('ticket document of a refunded ticket that is not cancelled stays available', async () => {
  const { id, path } = await aTicket()
  await sale.db
    .update(tickets)
    .set({ refundedAmount: 2200 })
    .where(eq(tickets.id, String(id)))
  expect((await get(path)).statusCode).toBe(200)
})

test.each([
  ['unknown', newDocumentToken(newId('tkt'), 'org_1'), 1],
  ['without a ticket', 'a'.repeat(64), 0],
  ['too short', 'a'.repeat(63), 0],
  ['too long', 'a'.repeat(65), 0],
  ['in capitals', 'A'.repeat(64), 0],
  ['SQL', "'%20or%20''='", 0],
  ['a ticket id', 'tkt_01kaj6q0k8zzzzzzzzzzzzzzzz', 0],
])('ticket document with a token that is %s is 404 with a page', async (_name, token, statements) => {
  sale.statements.reset()
  const { statusCode, headers, body } = await get(`/tickets/${token}.pdf`)
  expect(statusCode).toBe(404)
  expect(headers['content-type']).toBe('text/html; charset=utf-8')
  expect(body).toContain('No such ticket')
  expect(sale.statements).toHaveLength(statements)
})

test('ticket document and checkout each refuse the other’s methods', async () => {
  const { path } = await aTicket()
  const post = await sale.rest('POST', path)
  expect([post.statusCode, post.headers.allow]).toEqual([405, 'GET, HEAD'])
  const get = await sale.rest('GET', '/tickets/checkout')
  expect([get.statusCode, get.headers.allow]).toEqual([405, 'POST'])
})

test('a document that many open at once is drawn once, and again as soon as its ticket has changed', async () => {
  const { id, path } = await aTicket()
  const answers = await Promise.all(Array.from({ length: 200 }, () => get(path)))
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
  // A second drawing would have another identifier.
  const drawn = new Set(answers.map(({ rawPayload }) => rawPayload.toString('latin1')))
  expect(drawn.size).toBe(1)
  await sale.db
    .update(tickets)
    .set({ fullName: 'Another Name' })
    .where(eq(tickets.id, String(id)))
  const { rawPayload } = await get(path)
  expect(drawn).not.toContain(rawPayload.toString('latin1'))
})

test('documents of one owner beyond the limit get 503 and Retry-After, and those of another are drawn', async () => {
  const { path } = await aTicket()
  const testSale = await inTestMode(sale)
  const entries = Array.from({ length: 15 }, () => ({}))
  for (let checkout = 0; checkout < 6; checkout++) await buyDeliverable(testSale, entries)
  const sold = await sale.db.select().from(tickets).where(eq(tickets.mode, 'test'))
  // Until nobody else sends requests, so that none waits for its turn.
  await setTimeout(1_100)
  const many = Promise.all(sold.map(({ documentToken }) => get(`/tickets/${documentToken}.pdf`)))
  expect((await get(path)).statusCode).toBe(200)
  const busy = (await many).filter(({ statusCode }) => statusCode === 503)
  expect(busy.length).toBeGreaterThan(0)
  expect(busy[0]?.headers['retry-after']).toBe('1')
  expect(busy[0]?.body).toContain('We are busy')
})

test('no log line contains the token of a document', async () => {
  const { path } = await aTicket()
  await get(path)
  await get(`${path}?token=${path}`)
  await sale.rest('POST', path)
  const log = lines.join('')
  expect(log).toContain('"route":"/tickets/:token.pdf"')
  expect(log).not.toContain(path.slice('/tickets/'.length, -'.pdf'.length))
})
