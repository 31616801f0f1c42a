import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changeGrant } from '../../../src/domain/caller/change-grant.ts'
import { issueChannelKey } from '../../../src/domain/caller/issue-key.ts'
import { recordChanges } from '../../../src/domain/change/record-changes.ts'
import { groupBy } from '../../../src/engine/base/group-by.ts'
import { changeFields, readChanges, readChangesPage, startAt } from '../../support/change-feed.ts'
import { aCatalogueOfTwo, aRateNamed } from '../../support/factories.ts'
import { openStream, subscribe } from '../../support/live.ts'
import { inTestMode } from '../../support/modes.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { holdTickets } from '../../support/tickets.ts'

let sale: Sale
beforeAll(async () => {
  const catalogue = aCatalogueOfTwo(500)
  const onePlace = aRateNamed('free', { availability: { sold: 0, available: 1 } }, { price: 0 })
  catalogue.events?.[0]?.ticket_rates?.push(onePlace)
  sale = await openSale(catalogue, { listen: true })
})
afterAll(() => sale.close())

const query = `subscription ($from: FeedStart! = { at: OLDEST }, $types: [ChangeType!]) {
  changes(from: $from, types: $types) { cursor node { ${changeFields} organization { id } } } }`
type Changed = {
  changes: {
    cursor: string
    node: { id: string; type: string; subject: { id: string }; organization: { id: string } }
  }
}

async function pay(rate: 1 | 2): Promise<string> {
  const { payment_id, payment_url } = await holdTickets(sale, { rate })
  await sale.app.inject({
    method: 'POST',
    url: new URL(payment_url).pathname,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'action=pay',
  })
  return payment_id
}

const recordRates = (types: ('rate.sold_out' | 'rate.available')[], number = 2) => {
  const rate = { subjectId: `rate_${number}`, organizationId: `org_${number}`, channelId: null, data: {} }
  return sale.db.transaction((tx) =>
    recordChanges(
      tx,
      types.map((type) => ({ ...rate, type })),
    ),
  )
}

const idsOf = (text: string) => [...text.matchAll(/"id":"(chg_\w+)"/g)].map(([, id]) => id)

// Those of two organizations are merged by time, and may come otherwise where one has got its positions late.
test('every change comes once, the old ones first, those of an organization in the order of the feed', async () => {
  await pay(1)
  const watched = subscribe<Changed>(sale.url, sale.channel, { query })
  await watched.until(({ changes: { node } }) => node.type === 'TICKET_ACTIVATED')
  for (let count = 0; count < 8; count++) await pay(count % 2 === 0 ? 1 : 2)
  // A read leaves it to another one that is giving positions, so for a moment the feed may lack the last changes.
  const readNodes = async () => (await readChanges(sale, sale.channel)).nodes
  await expect.poll(async () => (await readNodes()).length).toBe(9 * 2)
  const nodes = await readNodes()
  await expect.poll(() => watched.received.length).toBe(nodes.length)
  const received = watched.received.map(({ changes: { node } }) => node)
  const order = new Map(nodes.map(({ id }, place) => [id, place]))
  expect(new Set(received.map(({ id }) => id))).toEqual(new Set(order.keys()))
  const ofEach = [...groupBy(received, ({ organization: { id } }) => id).values()]
  expect(ofEach.length).toBe(2)
  for (const changes of ofEach) {
    const places = changes.map(({ id }) => order.get(id) ?? -1)
    expect(places).toEqual(places.toSorted((one, other) => one - other))
  }
})

test('a client goes on after the cursor, given as an argument or as the last event', async () => {
  const { nodes, end } = await readChanges(sale, sale.channel)
  const stream = await openStream(sale.url, sale.channel, { query, variables: { from: startAt(end) } })
  const paymentId = await pay(1)
  await expect.poll(stream.text).toContain(paymentId)
  await expect.poll(() => idsOf(stream.text()).length).toBe(2)
  expect(idsOf(stream.text()).some((id) => nodes.some((node) => node.id === id))).toBe(false)
  const [, lastEventId = ''] = /^id: (\S+)$/m.exec(stream.text()) ?? []
  stream.close()
  await pay(2)
  const again = await openStream(sale.url, { ...sale.channel, 'last-event-id': lastEventId }, { query })
  await expect.poll(() => idsOf(again.text()).length).toBe(3)
  expect(idsOf(again.text())[0]).toBe(idsOf(stream.text())[1])
})

test('an integration hears of its own organization alone', async () => {
  const { end } = await readChanges(sale, sale.integration.v2)
  const watched = subscribe<Changed>(sale.url, sale.integration.v2, {
    query,
    variables: { from: startAt(end) },
  })
  await pay(2)
  const paymentId = await pay(1)
  await watched.until(() => true)
  expect(watched.received[0]?.changes.node.subject.id).toBe(paymentId)
})

