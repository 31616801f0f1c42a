import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { changeGrant } from '../../../src/auth/change-grant.ts'
import { channels } from '../../../src/auth/table.ts'
import { recordChanges } from '../../../src/domain/sale/record-changes.ts'
import { webhookDeliveries } from '../../../src/domain/webhook/table.ts'
import { anEntry, mustCheckOut } from '../../support/checkouts.ts'
import { aCatalogueOfTwo, channelHeaders, integrationHeaders } from '../../support/factories.ts'
import { openSale, type Sale } from '../../support/sale.ts'
import { settlePaymentById } from '../../support/settle-payment.ts'
import { paidOutcome } from '../../support/stub-provider.ts'
import { webhooksOf } from '../../support/webhooks.ts'

// Who is told of what: the rules by which a change is put on its way.

let sale: Sale
// The callers, and a webhook of each that is told of everything.
let callers: Record<
  'seller' | 'other' | 'first' | 'second',
  { own: ReturnType<typeof webhooksOf>; webhook: string }
>
beforeAll(async () => {
  sale = await openSale(aCatalogueOfTwo(100))
  const { db } = sale
  const told = async (headers: Record<string, string>) => {
    const own = webhooksOf(sale, headers)
    return { own, webhook: (await own.register('https://receiver.example/hook')).id }
  }
  callers = {
    seller: await told(sale.channel),
    other: await told(await channelHeaders(db, 'org_1')),
    first: await told(sale.integration.v2),
    second: await told((await integrationHeaders(db, 'org_2')).v1),
  }
})
afterAll(() => sale.close())
beforeEach(() => sale.db.delete(webhookDeliveries))

type Name = keyof typeof callers
const names: Name[] = ['seller', 'other', 'first', 'second']

/** What is on its way to each of them. */
async function queued() {
  const entries = await Promise.all(
    names.map(async (name) => {
      const page = await callers[name].own.deliveries(callers[name].webhook)
      return [name, page?.nodes.map(({ change }) => change.type).toSorted()]
    }),
  )
  return Object.fromEntries(entries)
}

async function sell(number: number) {
  const { payment_id } = await mustCheckOut(sale, {
    ticket_rate_id: `rate_${number}`,
    tickets: [anEntry(`price_${number}`)],
  })
  await settlePaymentById(sale.db, payment_id, paidOutcome(payment_id))
}

const sellOut = (number: number) =>
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

test('a sale is told to the channel that made it and to integrations of its organization', async () => {
  await sell(1)
  expect(await queued()).toEqual({ seller: ofSale, other: [], first: ofSale, second: [] })
})

test('a rate is told to every channel that its organization granted and to its integrations', async () => {
  await sellOut(1)
  expect(await queued()).toEqual({
    seller: ['RATE_SOLD_OUT'],
    other: ['RATE_SOLD_OUT'],
    first: ['RATE_SOLD_OUT'],
    second: [],
  })
  await sale.db.delete(webhookDeliveries)
  await sellOut(2)
  expect(await queued()).toEqual({
    seller: ['RATE_SOLD_OUT'],
    other: [],
    first: [],
    second: ['RATE_SOLD_OUT'],
  })
})

test('whose grant is revoked is told of its sales still, and of rates no more', async () => {
  const [seller] = await sale.db.select().from(channels).orderBy(channels.id).limit(1)
  const { payment_id } = await mustCheckOut(sale, { ticket_rate_id: 'rate_2', tickets: [anEntry('price_2')] })
  const grant = { channelId: seller?.id ?? '', organizationId: 'org_2' }
  expect(await changeGrant(sale.db, { ...grant, granted: false })).toBe(true)
  await sellOut(2)
  await settlePaymentById(sale.db, payment_id, paidOutcome(payment_id))
  expect(await queued()).toMatchObject({
    seller: ofSale,
    second: [...ofSale.slice(0, 1), 'RATE_SOLD_OUT', 'TICKET_ACTIVATED'],
  })
  await changeGrant(sale.db, { ...grant, granted: true })
  await sellOut(2)
  expect(await queued()).toMatchObject({
    seller: [...ofSale.slice(0, 1), 'RATE_SOLD_OUT', 'TICKET_ACTIVATED'],
  })
})

test('a webhook is told of the types that it names, and each webhook by itself', async () => {
  const { own } = callers.seller
  const { id } = await own.register('https://receiver.example/paid', ['PAYMENT_PAID', 'PAYMENT_PAID'])
  expect((await own.list()).find((webhook) => webhook.id === id)?.types).toEqual(['PAYMENT_PAID'])
  await sell(1)
  expect((await own.deliveries(id))?.nodes).toMatchObject([{ change: { type: 'PAYMENT_PAID' } }])
  expect((await queued()).seller).toEqual(ofSale)
  await own.call('updateWebhook', { id, types: ['TICKET_ACTIVATED'] })
  await sell(1)
  expect((await own.deliveries(id))?.nodes.map(({ change }) => change.type)).toEqual([
    'TICKET_ACTIVATED',
    'PAYMENT_PAID',
  ])
  await own.call('deleteWebhook', { id })
})

test('one that is disabled or deleted is told of nothing new', async () => {
  const { own, webhook } = callers.other
  await own.call('disableWebhook', { id: webhook })
  const { id } = await own.register('https://receiver.example/soon-gone')
  await own.call('deleteWebhook', { id })
  await sellOut(1)
  expect((await queued()).other).toEqual([])
  expect(await sale.db.$count(webhookDeliveries)).toBe(2)
  await own.call('enableWebhook', { id: webhook })
  await sellOut(1)
  expect((await queued()).other).toEqual(['RATE_SOLD_OUT'])
})

test('what is told costs the change no statement of its own', async () => {
  sale.statements.reset()
  await sellOut(1)
  expect(sale.statements.filter((text) => text.includes('changes'))).toHaveLength(1)
  expect(sale.statements.filter((text) => text.includes('webhook'))).toHaveLength(1)
})
