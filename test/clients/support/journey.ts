import { expect, vi } from 'vitest'
import { pay } from './service.ts'

type Rate = {
  readonly id: string
  readonly status: string
  readonly availability: { readonly available?: number | null }
  readonly currentPrice?: { readonly id: string; readonly total: Money } | null
}
type Money = { readonly amount: string; readonly currency: string }
type Event = { readonly id: string; readonly ticketRates: readonly Rate[] }
type Checkout = {
  readonly __typename?: string
  readonly payment?: { readonly id: string; readonly pageUrl?: string | null; readonly totalAmount: Money }
  readonly errors?: readonly {
    readonly code?: string
    readonly path?: string | null
    readonly max?: number | null
  }[]
}
type Places = Pick<Rate, 'id' | 'availability'>
type Order = {
  items: {
    ticketRateId: string
    tickets: { priceId: string; attendee: { fullName: string; email: string } }[]
  }[]
  idempotencyKey: string
}

/** Shop on a GraphQL client. */
export type Shop = {
  listEvents(search: string): AsyncIterable<Event>
  checkOut(order: Order): Promise<Checkout | null | undefined>
  readPayment(payment: {
    id: string
    url: string
  }): Promise<{ readonly id: string; readonly status: string } | null | undefined>
  watchPlaces(eventId: string, onPlaces: (places: Places) => void): () => void
}

/** Shop on a GraphQL client with a normalized cache. */
export type CachingShop = Shop & {
  watchEvents(search: string, onEvents: (events: readonly Event[]) => void): () => void
}

/** Resolves to everything that a list yields. */
export async function collect<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of list) items.push(item)
  return items
}

const attendee = { fullName: 'Ana Núñez', email: 'ana@example.com' }

const toOrder = (ticketRateId: string, priceId: string, tickets: number, idempotencyKey: string): Order => ({
  items: [{ ticketRateId, tickets: Array.from({ length: tickets }, () => ({ priceId, attendee })) }],
  idempotencyKey,
})

/** Buys a ticket: turns the pages of all events, finds one, is refused a ticket too many, checks out, pays, and
 *  sees the place go. */
export async function buy(shop: Shop, { search, eventId }: { search: string; eventId: string }) {
  const all = (await collect(shop.listEvents(''))).map(({ id }) => id)
  expect(all.length).toBeGreaterThan(20)
  expect(new Set(all).size).toBe(all.length)
  const [event] = await collect(shop.listEvents(search))
  expect(event?.id).toBe(eventId)
  const rate = event?.ticketRates.find(({ status, currentPrice }) => status === 'ON_SALE' && currentPrice)
  if (!rate?.currentPrice) throw new Error(`${eventId} has nothing on sale`)
  const { id: ticketRateId, currentPrice } = rate
  const before = rate.availability.available ?? 0
  expect(before).toBeGreaterThan(1)

  const left: number[] = []
  const unwatch = shop.watchPlaces(eventId, (places) => {
    const { available } = places.availability
    if (places.id === ticketRateId && typeof available === 'number') left.push(available)
  })
  try {
    await vi.waitFor(() => expect(left.at(-1)).toBe(before), 30_000)

    const orderOf = (tickets: number, idempotencyKey: string) =>
      toOrder(ticketRateId, currentPrice.id, tickets, idempotencyKey)
    const refused = await shop.checkOut(orderOf(9, `nine-${eventId}`))
    expect(refused).toMatchObject({
      __typename: 'Refused',
      errors: [{ code: 'TOO_MANY_TICKETS', path: 'items.0.tickets', max: 8 }],
    })

    const order = orderOf(1, `order-${eventId}`)
    const bought = await shop.checkOut(order)
    expect(bought?.__typename).toBe('CheckoutPayload')
    const { id = '', pageUrl, totalAmount } = bought?.payment ?? {}
    const url = pageUrl ?? ''
    if (!url) throw new Error('the payment has no page')
    expect(totalAmount).toEqual(currentPrice.total)
    expect((await shop.checkOut(order))?.payment?.id).toBe(id)
    expect(await shop.readPayment({ id, url })).toMatchObject({ id, status: 'PENDING' })

    await vi.waitFor(() => expect(left.at(-1)).toBe(before - 1), 30_000)
    expect(await pay(url)).toBe(200)
    expect(await shop.readPayment({ id, url })).toMatchObject({ id, status: 'PAID' })
  } finally {
    unwatch()
  }
}

/** Watches a list: it shows the place that somebody else takes, as the stream tells, and the one that it takes itself,
 *  as the answer to its checkout tells. */
export async function watchList(
  shop: CachingShop,
  somebodyElse: Shop,
  { search, eventId }: { search: string; eventId: string },
) {
  let rate: Rate | undefined
  const left = () => rate?.availability.available
  const close = shop.watchEvents(search, (events) => {
    const event = events.find(({ id }) => id === eventId)
    rate = event?.ticketRates.find(({ status, currentPrice }) => status === 'ON_SALE' && currentPrice)
  })
  const streamed = new Set<string>()
  const unwatch = shop.watchPlaces(eventId, ({ id }) => streamed.add(id))
  try {
    await vi.waitFor(() => expect(left()).toBeGreaterThan(2), 30_000)
    await vi.waitFor(() => expect(streamed).toContain(rate?.id), 30_000)
    const before = left() ?? 0
    const order = (key: string) =>
      toOrder(rate?.id ?? '', rate?.currentPrice?.id ?? '', 1, `${key}-${eventId}`)
    expect((await somebodyElse.checkOut(order('theirs')))?.__typename).toBe('CheckoutPayload')
    await vi.waitFor(() => expect(left()).toBe(before - 1), 30_000)
    unwatch()
    expect((await shop.checkOut(order('ours')))?.__typename).toBe('CheckoutPayload')
    await vi.waitFor(() => expect(left()).toBe(before - 2), 5_000)
  } finally {
    unwatch()
    close()
  }
}