test('the stream of a test key names the rate as clients know it, and the mode', async () => {
  const testing = await inTestMode(sale)
  const watched = subscribe<{ changes: { node: { type: string; mode: string } } }>(
    sale.url,
    testing.channel,
    {
      query: `subscription { changes(from: { at: OLDEST }) { node { type mode subject { ... on TicketRate { name } } } } }`,
    },
  )
  await holdTickets(testing, { rate: 'free' })
  const soldOut = await watched.until(({ changes: { node } }) => node.type === 'RATE_SOLD_OUT')
  expect(soldOut.changes.node).toEqual({ type: 'RATE_SOLD_OUT', mode: 'TEST', subject: { name: 'Entrance' } })
  expect(new Set(watched.received.map(({ changes: { node } }) => node.mode))).toEqual(new Set(['TEST']))
})

test('a stream from now has what comes after it alone, from a page’s cursor too', async () => {
  const { endCursor } = await readChangesPage(sale, sale.channel, { from: { at: 'NOW' } })
  const first = await pay(1)
  const behind = subscribe<Changed>(sale.url, sale.channel, {
    query,
    variables: { from: startAt(endCursor) },
  })
  await behind.until(() => true)
  expect(behind.received[0]?.changes.node.subject.id).toBe(first)
  const now = subscribe<Changed>(sale.url, sale.channel, { query, variables: { from: { at: 'NOW' } } })
  await now.opened()
  const second = await pay(2)
  await now.until(() => true)
  expect(now.received[0]?.changes.node.subject.id).toBe(second)
})

test('a stream of some types leaves out the others, past pages that have none', async () => {
  const types = ['RATE_SOLD_OUT']
  const rare = subscribe<Changed>(sale.url, sale.channel, { query, variables: { types } })
  const { nodes } = await readChanges(sale, sale.channel)
  const expected = nodes.filter(({ type }) => type === 'RATE_SOLD_OUT').map(({ id }) => id)
  await recordRates([...Array(60).fill('rate.available'), 'rate.sold_out'])
  const last = await rare.until(({ changes: { node } }) => node.subject.id === 'rate_2')
  expect(last.changes.node.type).toBe('RATE_SOLD_OUT')
  expect(rare.received.map(({ changes: { node } }) => node.id)).toEqual([...expected, last.changes.node.id])
})

test('a stream from now that has sent nothing misses no change when the caller’s grants change', async () => {
  const { key, channelId } = await issueChannelKey(sale.db, {
    name: 'Shop',
    organizationIds: ['org_1'],
    mode: 'live',
  })
  const stream = subscribe<Changed>(
    sale.url,
    { 'x-api-key': key },
    { query, variables: { from: { at: 'NOW' } } },
  )
  await stream.opened()
  const grant = (granted: boolean) => changeGrant(sale.db, { channelId, organizationId: 'org_1', granted })
  await grant(false)
  // Until the stream has begun anew.
  await setTimeout(2_500)
  await recordRates(['rate.available'], 1)
  await grant(true)
  const { changes } = await stream.until(() => true)
  expect(changes.node).toMatchObject({ type: 'RATE_AVAILABLE', organization: { id: 'org_1' } })
})

test.each([{}, { after: 'x', at: 'NOW' }])('a stream from %j is refused', async (from) => {
  const refused = subscribe<Changed>(sale.url, sale.channel, { query, variables: { from } })
  await expect.poll(refused.isComplete).toBe(true)
  expect(refused.errors).toEqual([{ code: 'BAD_REQUEST', path: 'from' }])
})

test('an unknown cursor is refused', async () => {
  const refused = subscribe<Changed>(sale.url, sale.channel, { query, variables: { from: startAt('x') } })
  await expect.poll(refused.isComplete).toBe(true)
  expect(refused.errors).toEqual([{ code: 'CURSOR_UNKNOWN', path: 'from.after' }])
})

test('streams at the same place share the reads of the feed', async () => {
  const { end } = await readChanges(sale, sale.channel)
  const streams = await Promise.all(
    Array.from({ length: 40 }, () =>
      openStream(sale.url, sale.channel, { query, variables: { from: startAt(end) } }),
    ),
  )
  sale.statements.reset()
  const paymentId = await pay(1)
  for (const { text } of streams) await expect.poll(() => idsOf(text()).length).toBe(2)
  // One for each stream at least, if each read for itself.
  const reads = sale.statements.filter((text) => text.includes('jsonb_to_recordset'))
  expect(reads.length).toBeLessThan(40)
  for (const { text, close } of streams) {
    expect(text()).toContain(paymentId)
    expect(text()).toBe(streams[0]?.text().replace(/^retry: \d+/, /^retry: \d+/.exec(text())?.[0] ?? ''))
    close()
  }
})
