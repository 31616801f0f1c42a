import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importCatalogue } from '../../src/domain/import/import-catalogue.ts'
import { anEntry } from '../support/checkouts.ts'
import { aCatalogue, anEvent, anOrganization, aPrice, aRate, channelHeaders } from '../support/factories.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { formType, visibleText } from '../support/payment-page-buyer.ts'
import { mustStartServer, type ServerProcess } from '../support/processes.ts'
import { type StubStripe, startStubStripe, stripeSettings } from '../support/stub-stripe.ts'

// Two processes on one database, by two releases of Node whose ICU has another number of decimals for the forint: amounts
// are stored in minor units, so neither may ask it.

const run = promisify(execFile)
const script = `new Intl.NumberFormat('en', { style: 'currency', currency: 'HUF' }).resolvedOptions().maximumFractionDigits`
const digitsBy = async (node: string) => Number((await run(node, ['-p', script])).stdout)

let folder: string
let database: TestDatabase
let stripe: StubStripe
let nodes: string[]
let services: ServerProcess[]
let channel: Record<string, string>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-node-'))
  // Of npm, as the tests with the Node of the image (.ci/run).
  const version = (await digitsBy(process.execPath)) === 0 ? '24.0.0' : '24.21.0'
  await run('npm', ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', `node@${version}`])
  nodes = [process.execPath, join(folder, 'node_modules/node/bin/node')]
  database = await createTestDatabase()
  stripe = await startStubStripe()
  const opened = await database.open()
  const price = aPrice({ _id: 'price_1', price: 1999, fee_quantity: 7.5 })
  const rate = aRate({ _id: 'rate_1', prices: [price] })
  await importCatalogue(
    opened.db,
    aCatalogue({
      organizations: [anOrganization({ currency: 'HUF' })],
      events: [anEvent({ ticket_rates: [rate] })],
    }),
  )
  channel = await channelHeaders(opened.db, 'org_1')
  await opened.close()
  services = await Promise.all(
    nodes.map((node) =>
      mustStartServer({ ...database.settings, ...stripeSettings(stripe.url) }, undefined, node),
    ),
  )
})
afterAll(async () => {
  await Promise.all(services?.map((service) => service.stop()) ?? [])
  await stripe?.close()
  await database?.drop()
  await rm(folder, { recursive: true, force: true })
})

test('control: both have another number of decimals for the forint', async () => {
  const digits = await Promise.all(nodes.map(digitsBy))
  expect(digits.toSorted()).toEqual([0, 2])
})

test('both list, charge and print the same amounts', async () => {
  const seen = await Promise.all(
    services.map(async ({ url }) => {
      const listed = await fetch(`${url}/events?populate=*`, { headers: channel })
      const { data: events } = (await listed.json()) as {
        data: { ticket_rates: { prices: { price: number }[] }[] }[]
      }
      const answer = await fetch(`${url}/tickets/checkout`, {
        method: 'POST',
        headers: { ...channel, 'content-type': 'application/json' },
        body: JSON.stringify({ ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')], language: 'en' }),
      })
      const { data } = (await answer.json()) as {
        data: { payment_id: string; payment_url: string; total_amount: number }
      }
      const page = `${url}${new URL(data.payment_url).pathname}`
      const text = visibleText(await (await fetch(page)).text())
      const headers = { 'content-type': formType }
      await fetch(page, { method: 'POST', redirect: 'manual', headers, body: 'action=pay' })
      return {
        listed: events[0]?.ticket_rates[0]?.prices[0]?.price,
        total: data.total_amount,
        charged: stripe.sessionFor(data.payment_id).amount_total,
        printed: /Pay HUF\s[\d.,]+/.exec(text)?.[0].replace(/\s/g, ' '),
      }
    }),
  )
  const right = { listed: 1999, total: 2148.93, charged: 214_893, printed: 'Pay HUF 2,148.93' }
  expect(seen).toEqual([right, right])
})
