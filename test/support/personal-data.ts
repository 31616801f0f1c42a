import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import PostalMime from 'postal-mime'
import { expect } from 'vitest'
import { events } from '../../src/domain/event/table.ts'
import { applyProviderEvent } from '../../src/domain/sale/settle/apply-provider-event.ts'
import { runSql } from '../../src/engine/database/database.ts'
import { resendTickets, transferTicket, updateAttendee } from './attendees.ts'
import { aBuyer, mustSell } from './box-office.ts'
import { anEntry, type Checkout, mustCheckOut } from './checkouts.ts'
import { sendDeliveriesOnce } from './deliveries.ts'
import { openDoors, redeem, scanTicket } from './door.ts'
import { aCatalogue, anEvent, aQuestion, aRateNamed, aSupplement } from './factories.ts'
import type { GatewayOptions } from './harness.ts'
import { cancelPayment, refundTicket } from './refunds.ts'
import { openSale, type Sale } from './sale.ts'
import { stubProvider } from './stub-provider.ts'
import { fullPaymentOf, ticketOf } from './tickets.ts'
import { webhooksOf } from './webhooks.ts'

// A person who leaves traces everywhere, and searches for them.

export const zenobia = {
  full_name: 'Zenobia Quillfeather',
  email: 'Zenobia.Quill@example.org',
  phone: '+34600111222',
  gender: '2',
  birthday: '1961-02-03',
  address: 'Rua Quillfeather 7',
  postal_code: '99871-Q',
  country_code: 'ES',
  personal_document_type: 'passport',
  personal_document_number: 'QF-5550123',
}
/** The address before it was corrected, and one at which a ticket was given to somebody else. */
const earlier = 'zenobia.typo@example.org'

/** Texts that only Zenobia told, in lower case. */
export const traces = ['quillfeather', 'zenobia', '600111222', '1961-02-03', '99871-q', 'qf-5550123']

const catalogueOfTraces = aCatalogue({
  events: [
    anEvent({
      _id: 'evt_1',
      ticket_rates: [
        aRateNamed('1', {
          supplements: [aSupplement({ _id: 'sup_1' })],
          questions: [aQuestion({ _id: 'que_1', type: 'text', items: undefined })],
        }),
      ],
    }),
  ],
})

const about = `?who=${encodeURIComponent(zenobia.full_name)}`

async function buy(sale: Sale, tickets: Record<string, unknown>[], more: Record<string, unknown> = {}) {
  const body = { ticket_rate_id: 'rate_1', tickets, send_resourcers: true, ...more }
  const checkout = await mustCheckOut(sale, body, { 'idempotency-key': crypto.randomUUID() })
  const outcome = await fullPaymentOf(sale, checkout)
  const id = crypto.randomUUID()
  const session = {
    kind: 'session',
    id,
    paymentId: checkout.payment_id,
    organizationId: 'org_1',
    outcome,
  } as const
  expect(await applyProviderEvent(sale.db, 'sandbox', { id, type: 'paid', about: session })).toBe('done')
  return checkout
}

/** Everything that Zenobia did, by checkout. `full` is hers and Berta's; `given` was hers, `got` is hers now. */
export type Walk = Record<'full' | 'unpaid' | 'refunded' | 'given' | 'got' | 'corrected', Checkout>

/** Fills the tables with a walk of Zenobia and her friends: checkouts that are paid, left and refunded, mails,
 *  transfers, a correction, scans, a redemption, a sale at the door, a webhook and a referral. */
