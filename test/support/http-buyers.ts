import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { sql } from 'drizzle-orm'
import { payments } from '../../src/domain/payment/table.ts'
import { tickets } from '../../src/domain/ticket/table.ts'
import { anEntry, countersOf, toCheckoutInput } from './checkouts.ts'
import type { Sale } from './sale.ts'

// Buyers that call a listening service over a limited number of keep-alive connections.

export type Surface = 'rest' | 'graphql'

/** Result of a checkout: a payment, or an error code and the remaining availability. */
export type Outcome = {
  status: number
  /** Milliseconds from the time a connection was free to the last byte of the response. */
  ms: number
  payment?: { id: string; url: string }
  code?: string
  available?: number | null
}

export type Purchase = {
  rate: string
  price: string
  surface: Surface
  idempotencyKey?: string
  discountCode?: string
}

const mutation = `mutation ($input: CheckoutInput!) { checkout(input: $input) {
  ... on CheckoutPayload { payment { id pageUrl } }
  ... on Refused { errors { code ... on AvailabilityError { available } } } } }`

function bodyOf({ rate, price, surface, idempotencyKey, discountCode }: Purchase) {
  const body = { ticket_rate_id: rate, tickets: [anEntry(price)], discount_code: discountCode }
  const input = { ...toCheckoutInput(body), idempotencyKey: idempotencyKey ?? crypto.randomUUID() }
  return surface === 'rest' ? body : { query: mutation, variables: { input } }
}

type Answered = {
  code?: string
  errors?: { code?: string; available?: number; extensions?: { code: string } }[]
  data?: {
    payment_id?: string
    payment_url?: string
    checkout?: {
      payment?: { id: string; pageUrl: string }
      errors?: { code: string; available?: number }[]
    }
  } | null
}

function outcomeOf({ data, errors }: Answered): Pick<Outcome, 'payment' | 'code' | 'available'> {
  if (data?.payment_id) return { payment: { id: data.payment_id, url: data.payment_url ?? '' } }
  const { payment } = data?.checkout ?? {}
  if (payment) return { payment: { id: payment.id, url: payment.pageUrl } }
  const [problem] = data?.checkout?.errors ?? errors ?? []
  const code = problem && 'extensions' in problem ? problem.extensions?.code : problem?.code
  return { code, available: problem?.available ?? null }
}

/** Opens buyers that share one channel's key and at most `connections` connections. */
export function openHttpBuyers(channel: Record<string, string>, connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  async function send(url: string, headers: Record<string, string>, body: string) {
    const asked = request(url, { method: 'POST', agent, headers })
    let sentAt = performance.now()
    // Time spent waiting for a free connection does not count.
    asked.once('socket', () => {
      sentAt = performance.now()
    })
    asked.end(body)
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    const said = await text(answer)
    return { status: answer.statusCode ?? 0, said, ms: performance.now() - sentAt }
  }
  return {
    async buy(url: string, wanted: Purchase): Promise<Outcome> {
      const headers = {
        ...channel,
        'content-type': 'application/json',
        ...(wanted.idempotencyKey && wanted.surface === 'rest'
          ? { 'idempotency-key': wanted.idempotencyKey }
          : {}),
      }
      const path = wanted.surface === 'rest' ? '/tickets/checkout' : '/graphql'
      const { status, said, ms } = await send(`${url}${path}`, headers, JSON.stringify(bodyOf(wanted)))
      return { status, ms, ...outcomeOf(JSON.parse(said)) }
    },
    /** Presses Pay on the payment page. `url` may be another process than the one that sold the ticket. */
    async pay(url: string, payment: { url: string }): Promise<number> {
      const page = new URL(new URL(payment.url).pathname, url)
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      return (await send(page.href, headers, 'action=pay')).status
    },
    close: () => agent.destroy(),
  }
}

/** Reads the counters of a rate, and counts its tickets and payments from the rows, for comparison. */
export async function readStockTotals(sale: Sale, rate: string) {
  const rows = await sale.db
    .select({
      tickets: sql<number>`count(*)`.mapWith(Number),
      payments: sql<number>`count(distinct ${tickets.paymentId})`.mapWith(Number),
      held: sql<number>`count(*) filter (where ${tickets.status} = 'held')`.mapWith(Number),
      sold: sql<number>`count(*) filter (where ${tickets.status} = 'active')`.mapWith(Number),
    })
    .from(tickets)
    .where(sql`${tickets.ticketRateId} = ${rate}`)
  return {
    counters: (await countersOf(sale))[rate],
    rows: rows[0],
    payments: await sale.db.$count(payments),
  }
}
