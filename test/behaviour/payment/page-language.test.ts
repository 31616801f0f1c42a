// Runs in: postgres, slow-forms

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq, sql } from 'drizzle-orm'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { deliveries } from '../../../src/domain/delivery/table.ts'
import { payments } from '../../../src/domain/payment/table.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { transferTicket } from '../../support/attendees.ts'
import type { Checkout } from '../../support/checkouts.ts'
import { sendDeliveriesOnce } from '../../support/deliveries.ts'
import { aCatalogue, aLocation, anEvent, anOrganization, aRateNamed } from '../../support/factories.ts'
import { openPageBuyer, pagePath, visibleText } from '../../support/payment-page-buyer.ts'
import { movePayments } from '../../support/queued-payments.ts'
import { sharedSale } from '../../support/sale.ts'
import { holdTickets } from '../../support/tickets.ts'

// Languages of the payment page and of its outcome, of an organization that speaks Spanish; its discounts,
// and what the outcome says about the tickets.

const catalogue = aCatalogue({
  organizations: [
    anOrganization({
      name: 'Sala Ñ & Söhne',
      language: 'es',
      discounts: [{ _id: 'dis_1', code: 'SUMMER', name: 'Verano', percentage: 10 }],
    }),
  ],
  locations: [aLocation()],
  events: [
    anEvent({
      name: 'Noche',
      start_date: '2099-07-11T22:30:00.000Z',
      end_date: '2099-07-12T04:00:00.000Z',
      ticket_rates: [
        aRateNamed(
          '1',
          { name: 'General', warranty: { enabled: true, percentage: 10, hours: 1 } },
          { name: 'Early' },
        ),
      ],
    }),
  ],
})

let buyer: ReturnType<typeof openPageBuyer>
const sale = sharedSale(catalogue)
beforeAll(async () => {
  buyer = openPageBuyer(sale)
})

const checkOut = (more: Record<string, unknown> = {}, entries: Record<string, unknown>[] = [{}]) =>
  holdTickets(sale, { entries: entries, ...more })

const view = (checkout: Checkout, accepted?: string) =>
  sale.rest('GET', pagePath(checkout), accepted ? { headers: { 'accept-language': accepted } } : {})

const languageOf = (body: string) => /<html lang="(\w+)">/.exec(body)?.[1]
// Amounts have spaces that do not break.
const textOf = (body: string) => visibleText(body).replace(/\s+/g, ' ')

const orders = {
  es: [
    'Vendido por Sala Ñ &amp; Söhne',
    'domingo, 12 de julio de 2099, 00:30 CEST',
    '1 entrada Early 20,00 € Descuento: Verano -2,00 € Gastos de gestión 1,80 €',
    'Garantía de devolución hasta 1 hora antes 1,80 €',
    'Total 21,60 € Te ahorras 2,00 €',
    'Pagar 21,60 € Cancelar',
    'no se cobra nada',
  ],
  de: [
    'Verkauft von Sala Ñ &amp; Söhne',
    'Sonntag, 12. Juli 2099, 00:30 MESZ',
    '1 Ticket Early 20,00 € Rabatt: Verano -2,00 € Gebühren 1,80 €',
    'Rückgabegarantie bis 1 Stunde vorher 1,80 €',
    'Gesamt 21,60 € Sie sparen 2,00 €',
    '21,60 € zahlen Abbrechen',
    'Es wird nichts abgebucht',
  ],
  en: [
    'Sold by Sala Ñ &amp; Söhne',
    'Sunday, 12 July 2099, 00:30 CEST',
    '1 ticket Early €20.00 Discount: Verano -€2.00 Fees €1.80',
    'Warranty, refundable until 1 hour before €1.80',
    'Total €21.60 You save €2.00',
    'Pay €21.60 Cancel',
    'no money is taken',
  ],
}

test.each(Object.entries(orders))(
  'payment page is in %s where the checkout says so',
  async (language, told) => {
    const checkout = await checkOut({ language, discount_code: 'summer' }, [{ warranty: true }])
    const { body, headers } = await view(checkout, 'fr')
    expect(languageOf(body)).toBe(language)
    for (const text of told) expect(textOf(body)).toContain(text)
    expect(headers.refresh).toMatch(/^\d+$/)
    // Nothing about the request changes a page whose language the checkout named.
    expect(headers.vary).toBeUndefined()
  },
)