async function walkThrough(sale: Sale, mailFolder: string): Promise<Walk> {
  await webhooksOf(sale).register('https://shop.example/hook')
  const hers = anEntry('price_1', {
    ...zenobia,
    answers: [{ question_id: 'que_1', answer: 'I am Zenobia' }],
    supplements: [{ supplement_id: 'sup_1' }],
  })
  const full = await buy(sale, [hers, anEntry('price_1', { email: 'berta@example.com' })], {
    metadata: { crm: zenobia.email },
    referral_id: zenobia.email,
    redirect_url: `https://shop.example/done${about}`,
    error_url: `https://shop.example/failed${about}`,
  })
  await scanTicket(sale, { ticketId: ticketOf(full) }, sale.integration.v2)
  await redeem(sale, { ticketId: ticketOf(full), supplementId: 'sup_1' }, sale.integration.v2)
  const unpaid = await mustCheckOut(sale, { ticket_rate_id: 'rate_1', tickets: [hers] })
  await cancelPayment(sale, unpaid.payment_id)
  const refunded = await buy(sale, [hers])
  await refundTicket(sale, ticketOf(refunded))
  const given = await buy(sale, [hers])
  const got = await buy(sale, [anEntry('price_1')])
  const corrected = await buy(sale, [anEntry('price_1', { ...zenobia, email: earlier })])
  const send = () => sendDeliveriesOnce(sale, { MAIL_DIR: mailFolder })
  await send()
  await transferTicket(sale, ticketOf(given), { phone: '+34600999888' })
  await transferTicket(sale, ticketOf(got), { fullName: zenobia.full_name, email: zenobia.email })
  await updateAttendee(sale, ticketOf(corrected), { email: zenobia.email })
  await send()
  // Waits in the queue.
  await resendTickets(sale, { ticketId: ticketOf(corrected) })
  const buyer = aBuyer('price_1', { fullName: zenobia.full_name, email: zenobia.email })
  await mustSell(sale, { reference: `Receipt for ${zenobia.full_name}`, tickets: [buyer] })
  await buy(sale, [anEntry('price_1')], { referral_id: zenobia.email.toLowerCase() })
  return { full, unpaid, refunded, given, got, corrected }
}

/** A sale in which Zenobia left her traces, and the folder that its mails are written to. */
export type WalkedSale = Sale & { folder: string; walk: Walk }

/** Opens a sale and walks through it. Closing it removes the folder. */
export async function openWalkedSale(options: GatewayOptions = {}): Promise<WalkedSale> {
  const folder = await mkdtemp(join(tmpdir(), 'boxoffice-traces-'))
  const sale = await openSale(catalogueOfTraces, {
    provider: stubProvider(),
    ...options,
    settings: { ...openDoors, ...options.settings },
  })
  const close = async () => {
    await sale.close()
    await rm(folder, { recursive: true })
  }
  return { ...sale, folder, walk: await walkThrough(sale, folder), close }
}

/** Moves the event to that many months ago. */
export const endEvent = ({ db }: Pick<Sale, 'db'>, monthsAgo: number) =>
  db.update(events).set({
    startDate: sql`now() - ${monthsAgo} * interval '1 month' - interval '1 hour'`,
    endDate: sql`now() - ${monthsAgo} * interval '1 month'`,
  })

/** Searches every column of every table, and the planner's statistics, for these texts, whatever their case.
 *  Returns the tables that contain one. */
export async function tablesWith({ db }: Pick<Sale, 'db'>, texts: string[]): Promise<string[]> {
  const found: string[] = []
  const tables = await runSql<{ name: string }>(
    db,
    sql`select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
  )
  expect(tables.length).toBeGreaterThan(30)
  const pattern = `(${texts.map((text) => text.replace(/[+.]/g, '\\$&')).join('|')})`
  for (const table of [...tables.map(({ name }) => name), 'pg_stats']) {
    const [row] = await runSql<{ count: number }>(
      db,
      sql`select count(*)::integer as count from ${sql.identifier(table)} as stored where stored::text ~* ${pattern}`,
    )
    if (row?.count) found.push(table)
  }
  return found
}

/** Searches the mails in a folder, as their readers see them, for these texts, whatever their case. Returns
 *  their files. */
export async function mailsWith(folder: string, texts: string[]): Promise<string[]> {
  const found: string[] = []
  for (const file of await readdir(folder)) {
    const raw = await readFile(join(folder, file))
    const { text = '', html = '', subject = '', to, headers } = await PostalMime.parse(raw)
    const all = [raw.toString('latin1'), text, html, subject, JSON.stringify([to, headers])]
      .join('\n')
      .toLowerCase()
    if (texts.some((part) => all.includes(part.toLowerCase()))) found.push(file)
  }
  return found
}
