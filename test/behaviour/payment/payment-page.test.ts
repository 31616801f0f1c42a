// Runs in: postgres, slow-forms

import { createHash } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { createApp } from '../../../src/app/app.ts'
import { parseConfig } from '../../../src/app/settings.ts'
import { newId, newPageToken } from '../../../src/domain/contract/ids.ts'
import { anEntry, mustCheckOut } from '../../support/checkouts.ts'
import { aCatalogue, aLocation, anEvent, aPrice, aRate, aSupplement } from '../../support/factories.ts'
import {
  formType,
  openPageBuyer,
  pagePath,
  redirectUrls,
  visibleText,
} from '../../support/payment-page-buyer.ts'
import { openSale, sharedSale } from '../../support/sale.ts'
import { stubProvider } from '../../support/stub-provider.ts'

// Content and refusals of the payment page. Its actions are in pay.test.ts.

const hostile = `<script>alert('x')</script>&"`

const event = (name: string, rate: string, more = {}) =>
  anEvent({
    name,
    start_date: '2099-07-11T22:30:00.000Z',
    end_date: '2099-07-12T04:00:00.000Z',
    ticket_rates: [
      aRate({
        _id: rate,
        name: `Rate of ${name}`,
        prices: [aPrice({ _id: `price_of_${rate}`, name: `Early ${name}` })],
        ...more,
      }),
    ],
  })

const catalogue = aCatalogue({
  locations: [aLocation({ address: 'Gran Vía, 1' })],
  events: [
    event('Noche', 'rate_1', {
      supplements: [
        aSupplement({ _id: 'sup_cloak' }),
        aSupplement({ _id: 'sup_drink', label: 'Free drink', price: 0 }),
      ],
      warranty: { enabled: true, percentage: 10, hours: 48 },
    }),
    event(hostile, 'rate_hostile', { supplements: [aSupplement({ _id: 'sup_hostile', label: hostile })] }),
  ],
})

let buyer: ReturnType<typeof openPageBuyer>
const sale = sharedSale(catalogue, { provider: stubProvider() })
beforeAll(async () => {
  buyer = openPageBuyer(sale)
})

const ofRate = (rate: string, more = {}, entries: Record<string, unknown>[] = [{}]) =>
  mustCheckOut(sale, {
    ticket_rate_id: rate,
    tickets: entries.map((entry) => anEntry(`price_of_${rate}`, entry)),
    ...more,
  })

test('payment page shows the purchase line by line, the end of the hold and no personal data', async () => {
  const entry = { full_name: 'Ana Núñez', email: 'ana@example.com', phone: '+34600000001' }
  const checkout = await ofRate('rate_1', redirectUrls, [
    {
      ...entry,
      supplements: [{ supplement_id: 'sup_cloak' }, { supplement_id: 'sup_drink' }],
      warranty: true,
    },
    entry,
  ])
  const page = await buyer.view(checkout)
  expect(page.statusCode).toBe(200)
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
  const text = visibleText(page.body)
  expect(text).toMatch(/Rate of Noche Noche Sunday,? 12 July 2099, 00:30 CEST Sala Ñ, Gran Vía, 1, Madrid/)
  expect(text).toContain(
    '2 tickets Early Noche €20.00 Cloakroom €2.50 Free drink €0.00 Fees €2.00 ' +
      'Warranty, refundable until 48 hours before €2.25 Early Noche €20.00 Fees €2.00 Total €48.75',
  )
  expect(text).toMatch(/Held until \d\d:\d\d CES?T 1[45] minutes left/)
  expect(text).toContain('Pay €48.75 Cancel')
  for (const secret of [
    'Ana',
    'Núñez',
    'ana@',
    '+34600000001',
    ...checkout.tickets.map(({ qr_code }) => qr_code),
  ])
    expect(page.body).not.toContain(secret)
  expect(await buyer.statusesOf(checkout)).toEqual(['pending', 'held', 'held'])
})

test('payment page takes two statements', async () => {
  const checkout = await ofRate('rate_1')
  sale.statements.reset()
  await buyer.view(checkout)
  expect(sale.statements).toHaveLength(2)
})

test('payment page mentions the sandbox only in the sandbox', async () => {
  const sandbox = await openSale(catalogue)
  try {
    const checkout = await mustCheckOut(sandbox, {
      ticket_rate_id: 'rate_1',
      tickets: [anEntry('price_of_rate_1')],
    })
    expect((await sandbox.rest('GET', pagePath(checkout))).body).toContain('no money is taken')
  } finally {
    await sandbox.close()
  }
  expect((await buyer.view(await ofRate('rate_1'))).body).not.toContain('no money is taken')
})

