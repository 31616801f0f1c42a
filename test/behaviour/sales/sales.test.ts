import { and, eq, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { channels } from '../../../src/domain/caller/table.ts'
import { expireHolds } from '../../../src/domain/sale/release/expire-holds.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { anEntry, mustCheckOut } from '../../support/checkouts.ts'
import { withNumbers } from '../../support/contract-input.ts'
import { aDiscount, lapseAll } from '../../support/discounts.ts'
import {
  aCatalogue,
  aLocation,
  anEvent,
  anOrganization,
  aPrice,
  aRate,
  aSupplement,
  channelHeaders,
  integrationHeaders,
} from '../../support/factories.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import { publishableHeaders, scopedHeaders } from '../../support/modes.ts'
import { cancelTicket, refundTicket, refusalCodes } from '../../support/refunds.ts'
import { sharedSale } from '../../support/sale.ts'
import { addUp, groupings, salesAmounts, salesFields, wrongSums } from '../../support/sales-sums.ts'
import { stubProvider } from '../../support/stub-provider.ts'
import { payFor } from '../../support/tickets.ts'

const rate = (_id: string, name: string, prices: { _id: string; name: string; price: number }[]) =>
  aRate({
    _id,
    name,
    prices: prices.map((price) => aPrice({ fee_quantity: 10, ...price })),
    supplements: [aSupplement({ _id: `sup_${_id}`, price: 3 })],
    warranty: { enabled: true, percentage: 10, hours: 24 },
  })

const catalogue = aCatalogue({
  organizations: [
    anOrganization({ platform_fee_percentage: 5, discounts: [aDiscount({ code: 'half', percentage: 50 })] }),
    anOrganization({ _id: 'org_2', name: 'Other' }),
  ],
  locations: [aLocation({ timezone: 'Europe/Madrid' })],
  events: [
    anEvent({
      _id: 'evt_sums',
      ticket_rates: [
        rate('rate_a', 'Floor', [
          { _id: 'price_early', name: 'Early', price: 10 },
          { _id: 'price_late', name: 'Late', price: 20 },
        ]),
        rate('rate_b', 'Guests', [{ _id: 'price_free', name: 'Free', price: 0 }]),
      ],
    }),
    anEvent({
      _id: 'evt_any',
      ticket_rates: [
        rate('rate_c', 'Floor', [
          { _id: 'price_c', name: 'Early', price: 9.99 },
          { _id: 'price_d', name: 'Late', price: 17.35 },
        ]),
        rate('rate_d', 'Balcony', [{ _id: 'price_e', name: 'Regular', price: 0.33 }]),
        rate('rate_e', 'Guests', [{ _id: 'price_f', name: 'Free', price: 0 }]),
      ],
    }),
    anEvent({ _id: 'evt_none', location_id: null }),
    anEvent({ _id: 'evt_far', organization_id: 'org_2', location_id: null }),
  ],
})

let second: Record<string, string>
const sale = sharedSale(catalogue, { provider: stubProvider() })
beforeAll(async () => {
  second = await channelHeaders(sale.db)
})

type Row = Record<string, string | number | object | null>
type Page = { nodes: Row[]; pageInfo: { endCursor: string; hasNextPage: boolean } }
const ask = (eventId: string, groupBy: string, headers = sale.integration.v2, more = '') =>
  sale.graphql<{ event: { sales: Page | null } | null }>(
    `query ($eventId: ID!) { event(by: { id: $eventId }) { sales(groupBy: ${groupBy}${more}) {
      nodes { ${salesFields} } pageInfo { endCursor hasNextPage } } } }`,
    { eventId },
    headers,
  )
async function salesBy(groupBy: string): Promise<Row[] | undefined> {
  const { data, errors } = await ask('evt_sums', groupBy)
  expect(errors).toBeUndefined()
  const rows = data?.event?.sales?.nodes
  for (const row of rows ?? [])
    for (const name of salesAmounts) expect(row[name]).toMatchObject({ currency: 'EUR' })
  return withNumbers(rows)
}

async function sell(body: object, headers = sale.channel) {
  const checkout = await mustCheckOut(sale, body as Parameters<typeof mustCheckOut>[1], headers)
  if (checkout.total_amount > 0) await payFor(sale, checkout)
  return checkout.tickets.map(({ _id }) => _id)
}

const zeros = {
  ...{ ticketRate: null, price: null, day: null, channel: null, referral: null, saleType: null, name: null },
  ...{ cancelled: 0, discounted: 0, refunded: 0, inside: 0 },
}

test('sales are summed by each grouping', async () => {
  // Two early ones at 10 + 1, half a late one at 10 + 1 with a drink and a warranty, and a free one.
  const [early = '', cancelled = ''] = await sell({
    ticket_rate_id: 'rate_a',
    tickets: [anEntry('price_early'), anEntry('price_early')],
    referral_id: 'blog',
  })
  const extras = { warranty: true, supplements: [{ supplement_id: 'sup_rate_a' }] }
  const [late = ''] = await sell({
    ticket_rate_id: 'rate_a',
    tickets: [anEntry('price_late', extras)],
    discount_code: 'half',
    referral_id: 'Arger',
  })
  await sell({ ticket_rate_id: 'rate_b', tickets: [anEntry('price_free')] }, second)
  // Neither is a sale: one expires, and one is still held.
  await mustCheckOut(sale, { ticket_rate_id: 'rate_a', tickets: [anEntry('price_late')] })
  await lapseAll(sale)
  await expireHolds(sale.db, 10)
  await mustCheckOut(sale, { ticket_rate_id: 'rate_a', tickets: [anEntry('price_late')] })

  expect(refusalCodes(await cancelTicket(sale, cancelled))).toEqual([])
  expect(refusalCodes(await refundTicket(sale, early))).toEqual([])
  expect(refusalCodes(await refundTicket(sale, late, { amount: 5 }))).toEqual([])
  await sale.db.update(tickets).set({ entered: 1 }).where(eq(tickets.id, late))

  // 10 - 5 of the late one: 20 + 3 + 1 + 1.30 before 10 off; a commission of 0.50. The refunded early one
  // owes none.
  const lateSums = {
    ...{ ticketCount: 1, gross: 25.3, discounted: 10, commission: 0.5, refunded: 5, net: 9.8, inside: 1 },
  }
  const earlySums = { ticketCount: 2, cancelled: 1, gross: 22, commission: 0.5, refunded: 11, net: 10.5 }
  const freeSums = { ticketCount: 1, gross: 0, commission: 0, net: 0 }
  const paid = {
    ticketCount: 3,
    cancelled: 1,
    gross: 47.3,
    discounted: 10,
    commission: 1,
    refunded: 16,
    net: 20.3,
    inside: 1,
  }
  const all = { ...paid, ticketCount: 4 }
  expect(await salesBy('RATE')).toEqual([
    { ...zeros, ticketRate: { id: 'rate_a' }, ...paid, name: 'Floor' },
    { ...zeros, ticketRate: { id: 'rate_b' }, ...freeSums, name: 'Guests' },
  ])
  expect(await salesBy('PRICE')).toEqual([
    { ...zeros, price: { id: 'price_early' }, ...earlySums, name: 'Early' },
    { ...zeros, price: { id: 'price_free' }, ...freeSums, name: 'Free' },
    { ...zeros, price: { id: 'price_late' }, ...lateSums, name: 'Late' },
  ])
  expect(await salesBy('REFERRAL')).toEqual([
    { ...zeros, referral: 'Arger', ...lateSums },
    { ...zeros, referral: 'blog', ...earlySums },
    { ...zeros, referral: null, ...freeSums },
  ])
  expect(await salesBy('SALE_TYPE')).toEqual([{ ...zeros, saleType: 'ONLINE', ...all }])
  const day = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Madrid' }).format(new Date())
  expect(await salesBy('DAY')).toEqual([{ ...zeros, day, ...all }])
  const byChannel = await salesBy('CHANNEL')
  expect(byChannel?.map(({ name }) => name)).toEqual(['Shop', 'Shop'])
  expect(byChannel?.map(({ ticketCount }) => ticketCount).sort()).toEqual([1, 3])
  const ids = byChannel?.map(({ channel }) => (channel as { id: string }).id)
  expect(ids).toEqual(ids?.toSorted())
  expect(await brokenInvariants(sale.db)).toEqual([])
})

test('sales add up to what the tickets say', async () => {
  const ids = await sale.db
    .select({ id: tickets.id })
    .from(tickets)
    .where(and(eq(tickets.eventId, 'evt_sums'), sql`activated_at is not null`))
  let raised = 0
  for (const { id } of ids) {
    const answer = await sale.rest('GET', `/integrations/tickets/${id}`, { headers: sale.integration.v2 })
    raised += Math.round(answer.json<{ data: { raised: number } }>().data.raised * 100)
  }
  for (const groupBy of groupings) {
    const net = (await salesBy(groupBy))?.reduce((sum, row) => sum + Math.round(Number(row.net) * 100), 0)
    expect(net, groupBy).toBe(raised)
  }
})

test('a row leads to what it sums, which is read only if more than its identifier is asked for', async () => {
  const edges: [groupBy: string, edge: string, fields: string, expected: object][] = [
    ['RATE', 'ticketRate', 'slug event { id }', { slug: 'floor', event: { id: 'evt_sums' } }],
    ['PRICE', 'price', 'name total { amount }', { name: 'Early', total: { amount: '11.00' } }],
    ['CHANNEL', 'channel', 'name', { name: 'Shop' }],
  ]
  for (const [groupBy, edge, fields, expected] of edges) {
    const read = async (fields: string) => {
      const query = `{ event(by: { id: "evt_sums" }) { sales(groupBy: ${groupBy}, first: 1) { nodes { ${edge} { ${fields} } } } } }`
      type Found = { event: { sales: { nodes: Record<string, object>[] } } }
      sale.statements.reset()
      const { data } = await sale.graphql<Found>(query, {}, sale.integration.v2)
      return data?.event.sales.nodes[0]?.[edge]
    }
    expect(await read('id')).toHaveProperty('id')
    const { length } = sale.statements
    expect(await read(fields), edge).toMatchObject(expected)
    expect(sale.statements.length).toBeGreaterThan(length)
  }
})

const pageOf = async (more: string) => {
  const { data, errors } = await ask('evt_sums', 'REFERRAL', undefined, `, ${more}`)
  expect(errors).toBeUndefined()
  return data?.event?.sales
}

test('a list of rows goes on after a cursor, and tickets without a referral come last', async () => {
  const found: unknown[] = []
  for (let after = '', isMore = true; isMore; ) {
    const page = await pageOf(`first: 1, after: "${after}"`)
    expect(page?.nodes).toHaveLength(1)
    found.push(page?.nodes[0]?.referral)
    after = page?.pageInfo.endCursor ?? ''
    isMore = page?.pageInfo.hasNextPage === true
    if (!isMore) expect((await pageOf(`after: "${after}"`))?.nodes).toEqual([])
  }
  expect(found).toEqual(['Arger', 'blog', null])
  expect((await pageOf('first: 2'))?.nodes).toHaveLength(2)
})

test.each([
  ['first: 0', 'first'],
  ['first: 101', 'first'],
  ['after: "x"', 'after'],
  [`after: "${btoa('ka\nb')}"`, 'after'],
  [`after: "${btoa('k\0')}"`, 'after'],
])('a page with %s is refused, and leaves the event', async (more, path) => {
  const { data, errors } = await ask('evt_sums', 'RATE', undefined, `, ${more}`)
  expect(data).toEqual({ event: { sales: null } })
  expect(errors).toMatchObject([{ extensions: { code: 'INVALID', path } }])
})

test('sales are for integrations with their scope, and null for all others', async () => {
  const both = await scopedHeaders(sale, 'catalogue', 'sales')
  for (const headers of [both, sale.integration.v1])
    expect((await ask('evt_sums', 'RATE', headers)).data?.event?.sales?.nodes).toHaveLength(2)
  const door = await scopedHeaders(sale, 'catalogue', 'tickets:read', 'door', 'refunds')
  // Others aren't told what is wrong with their input either.
  for (const headers of [sale.channel, await publishableHeaders(sale), door])
    for (const more of ['', ', first: 0'])
      expect(await ask('evt_sums', 'RATE', headers, more)).toMatchObject({
        data: { event: { sales: null } },
        errors: undefined,
      })
})

test('an event without sales has no rows', async () => {
  for (const groupBy of groupings)
    expect((await ask('evt_none', groupBy)).data?.event?.sales?.nodes).toEqual([])
  expect((await ask('evt_far', 'RATE')).data).toEqual({ event: null })
  const far = (await integrationHeaders(sale.db, 'org_2')).v2
  expect((await ask('evt_far', 'RATE', far)).data?.event?.sales?.nodes).toEqual([])
})

test('sales of any size, and of any number of events, take one statement', async () => {
  for (const groupBy of groupings) {
    const events = `events { nodes { id sales(groupBy: ${groupBy}) { nodes { ${salesFields} } } } }`
    type Found = { events: { nodes: { id: string; sales: Page }[] } }
    sale.statements.reset()
    const { data } = await sale.graphql<Found>(`{ ${events} }`, {}, sale.integration.v2)
    expect(sale.statements.filter((text) => text.includes('as gross'))).toHaveLength(1)
    expect(data?.events.nodes).toHaveLength(3)
    const found = data?.events.nodes.find(({ id }) => id === 'evt_sums')
    expect(withNumbers(found?.sales.nodes)).toEqual(await salesBy(groupBy))
  }
})

test('sales of fifty events are within the limit of complexity, and pages of a hundred rows of each are not', async () => {
  const all = (first: number) =>
    `{ events(first: 50) { nodes { sales(groupBy: REFERRAL, first: ${first}) { nodes { ${salesFields} } } } } }`
  expect((await sale.graphql(all(20), {}, sale.integration.v2)).errors).toBeUndefined()
  const { errors } = await sale.graphql(all(100), {}, sale.integration.v2)
  expect(errors?.[0]).toMatchObject({ extensions: { code: 'QUERY_TOO_COMPLEX' } })
})

test.each([
  // Winter: UTC+1; summer: UTC+2.
  ['2026-01-10T22:59:59.999Z', '2026-01-10'],
  ['2026-01-10T23:00:00.000Z', '2026-01-11'],
  ['2026-07-10T21:59:59.999Z', '2026-07-10'],
  ['2026-07-10T22:00:00.000Z', '2026-07-11'],
])('a payment at %s is of %s in Madrid', async (at, day) => {
  await sale.db
    .update(tickets)
    .set({ activatedAt: new Date(at), soldOn: sql`(${at}::timestamptz at time zone 'Europe/Madrid')::date` })
    .where(sql`activated_at is not null`)
  expect((await salesBy('DAY'))?.map(({ day }) => day)).toEqual([day])
})

const rates = { rate_c: ['price_c', 'price_d'], rate_d: ['price_e'], rate_e: ['price_f'] } as const
const aSold = fc.record({
  rate: fc.constantFrom(...(Object.keys(rates) as (keyof typeof rates)[])),
  prices: fc.array(fc.nat(1), { minLength: 1, maxLength: 3 }),
  discount_code: fc.option(fc.constant('half')),
  referral_id: fc.option(fc.constantFrom('a', 'B', '~', 'evt_sums')),
  warranty: fc.boolean(),
  supplement: fc.boolean(),
  isSecond: fc.boolean(),
  end: fc.constantFrom('paid', 'paid', 'paid', 'held', 'expired'),
  later: fc.array(fc.constantFrom('refund all', 'refund some', 'cancel', 'enter', 'yesterday'), {
    maxLength: 3,
  }),
  saleType: fc.constantFrom('online' as const, 'box_office' as const, 'invitation' as const),
})

type Sold = typeof aSold extends fc.Arbitrary<infer Value> ? Value : never
const aPlainSale: Omit<Sold, 'later'> = {
  ...{ rate: 'rate_c', prices: [0, 1], discount_code: 'half', referral_id: 'a' },
  ...{ warranty: true, supplement: true, isSecond: false, end: 'paid', saleType: 'online' },
}
// Gives every column of the sums something to add up, whatever the random sales do.
const everyColumn: Sold[] = [
  { ...aPlainSale, later: ['refund some', 'cancel'] },
  { ...aPlainSale, later: ['enter'] },
]

test('sums of any sales equal the rows, by every grouping', async () => {
  const property = fc.asyncProperty(fc.array(aSold, { minLength: 1, maxLength: 5 }), async (all) => {
    for (const { rate, prices, warranty, supplement, isSecond, end, later, saleType, ...more } of all) {
      const entries = prices.map((index) =>
        anEntry(rates[rate][index] ?? rates[rate][0], {
          warranty,
          supplements: supplement ? [{ supplement_id: `sup_${rate}` }] : [],
        }),
      )
      const body = { ticket_rate_id: rate, tickets: entries, ...more }
      const headers = isSecond ? second : sale.channel
      if (end !== 'paid') {
        await mustCheckOut(sale, body, headers)
        if (end === 'expired') {
          await lapseAll(sale)
          await expireHolds(sale.db, 100)
        }
        continue
      }
      const [id = ''] = await sell(body, headers)
      const update = (values: object) => sale.db.update(tickets).set(values).where(eq(tickets.id, id))
      await update({ saleType })
      for (const action of later) {
        if (action === 'refund all') await refundTicket(sale, id)
        if (action === 'refund some') await refundTicket(sale, id, { amount: 0.37 })
        if (action === 'cancel') await cancelTicket(sale, id)
        if (action === 'enter') await update({ entered: 1 })
        if (action === 'yesterday')
          await update({ activatedAt: sql`activated_at - interval '1 day'`, soldOn: sql`sold_on - 1` })
      }
    }
    expect(await wrongSums(sale.db)).toEqual([])
  })
  await fc.assert(property, { numRuns: 12, endOnFailure: true, examples: [[everyColumn]] })
  // Control: there was something to add up in every column.
  const rows = await sale.db.select().from(tickets).where(eq(tickets.eventId, 'evt_any'))
  const [sums] = addUp(
    rows.map((row) => ({ ...row, referralId: null })),
    'REFERRAL',
    'UTC',
  )
  for (const [column, sum] of Object.entries(sums ?? {}))
    if (column !== 'key') expect(sum, column).toBeGreaterThan(0)
  expect(await sale.db.$count(channels)).toBeGreaterThan(2)
})

test('control: a sum that differs from the rows is found', async () => {
  const [ticket] = await sale.db.select().from(tickets).where(sql`activated_at is not null`).limit(1)
  const undo = new Error('undo')
  const wrong: string[] = []
  const broken = sale.db.transaction(async (tx) => {
    // The event of a ticket is that of its rate; a ticket that says another is summed there and nowhere else.
    await tx.execute(sql`alter table tickets drop constraint tickets_of_the_event_of_their_rate`)
    await tx
      .update(tickets)
      .set({ eventId: 'evt_none' })
      .where(eq(tickets.id, ticket?.id ?? ''))
    wrong.push(...(await wrongSums(tx)))
    throw undo
  })
  await expect(broken).rejects.toBe(undo)
  expect(wrong.length).toBeGreaterThanOrEqual(groupings.length)
})
