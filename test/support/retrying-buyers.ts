import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { eq } from 'drizzle-orm'
import type { Random } from '../../examples/shop/src/demo/random.ts'
import { payments } from '../../src/domain/payment/table.ts'
import { anEntry, type Checkout } from './checkouts.ts'
import { aRateNamed, aRateOf } from './factories.ts'
import { formType } from './payment-page-buyer.ts'
import { endHolds } from './queued-payments.ts'
import type { Sale } from './sale.ts'
import type { StubSession, StubStripe } from './stub-stripe.ts'

// Buyers that retry until they get a response, because the service may be down.

type Answer = { status: number; location: string | null; text: string }

// Safety limits for what would otherwise never end.
const answerTimeoutMs = 120_000
const statusTimeoutMs = 15_000
// The service is unavailable or busy, or still works on the first try.
const isRetryable = ({ status, text }: Answer) => status === 503 || text.includes('"IDEMPOTENCY_KEY_IN_USE"')

async function askUntilAnswered(url: string, request: RequestInit): Promise<Answer> {
  const ask = async (): Promise<Answer> => {
    const answer = await fetch(url, { redirect: 'manual', ...request })
    return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() }
  }
  const end = Date.now() + answerTimeoutMs
  while (Date.now() < end) {
    const answer = await ask().catch(() => null)
    if (answer?.status === 500) throw new Error(`internal error of the service: ${answer.text}`)
    if (answer && !isRetryable(answer)) return answer
    await pause(20)
  }
  throw new Error('no response')
}

type StartedSale = { checkout: Checkout; page: string }
type Crowd = {
  sale: Pick<Sale, 'db' | 'channel' | 'integration'>
  fake: StubStripe
  url: string
  random: Random
}

/** Rates that a crowd buys from. The second takes the buyers that find the first sold out; some late payments
 *  of the first find no place left either. */
export const ratesOfCrowd = [aRateOf(30), aRateNamed('2', { availability: { sold: 0, available: 1000 } })]

/** Opens buyers of `rate_1`, and of `rate_2` once that is sold out. The service has the stub as its payment
 *  provider. Each buyer follows the next of several behaviours. */
export function openRetryingBuyers({ sale, fake, url, random }: Crowd) {
  const paymentIds: string[] = []
  /** Sessions that Stripe refuses to expire for now, so that a buyer can still pay in them. */
  const stuck = new Set<string>()
  const hasId = ({ payment_id }: Checkout) => eq(payments.id, payment_id)

  const press = (page: string, action: 'pay' | 'cancel') =>
    askUntilAnswered(`${url}${page}`, {
      method: 'POST',
      headers: { 'content-type': formType },
      body: `action=${action}`,
    })
  async function goToStripe({ checkout, page }: StartedSale): Promise<StubSession> {
    const { status, location } = await press(page, 'pay')
    const session = fake.sessionFor(checkout.payment_id)
    if (status !== 303 || location !== session.url) throw new Error(`Pay led to ${status} ${location}`)
    return session
  }
  // A timeout is not an error here: the checks after the run find the payment.
  async function reachesStatus({ checkout }: StartedSale, status: string): Promise<boolean> {
    const end = Date.now() + statusTimeoutMs
    while (Date.now() < end) {
      const [row] = await sale.db.select().from(payments).where(hasId(checkout))
      if (row?.status === status) return true
      await pause(20)
    }
    return false
  }
  const expire = ({ checkout }: StartedSale) => endHolds(sale.db, hasId(checkout))
  async function refund({ checkout }: StartedSale) {
    const [ticket] = checkout.tickets
    const query = `mutation ($input: RefundTicketsInput!) { refundTickets(input: $input) { __typename } }`
    const variables = { input: { of: { ticketId: ticket?._id }, idempotencyKey: randomUUID() } }
    const { text } = await askUntilAnswered(`${url}/graphql`, {
      method: 'POST',
      headers: { ...sale.integration.v2, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    if (!text.includes('RefundTicketsPayload')) throw new Error(`a refund was answered with ${text}`)
  }

  const behaviours: ((begun: StartedSale) => Promise<unknown>)[] = [
    async function pays(begun) {
      fake.pay((await goToStripe(begun)).id)
    },
    async function paysLate(begun) {
      const { id } = await goToStripe(begun)
      stuck.add(id)
      await expire(begun)
      await reachesStatus(begun, 'expired')
      fake.pay(id)
    },
    async function paysAndIsBack(begun) {
      fake.pay((await goToStripe(begun)).id)
      await askUntilAnswered(`${url}${begun.page}?paid`, {})
    },
    async function cancels(begun) {
      await goToStripe(begun)
      await press(begun.page, 'cancel')
    },
    async function paysAndIsRefunded(begun) {
      fake.pay((await goToStripe(begun)).id)
      if (await reachesStatus(begun, 'paid')) await refund(begun)
    },
    async function leaves(begun) {
      await goToStripe(begun)
      await expire(begun)
    },
    async function transfers(begun) {
      const { id } = await goToStripe(begun)
      fake.order(id)
      await pause(random.between(0, 300))
      fake.succeed(id)
    },
    async function transfersInVain(begun) {
      const { id } = await goToStripe(begun)
      fake.order(id)
      await pause(random.between(0, 300))
      fake.fail(id)
    },
    async function cancelsAndPays(begun) {
      const { id } = await goToStripe(begun)
      stuck.add(id)
      await press(begun.page, 'cancel')
      fake.pay(id)
    },
  ]

  /** Checks out tickets of a rate. Returns null if it is sold out. */
  async function checkOut(rate: 1 | 2, emails: string[]): Promise<Checkout | null> {
    const tickets = emails.map((email) => anEntry(`price_${rate}`, { email }))
    const { status, text } = await askUntilAnswered(`${url}/tickets/checkout`, {
      method: 'POST',
      headers: { ...sale.channel, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
      body: JSON.stringify({ ticket_rate_id: `rate_${rate}`, tickets, send_resourcers: true }),
    })
    if (status === 409) return null
    if (status !== 200) throw new Error(`a checkout was answered with ${status} ${text}`)
    return (JSON.parse(text) as { data: Checkout }).data
  }

  let turns = 0
  async function buyNext() {
    const turn = turns++
    const emails = Array.from(
      { length: random.between(1, 3) },
      (_, index) => `buyer-${turn}-${index % 2}@example.com`,
    )
    const checkout = (await checkOut(1, emails)) ?? (await checkOut(2, emails))
    if (!checkout) throw new Error('rate_2 must not sell out')
    paymentIds.push(checkout.payment_id)
    await behaviours[turn % behaviours.length]?.({ checkout, page: new URL(checkout.payment_url).pathname })
  }
  return {
    /** Payments that buyers got a response for. */
    paymentIds,
    /** Number of different behaviours. */
    behaviourCount: behaviours.length,
    isStuck: (sessionId: string) => stuck.has(sessionId),
    /** Lets Stripe expire all sessions again. */
    releaseSessions: () => stuck.clear(),
    /** Runs `atOnce` buyers concurrently until `isOver`. */
    async buyUntil(atOnce: number, isOver: () => boolean) {
      const buyOn = async () => {
        while (!isOver()) {
          await buyNext()
          await pause(random.between(150, 350))
        }
      }
      await Promise.all(Array.from({ length: atOnce }, buyOn))
    },
  }
}
