import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { queueMoved } from '../../src/domain/delivery/move-dates.ts'
import { importCatalogue } from '../../src/domain/import/import-catalogue.ts'
import { languages } from '../../src/domain/language/languages.ts'
import { transferTicket } from '../support/attendees.ts'
import { buyDeliverable, sendDeliveriesOnce } from '../support/deliveries.ts'
import { aCatalogue, aLocation, anEvent, anOrganization, aRateNamed } from '../support/factories.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import * as refunds from '../support/refunds.ts'
import { sharedSale } from '../support/sale.ts'
import { ticketOf } from '../support/tickets.ts'
import { openBrowser } from './browser.ts'

// Mails as a browser shows them, on a phone and on a desk, in every language. `SCREENSHOTS` names a folder for
// pictures of them.

const catalogueOn = (day: number) =>
  aCatalogue({
    organizations: [anOrganization({ name: 'Kulturvereinigung Donaudampfschifffahrt' })],
    locations: [aLocation({ address: 'Gran Vía, 1' })],
    events: [
      anEvent({
        _id: 'evt_1',
        name: 'Noche de Ñandú & <friends>: Donaudampfschifffahrtsgesellschaftskapitänsball',
        start_date: `2099-07-${day}T22:30:00.000Z`,
        end_date: '2099-07-31T04:00:00.000Z',
        ticket_rates: [aRateNamed('1', {}, { name: 'Early' })],
      }),
    ],
  })

let browser: Browser
let server: MailServer
const sale = sharedSale(catalogueOn(11))
beforeAll(async () => {
  browser = await openBrowser()
  server = await startMailServer()
})
afterAll(async () => {
  await server?.close()
  await browser?.close()
})

const sides = { phone: 360, desk: 1280 }
const folder = process.env.SCREENSHOTS

async function look(language: string, mails: MailServer['mails']) {
  for (const [width, pixels] of Object.entries(sides)) {
    const page = await browser.newPage({ viewport: { width: pixels, height: 700 } })
    const asked: string[] = []
    page.on('request', (request) => void asked.push(request.url()))
    for (const [index, { to, mail }] of mails.entries()) {
      await page.setContent(mail.html ?? '')
      const name = `${language} ${mail.subject} to ${to}`
      expect(await page.evaluate(() => document.documentElement.scrollWidth), name).toBe(pixels)
      expect(await page.getAttribute('html', 'lang'), name).toBe(language)
      // French has a space before a colon.
      if (language === 'fr') expect(mail.text, name).not.toMatch(/\p{L}: /u)
      if (folder)
        await page.screenshot({ path: `${folder}/${language}-${index}-${width}.png`, fullPage: true })
    }
    expect(asked.filter((url) => !url.startsWith('about:'))).toEqual([])
    await page.close()
  }
}

let day = 11
test.each(languages)(
  'every mail in %s fits a phone and a desk, and asks nobody for anything',
  async (language) => {
    server.mails.length = 0
    const ana = { full_name: 'Ana María Núñez de la Fuente-Schwarzenberg', email: 'ana@example.com' }
    const checkout = await buyDeliverable(sale, [ana, ana, { email: 'zoe@example.com' }], { language })
    const [first, second, third] = [0, 1, 2].map((index) => ticketOf(checkout, index)) as [
      string,
      string,
      string,
    ]
    await transferTicket(sale, first, { language })
    await refunds.refundTicket(sale, second, { amount: 12.5 })
    await refunds.cancelTicket(sale, third)
    await refunds.refundTicket(sale, first)
    await importCatalogue(sale.db, catalogueOn(++day))
    await queueMoved(sale.db)
    for (let times = 0; times < 4; times++) await sendDeliveriesOnce(sale, { SMTP_URL: server.url })
    // Those of the languages before are told of the date as well.
    const mails = server.mails.filter(({ mail }) => mail.text?.includes(checkout.payment_id))
    expect(mails.length).toBeGreaterThan(8)
    await look(language, mails)
  },
)
