import { beforeAll, expect, test } from 'vitest'
import { toCursor } from '../../src/domain/listing/search-events.ts'
import { heldBytes } from '../support/heap.ts'
import { publishableHeaders } from '../support/modes.ts'
import { preparedIn } from '../support/prepared-statements.ts'
import { sharedSale } from '../support/sale.ts'

// Statements that a client makes by what it asks for: what sessions and this process keep of them.

let page: Record<string, string>
const sale = sharedSale()
beforeAll(async () => {
  page = await publishableHeaders(sale)
})

const choices = {
  organizationId: 'org_1',
  locationId: 'loc_1',
  search: 'a',
  city: 'Madrid',
  countryCode: 'ES',
  musicGenre: 'Folk',
  near: { latitude: 1, longitude: 1 },
}

const list = `query ($filter: EventFilter, $orderBy: EventOrder!, $after: String) {
  events(filter: $filter, orderBy: $orderBy, after: $after) { nodes { id } } }`
const count = 'query ($filter: EventFilter) { events(filter: $filter) { totalCount } }'

const filters = Array.from({ length: 2 ** Object.keys(choices).length }, (_, bits) =>
  Object.entries(choices).filter((_, bit) => (bits >> bit) & 1),
).flatMap((chosen) =>
  [{}, { onSale: true }, { onSale: false }].map((onSale) => ({ ...Object.fromEntries(chosen), ...onSale })),
)
const after = toCursor({ startDate: new Date(0), id: 'evt_1' })
const orders = ['START_DATE_ASC', 'START_DATE_DESC'].flatMap((orderBy) => [{ orderBy }, { orderBy, after }])
// Every filter with each order and place, and its count: 1,920, of which those by an organization have equal statements.
const asked = [
  ...orders.flatMap((order) => filters.map((filter) => ({ query: list, variables: { filter, ...order } }))),
  ...filters.map((filter) => ({ query: count, variables: { filter } })),
]

async function walk(): Promise<void> {
  const waiting = [...asked]
  const ask = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop())
      expect((await sale.graphql(next.query, next.variables, page)).errors).toBeUndefined()
  }
  await Promise.all(Array.from({ length: 8 }, ask))
}

test('a thousand statements that a page chose are not kept, and those in use are', async () => {
  const before = await heldBytes()
  sale.statements.reset()
  const isUsed = setInterval(() => void sale.graphql('{ events { nodes { id } } }', {}, page), 20)
  await walk()
  clearInterval(isUsed)
  // Control: so many different statements.
  const sent = new Set(sale.statements.splice(0)).size
  expect(sent).toBeGreaterThan(950)
  const grownBytes = (await heldBytes()) - before
  const kept = await preparedIn(sale.db)
  const chosen = kept.map((texts) => texts.filter((text) => text.includes('from "events"')))
  console.log(
    `${sent} statements: ${chosen.map((texts) => texts.length)} kept by sessions, ${grownBytes >> 20} MB by the process`,
  )
  for (const texts of chosen) expect(texts.length).toBeLessThan(50)
  expect(chosen.flat().length).toBeGreaterThan(0)
  expect(grownBytes).toBeLessThan(12 * 2 ** 20)
})
