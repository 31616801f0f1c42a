import { sql } from 'drizzle-orm'
import { beforeAll, expect, test } from 'vitest'
import { anEvent, aPrice, aRate, inDays } from '../../support/factories.ts'
import { inTestMode } from '../../support/modes.ts'
import { sharedSale } from '../../support/sale.ts'

// Events that are on sale, as a list is filtered by them: in every state, those with a rate whose status is ON_SALE.

const [past, future] = [inDays(-1), inDays(1)]

// Prices of a rate: each used up or removed afterwards by its name.
const priceLists = [
  [],
  [{}],
  [{ valid_until: past }],
  [{ valid_until: future }],
  [{ name: 'Used up', quantity: 1 }],
  [{ name: 'Held', quantity: 1 }],
  [{ name: 'Removed' }],
  [{ name: 'Used up', quantity: 1 }, {}],
  [{ valid_until: past }, { name: 'Removed' }, { name: 'Used up', quantity: 1 }],
].map((prices) => prices.map(aPrice))

const combine = <A, B>(one: A[], other: B[]) => one.flatMap((a) => other.map((b) => ({ ...a, ...b })))

const rates = combine(
  combine(
    [{}, { complete: true }, { name: 'Removed' }],
    [null, past, future].map((valid_from) => ({ valid_from })),
  ),
  combine(
    [null, 5, 0].map((available) => ({ availability: { sold: 2, available } })),
    priceLists.map((prices) => ({ prices })),
  ),
)
const copy = (rate: (typeof rates)[number]) =>
  aRate({ ...rate, prices: rate.prices.map(({ _id, ...price }) => aPrice(price)) })

const running = { start_date: inDays(-0.1), end_date: inDays(0.1) }
const ended = { start_date: inDays(-2), end_date: past }

const events = [
  ...rates.map((rate) => anEvent({ ticket_rates: [copy(rate)] })),
  // One rate that is on sale is enough.
  ...rates.slice(0, 90).map((rate, index) => {
    const other = rates.at(-index - 1)
    return anEvent({ ticket_rates: [copy(rate), ...(other ? [copy(other)] : [])] })
  }),
  ...[running, ended, {}].map((dates) => anEvent({ ...dates, ticket_rates: [aRate()] })),
  anEvent({ ticket_rates: [] }),
]

const sale = sharedSale({ events })
beforeAll(async () => {
  const { db } = sale
  await db.execute(sql`update ticket_rates set removed = true where name = 'Removed'`)
  await db.execute(sql`update prices set removed = true where name = 'Removed'`)
  await db.execute(
    sql`update stock set sold = 1 from prices where stock.id = prices.id and name = 'Used up' and mode = 'live'`,
  )
  await db.execute(
    sql`update stock set held = 1 from prices where stock.id = prices.id and name = 'Held' and mode = 'live'`,
  )
})

type Shown = { id: string; startDate: string; ticketRates: { status: string }[] }
type PageInfo = { hasNextPage: boolean; endCursor: string | null }
type Page = { totalCount?: number; nodes: Shown[]; pageInfo: PageInfo }

/** Lists all events that a filter finds, page by page. */
async function pagesOf(
  filter: string,
  headers: Record<string, string>,
  first = 100,
  order = 'START_DATE_ASC',
) {
  const query = `query ($after: String) { events(first: ${first}, after: $after, orderBy: ${order}, filter: {
    starts: { from: "2000-01-01T00:00:00Z" } ${filter} }) {
      ${first === 100 ? 'totalCount' : ''} nodes { id startDate ticketRates { status } } pageInfo { hasNextPage endCursor } } }`
  const pages: Page[] = []
  let info: PageInfo = { hasNextPage: true, endCursor: null }
  while (info.hasNextPage) {
    const { data, errors }: { data?: { events: Page } | null; errors?: unknown } = await sale.graphql(
      query,
      { after: info.endCursor },
      headers,
    )
    expect(errors).toBeUndefined()
    if (!data) break
    pages.push(data.events)
    info = data.events.pageInfo
    expect(data.events.nodes.length).toBeLessThanOrEqual(first)
    if (info.hasNextPage) expect(info.endCursor).not.toBeNull()
  }
  return pages
}
async function list(filter: string, headers: Record<string, string>): Promise<Shown[]> {
  const pages = await pagesOf(filter, headers)
  const found = pages.flatMap(({ nodes }) => nodes)
  for (const { totalCount } of pages) expect(totalCount).toBe(found.length)
  return found
}

const idsOf = (shown: Shown[]) => shown.map(({ id }) => id)

test.each(['live', 'test'])('in %s mode the filter agrees with the status of the rates', async (mode) => {
  const { channel } = mode === 'test' ? await inTestMode(sale) : sale
  const all = await list('', channel)
  expect(all).toHaveLength(events.length)
  const isOnSale = ({ ticketRates }: Shown) => ticketRates.some(({ status }) => status === 'ON_SALE')
  const expected = all.filter(isOnSale)
  const statuses = new Set(all.flatMap(({ ticketRates }) => ticketRates.map(({ status }) => status)))
  expect(statuses.size).toBe(5)
  expect(expected.length).toBeGreaterThan(20)
  expect(idsOf(await list('onSale: true', channel))).toEqual(idsOf(expected))
  expect(idsOf(await list('onSale: false', channel))).toEqual(idsOf(all.filter((event) => !isOnSale(event))))
  expect(idsOf(await list('onSale: null', channel))).toEqual(idsOf(all))
})

test('what is sold out in live mode is on sale in test mode', async () => {
  const tester = await inTestMode(sale)
  const [live, asTest] = [
    await list('onSale: true', sale.channel),
    await list('onSale: true', tester.channel),
  ]
  expect(asTest.length).toBeGreaterThan(live.length)
})

test('a page looks through ten events for each that it may show, and the list goes on behind them', async () => {
  for (const [filter, first, order] of [
    ['onSale: true', 2, 'START_DATE_ASC'],
    ['onSale: true', 9, 'START_DATE_DESC'],
    ['onSale: false', 9, 'START_DATE_ASC'],
  ] as const) {
    const expected = idsOf(await list(filter, sale.channel))
    const pages = await pagesOf(filter, sale.channel, first, order)
    const found = idsOf(pages.flatMap(({ nodes }) => nodes))
    expect(found).toEqual(order === 'START_DATE_ASC' ? expected : expected.toReversed())
    // Most rates are not on sale: some pages are short, and some are empty.
    if (first === 2) expect(new Set(pages.map(({ nodes }) => nodes.length))).toEqual(new Set([0, 1, 2]))
  }
})
