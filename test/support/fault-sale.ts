import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { payments } from '../../src/domain/payment/table.ts'
import { anEntry } from './checkouts.ts'
import { aCatalogue, anEvent, aRateNamed } from './factories.ts'
import { brokenInvariants } from './invariants.ts'
import { formType } from './payment-page-buyer.ts'
import type { Sale } from './sale.ts'

// Load during a database fault: buyers and doors, each on its own connection to a listening service. Records
// every response and every promise that the service made in it.

type Kind = 'checkout' | 'payment' | 'lookup' | 'events'
type Answer = {
  kind: Kind
  status: number
  ms: number
  at: number
  retryAfter: string | undefined
  text: string
}

const rates = [1, 2, 3]
/** One event with three rates that never sell out. */
export const faultCatalogue = aCatalogue({
  events: [
    anEvent({
      ticket_rates: rates.map((number) =>
        aRateNamed(number, { availability: { sold: 0, available: 100_000 } }),
      ),
    }),
  ],
})

const buyerCount = 12
const doorCount = 4
// Retries of a buyer that gets a 503.
const tries = 30
const betweenTriesMs = 200

/** Runs buyers and doors against a service until stopped, and checks afterwards that it kept its promises. */
export function faultLoad(sale: Sale, url: string) {
  const answers: Answer[] = []
  /** Network errors of requests without a response. */
  const unanswered: string[] = []
  /** Payments by idempotency key, and those that were acknowledged as paid. */
  const made = new Map<string, Set<string>>()
  const paid = new Set<string>()
  const ticketIds: string[] = []
  let isOver = false

  async function ask(agent: Agent, kind: Kind, method: string, path: string, headers: object, body = '') {
    const began = performance.now()
    try {
      const sent = request(`${url}${path}`, { method, agent, headers: { ...headers } })
      sent.end(body)
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      const { statusCode: status = 0, headers: responseHeaders } = response
      const responseText = await text(response)
      const at = performance.now()
      const answer = { kind, status, ms: at - began, at, text: responseText }
      answers.push({ ...answer, retryAfter: responseHeaders['retry-after'] })
      return answer
    } catch (error) {
      unanswered.push(`${kind} ${(error as NodeJS.ErrnoException).code}`)
      return { status: 0, text: '' }
    }
  }

  // A key in use is retried: the first request got its 503 before its work had ended.
  const isRetryable = ({ status, text }: { status: number; text: string }) =>
    status === 0 || status === 503 || text.includes('IDEMPOTENCY_KEY_IN_USE')

  async function askUntilAnswered(asking: () => Promise<{ status: number; text: string }>) {
    for (let again = 0; again < tries; again++) {
      const answer = await asking()
      if (!isRetryable(answer)) return answer
      if (isOver) return null
      await pause(betweenTriesMs)
    }
    return null
  }

  async function buyer(agent: Agent, number: number) {
    const rate = rates[number % rates.length]
    const key = randomUUID()
    const headers = { ...sale.channel, 'content-type': 'application/json', 'idempotency-key': key }
    const body = JSON.stringify({ ticket_rate_id: `rate_${rate}`, tickets: [anEntry(`price_${rate}`)] })
    const bought = await askUntilAnswered(() =>
      ask(agent, 'checkout', 'POST', '/tickets/checkout', headers, body),
    )
    if (bought?.status !== 200) return
    const { payment_id, payment_url, tickets } = JSON.parse(bought.text).data
    made.set(key, new Set([...(made.get(key) ?? []), payment_id]))
    ticketIds.push(tickets[0]._id)
    const page = new URL(payment_url).pathname
    const form = { 'content-type': formType }
    const settled = await askUntilAnswered(() => ask(agent, 'payment', 'POST', page, form, 'action=pay'))
    if (settled && settled.status < 400) paid.add(payment_id)
  }

  async function door(agent: Agent, number: number) {
    const id = ticketIds.at(-1 - number)
    if (id) await ask(agent, 'lookup', 'GET', `/integrations/tickets/${id}`, sale.integration.v1)
    await ask(agent, 'events', 'GET', '/events?populate=*', sale.channel)
    await pause(20)
  }

  const visitor = async (visit: (agent: Agent, number: number) => Promise<void>, number: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    while (!isOver) await visit(agent, number)
    agent.destroy()
  }
  const running = Promise.all([
    ...Array.from({ length: buyerCount }, (_, number) => visitor(buyer, number)),
    ...Array.from({ length: doorCount }, (_, number) => visitor(door, number)),
  ])

  const sold = () => answers.filter(({ kind, status }) => kind === 'payment' && status < 400)

  return {
    answers,
    unanswered,
    /** Waits until `count` more payments were acknowledged. Resolves to the seconds that took. */
    async waitForSales(count = 5): Promise<number> {
      const since = performance.now()
      const isSelling = () => sold().filter(({ at }) => at > since).length
      await expect.poll(isSelling, { timeout: 30_000, interval: 20 }).toBeGreaterThanOrEqual(count)
      return (performance.now() - since) / 1000
    },
    async stop() {
      isOver = true
      await running
    },
    /** Expects that every request was answered within `maxSeconds`, if need be by a 503 with Retry-After;
     *  that what was acknowledged is stored exactly once; and that no invariant of the database is broken.
     *  */
    async expectPromisesKept(maxSeconds: number): Promise<void> {
      expect(unanswered).toEqual([])
      const unexpected = answers.filter((answer) => answer.status >= 400 && !isRetryable(answer))
      expect(unexpected.map(({ kind, status, text }) => `${kind} ${status} ${text}`)).toEqual([])
      const bare = answers.filter(({ status, retryAfter }) => status === 503 && !retryAfter)
      expect(bare).toEqual([])
      expect(Math.max(...answers.map(({ ms }) => ms)) / 1000).toBeLessThan(maxSeconds)
      const rows = await sale.db.select().from(payments)
      const stored = new Map(rows.map((row) => [row.id, row]))
      const acknowledged = [...made.values()]
      expect(acknowledged.filter(({ size }) => size !== 1)).toEqual([])
      expect(acknowledged.flatMap((ids) => [...ids]).filter((id) => !stored.has(id))).toEqual([])
      expect([...paid].filter((id) => !stored.get(id)?.paidAt)).toEqual([])
      // A retry must not create a second payment: each payment belongs to one key.
      const beside = sql`not exists (select from idempotency_keys where payment_id = ${payments.id})`
      expect(await sale.db.$count(payments, beside)).toBe(0)
      expect(await brokenInvariants(sale.db)).toEqual([])
    },
    /** Summarizes the run in one line. */
    summary(fault: string, soldAgain: number): string {
      const counts = new Map<number, number>()
      for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1)
      const byStatus = [...counts].map(([status, count]) => `${status}: ${count}`).join(', ')
      const slowest = Math.max(...answers.map(({ ms }) => ms)) / 1000
      return `${fault}: ${answers.length} requests (${byStatus}), ${paid.size} paid, slowest ${slowest.toFixed(1)} s, sold again after ${soldAgain.toFixed(1)} s`
    },
  }
}

export type FaultLoad = ReturnType<typeof faultLoad>
