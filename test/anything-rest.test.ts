import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anything, changed, entry, json, runs, soldForever, text } from './anything.ts'
import { anEntry } from './checkouts.ts'
import { documented } from './refusals.ts'
import { openSale, type Sale } from './sale.ts'

let sale: Sale
beforeAll(async () => {
  sale = await openSale(soldForever())
})
afterAll(() => sale.close())

type Answer = Awaited<ReturnType<Sale['rest']>>

/** Whether what was asked for was done; else it is refused as documented, and by no fault of ours. */
function isDone(answer: Answer): boolean {
  if (answer.statusCode === 200) return true
  expect(answer.statusCode).toBeLessThan(500)
  documented(answer)
  return false
}

/** Sends any of these, and counts what was done and what was refused: both must be met, or it would prove little. */
async function sendAny<T>(any: fc.Arbitrary<T>, send: (one: T) => Promise<Answer>): Promise<void> {
  const counts = { done: 0, refused: 0 }
  const property = fc.asyncProperty(any, async (one) => {
    counts[isDone(await send(one)) ? 'done' : 'refused']++
  })
  await fc.assert(property, runs)
  expect(Math.min(counts.done, counts.refused)).toBeGreaterThan(3)
}

const right = { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] }
const body = fc.oneof(
  json,
  changed(right, 'redirect_url', 'error_url', 'send_resourcers', 'metadata'),
  fc.array(entry, { maxLength: 3 }).map((tickets) => ({ ...right, tickets })),
  fc.dictionary(text, anything).map((metadata) => ({ ...right, metadata })),
)

test('no body of a checkout makes it fail', async () => {
  const headers = { ...sale.channel, 'content-type': 'application/json' }
  await sendAny(body, (body) =>
    sale.rest('POST', '/tickets/checkout', { headers, body: JSON.stringify(body) }),
  )
})

const encoded = (text: string) => (text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80')
const names =
  'organization_id location_id start_date end_date populate search lat lng radius limit offset'.split(' ')
const degrees = (most: number) =>
  fc.double({ min: -most, max: most, noNaN: true }).map((angle) => angle.toFixed(100))
const query = fc.oneof(
  fc
    .array(fc.tuple(fc.constantFrom(...names), text), { maxLength: 2 })
    .map((pairs) => pairs.map(([name, value]) => `${name}=${encoded(value)}`).join('&')),
  fc.tuple(text, text).map(([name, value]) => `${encoded(name)}=${encoded(value)}`),
  fc.tuple(degrees(90), degrees(180)).map(([lat, lng]) => `lat=${lat}&lng=${lng}`),
)

test('no query string of the list makes it fail', () =>
  sendAny(query, (query) => sale.rest('GET', `/events?${query}`, { headers: sale.channel })))

test('no identifier and no address makes it fail', async () => {
  const address = fc
    .tuple(
      fc.constantFrom('/integrations/tickets/', '/', '/events/', '/pay/', '/graphql/'),
      fc.string({ unit: 'grapheme', maxLength: 250 }),
    )
    .map(([path, rest]) => `${path}${encodeURIComponent(rest)}`)
  const property = fc.asyncProperty(address, async (address) => {
    const { statusCode } = await sale.rest('GET', address, { headers: sale.integration.v2 })
    expect(statusCode).toBeLessThan(500)
  })
  await fc.assert(property, runs)
})

test('no credentials make it fail, or let anybody in', async () => {
  const visible = fc.string({ unit: 'grapheme-ascii' })
  const integrationId = fc.oneof(visible, fc.constant(sale.integration.v1.integration_id ?? ''))
  const credentials = fc.record(
    { 'x-api-key': visible, integration_id: integrationId, secret: visible },
    { requiredKeys: [] },
  )
  const property = fc.asyncProperty(credentials, async (headers) => {
    expect(documented(await sale.rest('GET', '/integrations/tickets/x', { headers }))).toMatch(/^401 UNAUTH/)
  })
  await fc.assert(property, runs)
})
