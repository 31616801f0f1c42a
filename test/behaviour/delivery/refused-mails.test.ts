import { afterAll, beforeAll, expect, test } from 'vitest'
import { deliveries } from '../../../src/domain/delivery/table.ts'
import {
  buyDeliverable,
  deliveryCatalogue,
  makeDeliveriesDue,
  readDeliveries,
  sendDeliveriesOnce,
} from '../../support/deliveries.ts'
import { type MailServer, startMailServer } from '../../support/mail-server.ts'
import { sharedSale } from '../../support/sale.ts'

// A server that refuses all mails for good refuses their sender, and one that refuses a mail among others its recipient.

let server: MailServer
const sale = sharedSale(deliveryCatalogue)
beforeAll(async () => {
  server = await startMailServer()
})
afterAll(() => server.close())

const send = async () => {
  await makeDeliveriesDue(sale)
  return sendDeliveriesOnce(sale, { SMTP_URL: server.url })
}
const buyers = Array.from({ length: 12 }, (_, number) => ({ email: `buyer-${number}@example.com` }))
const statuses = async () =>
  Object.values(await readDeliveries(sale)).map(({ status, lastError }) => `${status} ${lastError}`)

test.each([
  ['each recipient', (refused: boolean) => (server.answer = () => (refused ? 550 : null))],
  ['the sender', (refused: boolean) => (server.answerSender = () => (refused ? 553 : null))],
])(
  'mails of a minute in which the server refuses %s wait, and go out once it takes them',
  async (_, refuse) => {
    await sale.db.delete(deliveries)
    await buyDeliverable(sale, buyers)
    refuse(true)
    for (let times = 0; times < 3; times++) expect(await send()).toEqual([])
    expect(new Set(await statuses())).toEqual(new Set([expect.stringMatching(/^pending SMTP_55[03]$/)]))
    refuse(false)
    await send()
    expect(new Set(await statuses())).toEqual(new Set(['sent null']))
  },
)

test('control: the same refusal of one among others ends it when it is repeated', async () => {
  await sale.db.delete(deliveries)
  server.answer = (recipient) => (recipient === 'buyer-0@example.com' ? 550 : null)
  await buyDeliverable(sale, buyers)
  expect(await send()).toEqual([])
  expect((await statuses()).toSorted()).toEqual([
    'pending SMTP_550',
    ...buyers.slice(1).map(() => 'sent null'),
  ])
  expect(await send()).toMatchObject([{ code: 'SMTP_550' }])
  expect((await statuses()).toSorted()).toEqual(['dead SMTP_550', ...buyers.slice(1).map(() => 'sent null')])
})