test('a discount is shown for each ticket that has it, and in the sum', async () => {
  const checkout = await checkOut({ language: 'en', discount_code: 'SUMMER' }, [{}, {}])
  const text = textOf((await view(checkout)).body)
  const line = 'Early €20.00 Discount: Verano -€2.00 Fees €1.80'
  expect(text).toContain(`2 tickets ${line} ${line} Total €39.60 You save €4.00`)
  expect(textOf((await view(await checkOut({ language: 'en' }))).body)).not.toMatch(/Discount|You save/)
})

test.each([
  ['no language and a browser in German', undefined, 'ja,de-AT;q=0.8,en;q=0.5', 'de'],
  ['no language and a browser in Japanese', undefined, 'ja', 'es'],
  ['no language and no browser', undefined, undefined, 'es'],
  ['Portuguese of Brazil and a browser in German', 'pt-BR', 'de', 'pt'],
  // A checkout that names a language has spoken: the browser is not asked.
  ['Japanese and a browser in German', 'ja', 'de', 'es'],
])('payment page of a checkout with %s', async (_name, language, accepted, expected) => {
  const { body, headers } = await view(await checkOut({ language }), accepted)
  expect(languageOf(body)).toBe(expected)
  expect(headers.vary).toBe(language ? undefined : 'accept-language')
})

const outcomes = {
  es: ['Pagado', 'Vendido por', 'Las entradas van de camino a a•••@example.com.', 'Entrada 2: Early'],
  de: ['Bezahlt', 'Verkauft von', 'Die Tickets sind unterwegs an a•••@example.com.', 'Ticket 2: Early'],
  en: ['Paid', 'Sold by', 'The tickets are on their way to a•••@example.com.', 'Ticket 2: Early'],
}

const documentPaths = (body: string) =>
  [...body.matchAll(/href="http[^"]*(\/tickets\/[\w-]{64,}\.pdf)"/g)].map(([, path = '']) => path)

test.each(Object.entries(outcomes))(
  'outcome page is in %s, and links the tickets',
  async (language, told) => {
    const checkout = await checkOut({ language, send_resourcers: true }, [{}, {}])
    const { statusCode, body, headers } = await buyer.pay(checkout)
    expect(statusCode).toBe(200)
    expect(languageOf(body)).toBe(language)
    for (const text of told) expect(textOf(body)).toContain(text)
    expect(body).not.toContain('ana@example.com')
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; img-src/,
    )
    const paths = documentPaths(body)
    expect(paths).toHaveLength(2)
    for (const path of paths) {
      const document = await sale.rest('GET', path)
      expect(document.headers['content-type']).toBe('application/pdf')
      expect(document.rawPayload.toString('latin1')).toContain(`/Lang (${language})`)
    }
  },
)

test('outcome page says when the tickets have been sent, to each address once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'boxoffice-mail-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const checkout = await checkOut({ language: 'en', send_resourcers: true }, [
    {},
    { email: 'bo@example.org' },
    { email: 'bob@example.org' },
  ])
  await buyer.pay(checkout)
  await sendDeliveriesOnce(sale, { MAIL_DIR: folder })
  const text = textOf((await view(checkout)).body)
  expect(text).toContain('We have sent the tickets to a•••@example.com and b•••@example.org.')
  expect(text).not.toContain('on their way')
})

test('outcome page names no address that nothing is sent to', async () => {
  const unasked = await checkOut({ language: 'en' })
  expect(textOf((await buyer.pay(unasked)).body)).not.toContain('•••')
  const refused = await checkOut({ language: 'en', send_resourcers: true }, [{ phone: '+34600000001' }])
  await buyer.pay(refused)
  await sale.db
    .update(deliveries)
    .set({ status: sql`case when medium = 'email' then 'dead' else 'skipped' end::delivery_status` })
    .where(eq(deliveries.paymentId, refused.payment_id))
  expect(textOf((await view(refused)).body)).not.toContain('•••')
  // A later delivery, to whoever a ticket was given to, is none of this buyer's business.
  await sale.db
    .update(deliveries)
    .set({ status: 'sent', occasion: 'transfer' })
    .where(eq(deliveries.paymentId, refused.payment_id))
  expect(textOf((await view(refused)).body)).not.toContain('•••')
})

