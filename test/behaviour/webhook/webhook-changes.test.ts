import { like } from 'drizzle-orm'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { changeGrant } from '../../../src/domain/caller/change-grant.ts'
import { channels } from '../../../src/domain/caller/table.ts'
import { recordChanges } from '../../../src/domain/change/record-changes.ts'
import { webhookDeliveries } from '../../../src/domain/change/table.ts'
import { aCatalogueOfTwo, channelHeaders, integrationHeaders } from '../../support/factories.ts'
import { sharedSale } from '../../support/sale.ts'
import { settlePaymentById } from '../../support/settle-payment.ts'
import { paidOutcome } from '../../support/stub-provider.ts'
import { buyTickets, holdTickets } from '../../support/tickets.ts'
import { webhooksOf } from '../../support/webhooks.ts'

// Recipients of a change, and the rules by which it is queued for them.

// Callers, and for each a webhook with all types.
let callers: Record<
  'seller' | 'other' | 'first' | 'second',
  { own: ReturnType<typeof webhooksOf>; webhook: string }
>
const sale = sharedSale(aCatalogueOfTwo(100))
beforeAll(async () => {
  const { db } = sale
  const registerFor = async (headers: Record<string, string>) => {
    const own = webhooksOf(sale, headers)
    return { own, webhook: (await own.register('https://receiver.example/hook')).id }
  }
  callers = {
    seller: await registerFor(sale.channel),
    other: await registerFor(await channelHeaders(db, 'org_1')),
    first: await registerFor(sale.integration.v2),
    second: await registerFor((await integrationHeaders(db, 'org_2')).v1),
  }
})
beforeEach(() => sale.db.delete(webhookDeliveries))

type Name = keyof typeof callers
const names: Name[] = ['seller', 'other', 'first', 'second']

/** Returns the types queued for each of them. */
async function readQueued() {
  const entries = await Promise.all(
    names.map(async (name) => {
      const page = await callers[name].own.deliveries(callers[name].webhook)
      return [name, page?.nodes.map(({ change }) => change.type).toSorted()]
    }),
  )
  return Object.fromEntries(entries)
}

const recordSoldOut = (number: number) =>
  sale.db.transaction((tx) =>
    recordChanges(tx, [
      {
        type: 'rate.sold_out',
        subjectId: `rate_${number}`,
        organizationId: `org_${number}`,
        channelId: null,
        data: { ticket_rate_id: `rate_${number}` },
      },
    ]),
  )

const ofSale = ['PAYMENT_PAID', 'TICKET_ACTIVATED']

test('webhooks of a sale go to its channel and the integrations of its organization', async () => {
  await buyTickets(sale)
  expect(await readQueued()).toEqual({ seller: ofSale, other: [], first: ofSale, second: [] })
})

test('webhooks of a rate go to every channel with a grant and the organization’s integrations', async () => {
  await recordSoldOut(1)
  expect(await readQueued()).toEqual({
    seller: ['RATE_SOLD_OUT'],
    other: ['RATE_SOLD_OUT'],
    first: ['RATE_SOLD_OUT'],
    second: [],
  })
  await sale.db.delete(webhookDeliveries)
  await recordSoldOut(2)
  expect(await readQueued()).toEqual({
    seller: ['RATE_SOLD_OUT'],
    other: [],
    first: [],
    second: ['RATE_SOLD_OUT'],
  })
})

// Grant of `org_2` to the seller, which is the first channel.
async function sellerGrant() {
  const isIssued = like(channels.id, 'chn_%')
  const [seller] = await sale.db.select().from(channels).where(isIssued).orderBy(channels.id).limit(1)
  return { channelId: seller?.id ?? '', organizationId: 'org_2' }
}

test('webhooks after a revoked grant include own sales and no rates', async () => {
  const { payment_id } = await holdTickets(sale, { rate: '2' })
  const grant = await sellerGrant()
  expect(await changeGrant(sale.db, { ...grant, granted: false })).toBe(true)
  await recordSoldOut(2)
  await settlePaymentById(sale.db, payment_id, paidOutcome(payment_id))
  expect(await readQueued()).toMatchObject({
    seller: ofSale,
    second: [...ofSale.slice(0, 1), 'RATE_SOLD_OUT', 'TICKET_ACTIVATED'],
  })
  await changeGrant(sale.db, { ...grant, granted: true })
  await recordSoldOut(2)
  expect(await readQueued()).toMatchObject({
    seller: [...ofSale.slice(0, 1), 'RATE_SOLD_OUT', 'TICKET_ACTIVATED'],
  })
})

test('a change that was delivered leads to its rate while the organization gives access', async () => {
  const grant = await sellerGrant()
  await recordSoldOut(2)
  const { own, webhook } = callers.seller
  const subjects = async () => (await own.deliveries(webhook))?.nodes.map(({ change }) => change.subject)
  expect(await subjects()).toEqual([{ name: 'Entrance' }])
  await changeGrant(sale.db, { ...grant, granted: false })
  expect(await subjects()).toEqual([null])
  await changeGrant(sale.db, { ...grant, granted: true })
})

test('webhooks receive the types they name, each by itself', async () => {
  const { own } = callers.seller
  const { id } = await own.register('https://receiver.example/paid', ['PAYMENT_PAID', 'PAYMENT_PAID'])
  expect((await own.list()).find((webhook) => webhook.id === id)?.types).toEqual(['PAYMENT_PAID'])
  await buyTickets(sale)
  expect((await own.deliveries(id))?.nodes).toMatchObject([{ change: { type: 'PAYMENT_PAID' } }])
  expect((await readQueued()).seller).toEqual(ofSale)
  await own.call('updateWebhook', { webhookId: id, types: ['TICKET_ACTIVATED'] })
  await buyTickets(sale)
  expect((await own.deliveries(id))?.nodes.map(({ change }) => change.type)).toEqual([
    'TICKET_ACTIVATED',
    'PAYMENT_PAID',
  ])
  await own.call('deleteWebhook', { webhookId: id })
})

test('webhooks that are disabled or deleted receive no new changes', async () => {
  const { own, webhook } = callers.other
  await own.call('disableWebhook', { webhookId: webhook })
  const { id } = await own.register('https://receiver.example/soon-gone')
  await own.call('deleteWebhook', { webhookId: id })
  await recordSoldOut(1)
  expect((await readQueued()).other).toEqual([])
  expect(await sale.db.$count(webhookDeliveries)).toBe(2)
  await own.call('enableWebhook', { webhookId: webhook })
  await recordSoldOut(1)
  expect((await readQueued()).other).toEqual(['RATE_SOLD_OUT'])
})

test('webhooks of changes are found by one statement, and queued by another', async () => {
  sale.statements.reset()
  await recordSoldOut(1)
  const written = sale.statements.filter((text) => /^\s*insert/.test(text))
  expect(written.filter((text) => text.includes('"changes"'))).toHaveLength(1)
  expect(written.filter((text) => text.includes('"webhook_deliveries"'))).toHaveLength(1)
  expect(sale.statements.filter((text) => text.includes('webhook'))).toHaveLength(2)
})
