// Runs in: postgres

import { expect, test } from 'vitest'
import { issueChannelKey, issueIntegrationKey } from '../../../src/domain/caller/issue-key.ts'
import { changes } from '../../../src/domain/change/table.ts'
import { anEvent, anOrganization, aPrice, aQuestion, aRate, aSupplement } from '../../support/factories.ts'
import { inTestMode, ownersOf, publishableHeaders } from '../../support/modes.ts'
import { refundTicket } from '../../support/refunds.ts'
import { type Sale, sharedSale } from '../../support/sale.ts'
import { stubProvider } from '../../support/stub-provider.ts'
import { buyTickets, holdTickets, ticketOf } from '../../support/tickets.ts'
import { webhooksOf } from '../../support/webhooks.ts'

// Objects of every type by their identifiers, and what is left of a price.

const hidden = {
  _id: 'rate_hidden',
  show_all_prices: false,
  prices: [aPrice({ _id: 'price_now' }), aPrice({ _id: 'price_later' })],
}
const rate = {
  _id: 'rate_1',
  prices: [aPrice({ _id: 'price_1', quantity: 5 }), aPrice({ _id: 'price_unlimited' })],
  supplements: [aSupplement({ _id: 'sup_1' })],
  questions: [aQuestion({ _id: 'que_1', required: false })],
}
const organizations = [anOrganization(), anOrganization({ _id: 'org_2', name: 'Other' })]
const events = [anEvent({ ticket_rates: [aRate(rate), aRate(hidden)] })]
const sale = sharedSale({
  organizations,
  events,
  provider: stubProvider({ refund: async ({ id }) => ({ kind: 'succeeded', reference: `re_${id}` }) }),
  settings: { WEBHOOKS_TO_PRIVATE_ADDRESSES: 'true' },
})

async function nodeOf(id: string, headers: Record<string, string> = sale.channel) {
  const query = 'query ($id: ID!) { node(id: $id) { __typename id } }'
  const { data, errors } = await sale.graphql<{ node: object | null }>(query, { id }, headers)
  expect(errors).toBeUndefined()
  return data?.node
}

test('prices, supplements, questions, refunds, changes and webhooks are nodes of those who may see them', async () => {
  const checkout = await buyTickets(sale)
  const refund = (await refundTicket(sale, ticketOf(checkout), { amount: 1 })).refund?.id ?? ''
  const [change] = await sale.db.select().from(changes)
  const { id: webhook } = await webhooksOf(sale).register('http://127.0.0.1:9/hook')
  const door = sale.integration.v2
  for (const [__typename, id, isBoths] of [
    ['Price', 'price_1', true],
    ['Supplement', 'sup_1', true],
    ['Question', 'que_1', true],
    ['Refund', refund, true],
    ['Change', change?.id ?? '', true],
    ['Webhook', webhook, false],
  ] as const) {
    expect(await nodeOf(id)).toEqual({ __typename, id })
    expect(await nodeOf(id, door)).toEqual(isBoths ? { __typename, id } : null)
  }
  for (const id of [
    'whk_none',
    'chg_none',
    'ref_none',
    'price_none',
    '',
    'x\0',
    '__proto__',
    'constructor_x',
  ])
    expect(await nodeOf(id)).toBeNull()
})

test('channels and integrations are nodes of themselves, and a channel of the organizations that it sells for', async () => {
  const { channelId, integrationId } = await ownersOf(sale)
  const headersOf = ({ key }: { key: string }) => ({ 'x-api-key': key })
  const foreign = await issueChannelKey(sale.db, {
    name: 'Foreign',
    organizationIds: ['org_2'],
    mode: 'live',
  })
  const rival = await issueIntegrationKey(sale.db, { name: 'Rival', organizationId: 'org_2', mode: 'live' })
  const page = await publishableHeaders(sale)
  for (const headers of [sale.channel, page, sale.integration.v2, headersOf(rival)])
    expect(await nodeOf(channelId, headers)).toEqual({ __typename: 'Channel', id: channelId })
  for (const headers of [headersOf(foreign), headersOf(rival)])
    expect(await nodeOf(foreign.channelId, headers)).toEqual({ __typename: 'Channel', id: foreign.channelId })
  for (const [id, headers] of [
    [integrationId, sale.integration.v2],
    [rival.integrationId, headersOf(rival)],
  ] as const)
    expect(await nodeOf(id, headers)).toEqual({ __typename: 'Integration', id })
  for (const [id, headers] of [
    [channelId, headersOf(foreign)],
    [foreign.channelId, sale.channel],
    [foreign.channelId, sale.integration.v2],
    [integrationId, sale.channel],
    [integrationId, page],
    [integrationId, headersOf(foreign)],
    [integrationId, headersOf(rival)],
    ['chn_none', sale.channel],
    ['int_none', sale.integration.v2],
  ] as const)
    expect(await nodeOf(id, headers)).toBeNull()
})

test('a rate that shows only its current price hides the others as nodes too', async () => {
  expect(await nodeOf('price_now')).toEqual({ __typename: 'Price', id: 'price_now' })
  expect(await nodeOf('price_later')).toBeNull()
})

test('a node costs one statement beside the key, whatever its type', async () => {
  await nodeOf('evt_1')
  for (const id of ['evt_1', 'tkt_none', 'chg_none', 'anything']) {
    sale.statements.reset()
    await nodeOf(id)
    expect(sale.statements.length).toBeLessThanOrEqual(3)
  }
})

test('a price says how many tickets are left at it', async () => {
  const query = '{ ticketRate(id: "rate_1") { prices { id availability { sold available } } } }'
  const read = async () =>
    (await sale.graphql<{ ticketRate: unknown }>(query, {}, sale.channel)).data?.ticketRate
  const before = await read()
  expect(before).toMatchObject({
    prices: [
      { id: 'price_1', availability: { available: expect.any(Number) } },
      { id: 'price_unlimited', availability: { available: null } },
    ],
  })
  await holdTickets(sale, { count: 2 })
  const left = (of: unknown) =>
    (of as { prices: { availability: { available: number } }[] }).prices[0]?.availability.available ?? 0
  await expect.poll(async () => left(await read())).toBe(left(before) - 2)
})

test('a price as a node has the counters of the mode of the key', async () => {
  const testing = await inTestMode(sale)
  const query = '{ node(id: "price_1") { ... on Price { availability { sold } } } }'
  const soldBy = async ({ channel }: Sale) =>
    (await sale.graphql<{ node: { availability: { sold: number } } }>(query, {}, channel)).data?.node
      .availability.sold
  const sold = await soldBy(sale)
  expect(sold).toBeGreaterThan(0)
  expect(await soldBy(testing)).toBe(0)
  await buyTickets(testing)
  expect([await soldBy(sale), await soldBy(testing)]).toEqual([sold, 1])
})
