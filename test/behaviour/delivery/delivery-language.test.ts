import { afterEach, beforeEach, expect, test } from 'vitest'
import { deliveries } from '../../../src/domain/delivery/table.ts'
import { buyDeliverable, deliveryCatalogue, sendDeliveriesOnce } from '../../support/deliveries.ts'
import { anOrganization } from '../../support/factories.ts'
import { calendarEvent, type MailServer, startMailServer } from '../../support/mail-server.ts'
import { sharedSale } from '../../support/sale.ts'

// Languages of mails, their calendar files and their documents, of an organization that speaks Spanish. What a
// document shows is in system/ticket-pdf.test.ts.

const catalogue = {
  ...deliveryCatalogue,
  organizations: [
    anOrganization({
      language: 'es',
      discounts: [{ _id: 'dis_1', code: 'SUMMER', name: 'Verano <10>', percentage: 10 }],
    }),
  ],
}

let server: MailServer
const sale = sharedSale(catalogue)
beforeEach(async () => {
  server = await startMailServer()
})
afterEach(async () => {
  await server.close()
  await sale.db.delete(deliveries)
})

const textOf = (content: unknown) => Buffer.from(content as ArrayBuffer).toString()

/** Buys tickets in a language and receives their mail. */
async function receive(language: string | undefined, count: number, more: Record<string, unknown> = {}) {
  await buyDeliverable(sale, Array(count).fill({}), { language, ...more })
  await sendDeliveriesOnce(sale, { SMTP_URL: server.url })
  const mail = server.mails[0]?.mail
  const calendar = mail?.attachments.at(-1)
  return { mail, calendar: textOf(calendar?.content), document: mail?.attachments[0] }
}

const plain = (text = '') => text.replace(/[\u00a0\u202f]/g, ' ')

const written = {
  es: {
    subject: 'Tus entradas para Noche de Ñandú & <friends>',
    told: [
      'Aquí tienes tus 2 entradas, adjuntas en PDF.',
      'domingo, 12 de julio de 2099, 00:30 CEST',
      'Descuento: Verano ',
      '-2,00 €',
      'Código ',
      'Muestra el código en la puerta',
      'Pedido pay_',
    ],
    description: 'Organiza Sala Ñ. Tu entrada va adjunta en el mismo correo.',
    file: 'noche-de-nandu-entrada-1.pdf',
  },
  de: {
    subject: 'Ihre Tickets für Noche de Ñandú & <friends>',
    told: [
      'Hier sind Ihre 2 Tickets, als PDF angehängt.',
      'Sonntag, 12. Juli 2099, 00:30 MESZ',
      'Rabatt: Verano ',
      '-2,00 €',
      'Code ',
      'Zeigen Sie den Code am Eingang vor',
      'Bestellung pay_',
    ],
    description: 'Veranstaltet von Sala Ñ. Ihr Ticket hängt an derselben E-Mail.',
    file: 'noche-de-nandu-ticket-1.pdf',
  },
  en: {
    subject: 'Your tickets for Noche de Ñandú & <friends>',
    told: [
      'Here are your 2 tickets, attached as PDF.',
      'Sunday, 12 July 2099, 00:30 CEST',
      'Discount: Verano ',
      '-€2.00',
      'Code ',
      'Show the code at the door',
      'Order pay_',
    ],
    description: 'By Sala Ñ. Your ticket is attached to the same mail.',
    file: 'noche-de-nandu-ticket-1.pdf',
  },
}

test.each(Object.entries(written))(
  'mail, calendar file and document are in %s',
  async (language, expected) => {
    const { mail, calendar, document } = await receive(language, 2, { discount_code: 'summer' })
    expect(mail?.subject).toBe(expected.subject)
    for (const told of expected.told) {
      expect(plain(mail?.text)).toContain(told)
      expect(plain(mail?.html)).toContain(told)
    }
    expect(mail?.text).toContain('Verano <10>')
    expect(mail?.html).toContain('Verano &lt;10&gt;')
    expect(mail?.html).toContain(`<html lang="${language}">`)
    expect(calendarEvent(calendar).DESCRIPTION?.replace(/\\/g, '')).toBe(expected.description)
    expect(calendar).toContain(`//${language.toUpperCase()}`)
    expect(document?.filename).toBe(expected.file)
    expect(Buffer.from(document?.content as ArrayBuffer).toString('latin1')).toContain(`/Lang (${language})`)
  },
)

test.each([
  ['a checkout that names none', undefined],
  ['a checkout in Japanese', 'ja'],
])('mail of %s is in the organization’s language', async (_name, language) => {
  const { mail } = await receive(language, 1)
  expect(mail?.subject).toBe('Tu entrada para Noche de Ñandú & <friends>')
  expect(mail?.html).toContain('<html lang="es">')
  expect(mail?.text).not.toContain('Descuento')
})
