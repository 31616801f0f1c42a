// Runs in: postgres

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anEntry } from '../../support/checkouts.ts'
import { money } from '../../support/contract-input.ts'
import { aCatalogue, anEvent, aRateNamed } from '../../support/factories.ts'
import { createTestDatabase, type TestDatabase } from '../../support/harness.ts'
import { mustStartServer, runCli, type ServerProcess } from '../../support/processes.ts'

// The whole way of a client, through the built programs only.

const catalogue = aCatalogue({
  events: [
    anEvent({
      _id: 'evt_walk',
      ticket_rates: [aRateNamed('walk', {}, { price: 20 })],
    }),
  ],
})

let database: TestDatabase
let folder: string
let server: ServerProcess | undefined
beforeAll(async () => {
  database = await createTestDatabase({ empty: true })
  folder = await mkdtemp(join(tmpdir(), 'walk-'))
})
afterAll(async () => {
  await server?.stop()
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

async function cli(...args: string[]) {
  const { code, output, errors } = await runCli(args, database.settings)
  expect(errors).toBe('')
  expect(code).toBe(0)
  return output
}

test('a client imports, lists, quotes, checks out, pays and looks up its ticket', async () => {
  const file = join(folder, 'catalogue.json')
  await writeFile(file, JSON.stringify(catalogue))
  await cli('migrate')
  await cli('import', file)
  const channel = JSON.parse(
    await cli('key', 'issue', 'channel', '--name', 'Shop', '--organization', 'org_1', '--json'),
  )
  const integration = JSON.parse(
    await cli('key', 'issue', 'integration', '--name', 'Door', '--organization', 'org_1', '--json'),
  )
  expect(Object.keys(channel)).toEqual(['channel_id', 'key'])
  expect(Object.keys(integration)).toEqual(['integration_id', 'secret', 'key'])

  server = await mustStartServer(database.settings)
  const { url } = server
  const json = { 'content-type': 'application/json', 'x-api-key': channel.key }

  const list = await (await fetch(`${url}/events?populate=*`, { headers: json })).json()
  expect(list).toMatchObject({
    success: true,
    data: [
      {
        _id: 'evt_walk',
        ticket_rates: [{ _id: 'rate_walk', available: true, availability: { sold: 0, available: 100 } }],
      },
    ],
  })

  const graphql = async (query: string, variables: object) =>
    (
      await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ query, variables }),
      })
    ).json()
  const input = { items: [{ ticketRateId: 'rate_walk', tickets: [{ priceId: 'price_walk' }] }] }
  const quote = `query ($input: QuoteCheckoutInput!) { quoteCheckout(input: $input) {
    ... on CheckoutQuote { amounts { total { amount currency } } } } }`
  expect(await graphql(quote, { input })).toEqual({
    data: { quoteCheckout: { amounts: { total: money(22) } } },
  })

  const body = {
    ticket_rate_id: 'rate_walk',
    tickets: [anEntry('price_walk')],
    redirect_url: 'https://shop.example/thanks?order=7',
  }
  const made = await fetch(`${url}/tickets/checkout`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify(body),
  })
  expect(made.status).toBe(200)
  const { data: checkout } = await made.json()
  expect(checkout).toMatchObject({ total_amount: 22, tickets: [{ status: 'active' }] })
  const ticketUrl = `${url}/integrations/tickets/${checkout.tickets[0]._id}`
  const lookUp = async (headers: Record<string, string>) =>
    (await (await fetch(ticketUrl, { headers })).json()).data
  expect(await lookUp({ 'x-api-key': integration.key })).toMatchObject({ status: 'pending', total_paid: 0 })

  expect(checkout.payment_url.startsWith(`${url}/`)).toBe(true)
  const page = await fetch(checkout.payment_url)
  expect(page.status).toBe(200)
  expect(await page.text()).toContain('€22.00')
  const paid = await fetch(checkout.payment_url, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ action: 'pay' }),
  })
  expect(paid.status).toBe(303)
  expect(paid.headers.get('location')).toBe(
    `https://shop.example/thanks?order=7&payment_id=${checkout.payment_id}&status=paid`,
  )

  const byKey = await lookUp({ 'x-api-key': integration.key })
  expect(byKey).toMatchObject({
    status: 'activated',
    total_paid: 22,
    payment_id: checkout.payment_id,
    rate_id: 'rate_walk',
  })
  expect(Date.parse(byKey.activation_date)).toBeGreaterThan(Date.now() - 60_000)
  expect(await lookUp({ integration_id: integration.integration_id, secret: integration.secret })).toEqual(
    byKey,
  )
  const ticket = 'query ($id: ID!) { ticket(id: $id) { status payment { status } } }'
  expect(await graphql(ticket, { id: byKey._id })).toEqual({
    data: { ticket: { status: 'ACTIVATED', payment: { status: 'PAID' } } },
  })
})
