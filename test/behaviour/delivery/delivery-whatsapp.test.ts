import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { json } from 'node:stream/consumers'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { deliveries } from '../../../src/domain/delivery/table.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import {
  buyDeliverable,
  deliveryCatalogue,
  makeDeliveriesDue,
  publicUrl,
  readDeliveries,
  sendDeliveriesOnce,
} from '../../support/deliveries.ts'
import { sharedSale } from '../../support/sale.ts'

// Delivery by WhatsApp, against a stand-in for the Cloud API on the loopback interface.

type ApiRequest = { url: string | undefined; authorization: string | undefined; body: unknown }

let api: Server
let apiBase: string
const requests: ApiRequest[] = []
const accepted = { status: 200, body: { messages: [{ id: 'wamid.1' }] } as unknown }
let answer = accepted
const sale = sharedSale(deliveryCatalogue)
beforeAll(async () => {
  api = createServer(async (request, response) => {
    const { url, headers } = request
    requests.push({ url, authorization: headers.authorization, body: await json(request) })
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body))
  }).listen(0, '127.0.0.1')
  await once(api, 'listening')
  const address = api.address()
  apiBase = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v1`
})
afterEach(async () => {
  answer = accepted
  requests.length = 0
  await sale.db.delete(deliveries)
})
afterAll(async () => api?.close())

const phone = '+34600000001'

/** Buys a ticket for each phone and deletes the mails, so that only messages are left to send. */
async function boughtFor(...phones: string[]) {
  return boughtIn(undefined, ...phones)
}

async function boughtIn(language: string | undefined, ...phones: string[]) {
  const checkout = await buyDeliverable(
    sale,
    phones.map((phone) => ({ phone })),
    { language },
  )
  await sale.db.delete(deliveries).where(eq(deliveries.medium, 'email'))
  return checkout
}

const send = (base = apiBase, templateLanguages = 'es') =>
  sendDeliveriesOnce(sale, {
    WHATSAPP_TOKEN: 'secret-token',
    WHATSAPP_PHONE_NUMBER_ID: '1234567890',
    WHATSAPP_TEMPLATE: 'ticket_ready',
    WHATSAPP_TEMPLATE_LANGUAGE: templateLanguages,
    WHATSAPP_API_BASE: base,
  })

test('whatsapp delivery sends the template once for each ticket of a phone, with a link to its document', async () => {
  const { payment_id } = await boughtFor(phone, phone)
  const [{ id } = { id: '' }] = await sale.db.select().from(deliveries)
  await send()
  const rows = await sale.db
    .select()
    .from(tickets)
    .where(eq(tickets.paymentId, payment_id))
    .orderBy(tickets.position)
  expect(requests).toEqual(
    rows.map(({ documentToken }, index) => ({
      url: '/v1/1234567890/messages',
      authorization: 'Bearer secret-token',
      body: {
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        to: phone,
        biz_opaque_callback_data: id,
        type: 'template',
        template: {
          name: 'ticket_ready',
          language: { code: 'es' },
          components: [
            {
              type: 'header',
              parameters: [
                {
                  type: 'document',
                  document: {
                    link: `${publicUrl}/tickets/${documentToken}.pdf`,
                    filename: `noche-de-nandu-ticket-${index + 1}.pdf`,
                  },
                },
              ],
            },
            {
              type: 'body',
              parameters: [
                { type: 'text', text: 'Noche de Ñandú & <friends>' },
                { type: 'text', text: 'domingo, 12 de julio de 2099, 00:30 CEST' },
              ],
            },
          ],
        },
      },
    })),
  )
  expect(requests).toHaveLength(2)
  expect(await readDeliveries(sale)).toEqual({ [phone]: { status: 'sent', attempts: 1, lastError: null } })
})

test.each([
  ['de', 'en,de,pt_BR', 'de', 'Sonntag, 12. Juli 2099, 00:30 MESZ'],
  ['pt-PT', 'en,de,pt_BR', 'pt_BR', 'domingo, 12 de julho de 2099, 00:30 CEST'],
  ['it', 'es,de', 'es', 'domingo, 12 de julio de 2099, 00:30 CEST'],
])(
  'whatsapp delivery of a ticket in %s, of a template in %s, is in %s',
  async (language, has, code, start) => {
    await boughtIn(language, phone)
    await send(apiBase, has)
    const [{ body } = { body: null }] = requests
    expect(body).toMatchObject({
      template: {
        language: { code },
        components: [{ type: 'header' }, { type: 'body', parameters: [{}, { text: start }] }],
      },
    })
  },
)

test('whatsapp delivery without settings is skipped', async () => {
  await boughtFor(phone, '+34600000002')
  await sendDeliveriesOnce(sale, {})
  const skipped = { status: 'skipped', attempts: 1, lastError: 'NOT_ENABLED' }
  expect(await readDeliveries(sale)).toEqual({ [phone]: skipped, '+34600000002': skipped })
})

const refusal = (code: number) => ({ error: { message: `(#${code}) ${phone} can’t be sent to`, code } })

test.each<[status: number, body: unknown, becomes: string, lastError: string]>([
  [400, refusal(131026), 'dead', 'WHATSAPP_131026'],
  [404, refusal(132001), 'dead', 'WHATSAPP_132001'],
  [400, refusal(131056), 'pending', 'WHATSAPP_131056'],
  [429, refusal(130429), 'pending', 'WHATSAPP_130429'],
  [401, refusal(190), 'pending', 'HTTP_401'],
  [500, refusal(131000), 'pending', 'WHATSAPP_131000'],
  [503, '<h1>Busy</h1>', 'pending', 'HTTP_503'],
  [422, '', 'dead', 'HTTP_422'],
  [302, '', 'pending', 'ECONNECTION'],
])('whatsapp delivery after a response of %i %j is %s', async (status, body, becomes, lastError) => {
  const other = '+34600000009'
  answer = { status, body }
  await boughtFor(phone)
  await send()
  expect(await readDeliveries(sale)).toEqual({ [phone]: { status: 'pending', attempts: 1, lastError } })
  // A refusal is final if another message was taken before it is repeated.
  answer = accepted
  await boughtFor(other)
  await send()
  answer = { status, body }
  await makeDeliveriesDue(sale)
  await send()
  expect(await readDeliveries(sale)).toMatchObject({ [phone]: { status: becomes, attempts: 2, lastError } })
})

test('whatsapp delivery is retried when the API is unreachable', async () => {
  await boughtFor(phone)
  await send('http://127.0.0.1:1')
  expect(await readDeliveries(sale)).toEqual({
    [phone]: { status: 'pending', attempts: 1, lastError: expect.stringMatching(/^E\w+$/) },
  })
})
