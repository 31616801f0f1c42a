import { expect, vi } from 'vitest'
import { pay } from './service.ts'

type Rate = {
  readonly id: string
  readonly available: boolean
  readonly availability: { readonly available?: number | null }
  readonly currentPrice?: { readonly id: string; readonly price: number } | null
}
type Checkout = {
  readonly __typename?: string
  readonly totalAmount?: number
  readonly payment?: { readonly id: string; readonly url?: string | null }
  readonly errors?: readonly {
    readonly code?: string
    readonly path?: string | null
    readonly max?: number | null
  }[]
}
type Places = { readonly ticketRateId: string; readonly left?: number | null }
type Order = {
  ticketRateId: string
  tickets: { priceId: string; fullName: string; email: string }[]
  idempotencyKey: string
}

/** Shop on a GraphQL client. */
export type Shop = {
  listEvents(search: string): AsyncIterable<{ readonly id: string; readonly ticketRates: readonly Rate[] }>
  checkOut(order: Order): Promise<Checkout | null | undefined>
  readPayment(payment: {
    id: string
    url: string
  }): Promise<{ readonly id: string; readonly status: string } | null | undefined>
  watchPlaces(eventId: string, onPlaces: (places: Places) => void): () => void
}

/** Resolves to everything that a list yields. */
export async function collect<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of list) items.push(item)
  return items
}

/** Buys a ticket: turns the pages of all events, finds one, is refused a ticket too many, checks out, pays, and
 *  sees the place go. */
export async function buy(shop: Shop, { search, eventId }: { search: string; eventId: string }) {
  const all = (await collect(shop.listEvents(''))).map(({ id }) => id)
  expect(all.length).toBeGreaterThan(20)
  expect(new Set(all).size).toBe(all.length)
  const [event] = await collect(shop.listEvents(search))
  expect(event?.id).toBe(eventId)
  const rate = event?.ticketRates.find(({ available, currentPrice }) => available && currentPrice)
  if (!rate?.currentPrice) throw new Error(`${eventId} has nothing on sale`)
  const { id: ticketRateId, currentPrice } = rate
  const before = rate.availability.available ?? 0
  expect(before).toBeGreaterThan(1)

  const left: number[] = []
  const unwatch = shop.watchPlaces(eventId, (places) => {
    if (places.ticketRateId === ticketRateId && typeof places.left === 'number') left.push(places.left)
  })
  try {
    await vi.waitFor(() => expect(left.at(-1)).toBe(before), 30_000)

    const ticket = { priceId: currentPrice.id, fullName: 'Ana Núñez', email: 'ana@example.com' }
    const nine = { ticketRateId, tickets: Array(9).fill(ticket), idempotencyKey: `nine-${eventId}` }
    const refused = await shop.checkOut(nine)
    expect(refused).toMatchObject({
      __typename: 'CheckoutRefused',
      errors: [{ code: 'MAX_TICKETS', path: 'tickets', max: 8 }],
    })

    const order = { ticketRateId, tickets: [ticket], idempotencyKey: `order-${eventId}` }
    const bought = await shop.checkOut(order)
    expect(bought?.__typename).toBe('CheckoutPayload')
    const { id = '', url = '' } = bought?.payment ?? {}
    if (!url) throw new Error('the payment has no page')
    expect(bought?.totalAmount).toBeGreaterThanOrEqual(currentPrice.price)
    expect((await shop.checkOut(order))?.payment?.id).toBe(id)
    expect(await shop.readPayment({ id, url })).toMatchObject({ id, status: 'PENDING' })

    await vi.waitFor(() => expect(left.at(-1)).toBe(before - 1), 30_000)
    expect(await pay(url)).toBe(200)
    expect(await shop.readPayment({ id, url })).toMatchObject({ id, status: 'PAID' })
  } finally {
    unwatch()
  }
}