test('payment page has no scripts or external files, is never cached and refreshes when the hold ends', async () => {
  const { headers, body } = await buyer.view(await ofRate('rate_1', redirectUrls))
  const [, style = ''] = /<style>(.*)<\/style>/s.exec(body) ?? []
  expect(headers).toMatchObject({
    'cache-control': 'private, no-store',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
    'content-security-policy': [
      "default-src 'none'",
      `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
      'img-src data:',
      "form-action 'self' https://shop.example http://shop.example:8080 https:",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  })
  expect(body).not.toMatch(/<script|\bon\w+=|style=|(src|href)="(?!data:)/)
  expect(body).toContain('<html lang="en">')
  const seconds = headers.refresh
  expect(Number(seconds)).toBeGreaterThan(840)
  expect(Number(seconds)).toBeLessThanOrEqual(901)
})

test('payment page without redirect URLs allows forms to itself only', async () => {
  const { headers } = await buyer.view(await ofRate('rate_1'))
  expect(headers['content-security-policy']).toContain("; form-action 'self'; ")
})

test('payment page: a redirect URL cannot inject into the content security policy', async () => {
  const checkout = await ofRate('rate_1', { redirect_url: 'https://shop;sandbox.example/' })
  expect((await buyer.view(checkout)).headers['content-security-policy']).toContain(
    "form-action 'self' https:;",
  )
})

test('payment page escapes names', async () => {
  const checkout = await ofRate('rate_hostile', {}, [{ supplements: [{ supplement_id: 'sup_hostile' }] }])
  const before = await buyer.view(checkout)
  const after = await buyer.pay(checkout)
  for (const { statusCode, body } of [before, after]) {
    expect(statusCode).toBe(200)
    expect(body).not.toContain('<script')
    expect(body).toContain('&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;')
  }
})

test.each([
  ['unknown', newPageToken(newId('pay'), 'org_1'), 1],
  ['without a payment', 'A'.repeat(43), 0],
  ['too short', 'A'.repeat(42), 0],
  ['too long', 'A'.repeat(300), 0],
  ['of other characters', `${'A'.repeat(42)}-`, 0],
  ['two tokens', `${'A'.repeat(43)}/${'A'.repeat(43)}`, 0],
  ['empty', '', 0],
])('payment page with a token that is %s is 404 with a page', async (_name, token, statements) => {
  for (const answer of [
    () => sale.rest('GET', `/pay/${token}`),
    () => buyer.post(`/pay/${token}`, 'action=pay'),
  ]) {
    sale.statements.reset()
    const { statusCode, headers, body } = await answer()
    expect(statusCode).toBe(404)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['cache-control']).toBe('private, no-store')
    expect(body).toContain('No such payment')
    expect(sale.statements).toHaveLength(statements)
  }
})

test.each(['action=refund', 'action=pay&action=cancel', 'pay=action', ''])(
  'payment page: a form of %j changes nothing',
  async (body) => {
    const checkout = await ofRate('rate_1', redirectUrls)
    const answer = await buyer.post(pagePath(checkout), body)
    expect(answer.statusCode).toBe(400)
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(await buyer.statusesOf(checkout)).toEqual(['pending', 'held'])
  },
)

test.each(['application/json', 'text/plain', 'multipart/form-data; boundary=x'])(
  'payment page: a body of type %s is not read',
  async (type) => {
    const checkout = await ofRate('rate_1', redirectUrls)
    const answer = await buyer.post(pagePath(checkout), '{"action":"pay"}', type)
    expect(answer.statusCode).toBe(415)
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(await buyer.statusesOf(checkout)).toEqual(['pending', 'held'])
  },
)

test('forms are accepted by the payment page only', async () => {
  const answer = await sale.rest('POST', '/tickets/checkout', {
    headers: { ...sale.channel, 'content-type': formType },
    body: 'ticket_rate_id=rate_1',
  })
  expect(answer.statusCode).toBe(415)
})

test('no log line contains the token of a payment page', async () => {
  const checkout = await ofRate('rate_1', redirectUrls)
  const token = pagePath(checkout).slice('/pay/'.length)
  const lines: string[] = []
  const app = await createApp({
    db: sale.db,
    config: parseConfig({ LOG_LEVEL: 'trace', RATE_LIMIT: 'off' }),
    provider: stubProvider({ charge: () => Promise.reject(new Error(`no ${token}`)) }),
    logTo: { write: (line) => void lines.push(line) },
  })
  const url = pagePath(checkout)
  const headers = { 'content-type': formType }
  await app.inject({ url })
  await app.inject({ method: 'POST', url, headers, payload: 'action=pay' })
  await app.inject({ method: 'PUT', url })
  await app.inject({ url: `${url}/more?token=${token}` })
  await app.inject({ method: 'POST', url, headers, payload: 'action=cancel' })
  await app.close()
  const log = lines.join('')
  expect(log).toContain('request failed')
  expect(log).toContain('"route":"/pay/*"')
  expect(log).not.toContain(token)
  expect(log).not.toContain('shop.example')
})