test('outcome page links neither a cancelled ticket nor one that was given to another person', async () => {
  const checkout = await checkOut({ language: 'en' }, [{}, {}, {}])
  await buyer.pay(checkout)
  const [cancelled, given] = checkout.tickets.map(({ _id }) => _id)
  await sale.db
    .update(tickets)
    .set({ status: 'cancelled' })
    .where(eq(tickets.id, String(cancelled)))
  await transferTicket(sale, String(given))
  const { body } = await view(checkout)
  const text = textOf(body)
  expect(text).toContain('Ticket 1: Early (cancelled)')
  expect(text).toContain('Ticket 2: Early (given to another person)')
  const [third] = await sale.db
    .select()
    .from(tickets)
    .where(eq(tickets.id, String(checkout.tickets[2]?._id)))
  expect(documentPaths(body)).toEqual([`/tickets/${third?.documentToken}.pdf`])
})

test.each([
  ['de', 'Abgebrochen'],
  ['es', 'Cancelado'],
  ['en', 'Cancelled'],
])('outcome page of a cancelled order is in %s, without tickets', async (language, title) => {
  const { body } = await buyer.cancel(await checkOut({ language }))
  expect(textOf(body)).toContain(title)
  expect(body).not.toContain('/tickets/')
})

test.each([
  ['de-DE', 'de', 'Diese Zahlung gibt es nicht', 'Dieses Ticket gibt es nicht'],
  ['es', 'es', 'No existe ese pago', 'No existe esa entrada'],
  ['ja', 'en', 'No such payment', 'No such ticket'],
])('pages that are not found are in the language of the browser: %s', async (accepted, language, ...told) => {
  const headers = { 'accept-language': accepted }
  for (const [index, path] of [`/pay/${'A'.repeat(43)}`, `/tickets/${'a'.repeat(64)}.pdf`].entries()) {
    const answer = await sale.rest('GET', path, { headers })
    expect(answer.statusCode).toBe(404)
    expect(answer.headers.vary).toBe('accept-language')
    expect(languageOf(answer.body)).toBe(language)
    expect(textOf(answer.body)).toContain(told[index])
  }
})

test('a form that cannot be read is refused in the language of the browser', async () => {
  const refused = await sale.rest('POST', pagePath(await checkOut()), {
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'accept-language': 'fr' },
    body: 'action=refund',
  })
  expect(refused.statusCode).toBe(400)
  expect(textOf(refused.body)).toContain('Cela n’a pas fonctionné Revenez au paiement')
})

test('the document of a cancelled ticket is refused in the language of its holder', async () => {
  const checkout = await checkOut({ language: 'it' })
  const [path = ''] = documentPaths((await buyer.pay(checkout)).body)
  await sale.db.update(tickets).set({ status: 'cancelled' }).where(eq(tickets.paymentId, checkout.payment_id))
  const { statusCode, body } = await sale.rest('GET', path, { headers: { 'accept-language': 'de' } })
  expect(statusCode).toBe(410)
  expect(languageOf(body)).toBe('it')
  expect(textOf(body)).toContain('Questo biglietto è stato annullato')
})

test('the time left is counted down by style alone, and told as text for an hour or more', async () => {
  const checkout = await checkOut({ language: 'de' })
  const { body } = await view(checkout)
  expect(body).toMatch(/@keyframes count \{ from \{ --left: (8[45]\d|900) \} to \{ --left: 0 \} \}/)
  expect(textOf(body)).toMatch(/Reserviert bis \d\d:\d\d MES?Z noch 1[45] Minuten/)
  await movePayments(sale.db, eq(payments.id, checkout.payment_id), {
    expiresAt: sql`now() + interval '2 hours 1 minute 30 seconds'`,
  })
  const longer = (await view(checkout)).body
  expect(longer).not.toContain('--left')
  expect(textOf(longer)).toContain('noch 2 Stunden und 1 Minute')
})
