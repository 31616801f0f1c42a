import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createContext } from '../src/context.ts'
import { Refusal } from '../src/errors.ts'
import { sandboxProvider } from '../src/payment/sandbox.ts'
import { type HoldOutcome, holdStock } from '../src/ticket/hold-stock.ts'
import { planCheckout } from '../src/ticket/plan-checkout.ts'
import { stock } from '../src/ticket-rate/table.ts'
import { aCatalogue, anEvent, aPrice, aRate } from './factories.ts'
import { openSale, type Sale } from './sale.ts'

// Checkouts that wait for the same rate are held in one transaction. None may tell by its outcome.

const mostRounds = 40

const aSale = () => {
  const rates = Array.from({ length: mostRounds }, (_, round) =>
    aRate({
      _id: `rate_${round}`,
      prices: [
        aPrice({ _id: `first_${round}`, price: 10, quantity: 5 }),
        aPrice({ _id: `then_${round}`, price: 0 }),
      ],
      availability: { sold: 3, available: 12 },
    }),
  )
  // An event each, because a code is unused within its event.
  return openSale(aCatalogue({ events: rates.map((rate) => anEvent({ ticket_rates: [rate] })) }))
}

let together: Sale
let alone: Sale
beforeAll(async () => {
  together = await aSale()
  alone = await aSale()
})
afterAll(() => Promise.all([together.close(), alone.close()]))

type Wanted = { prices: ('first' | 'then')[]; code: string | null; key: string | null }

const wanted: fc.Arbitrary<Wanted> = fc.record({
  prices: fc.array(fc.constantFrom('first', 'then'), { minLength: 1, maxLength: 4 }),
  code: fc.option(fc.constantFrom('A', 'B', 'C')),
  key: fc.option(fc.constantFrom('k1', 'k2', 'k3')),
})

/** The jobs of a round, each planned while nothing was held yet. */
async function jobsOf({ db, channel }: Sale, round: number, all: Wanted[]) {
  const house = { db, replica: () => db, provider: sandboxProvider, holdMinutes: 15, publicUrl: () => '' }
  const ctx = await createContext(house, { apiKey: channel['x-api-key'] })
  return Promise.all(
    all.map(async ({ prices, code, key }) => {
      const tickets = prices.map((price, index) => ({
        priceId: `${price}_${round}`,
        qrCode: code && `${code}-${index}`,
        fullName: 'Ana',
        email: 'ana@example.com',
      }))
      const input = { ticketRateId: `rate_${round}`, tickets }
      const plan = await planCheckout(input, ctx)
      const idempotency = key === null ? null : { id: `${key}-${round}`, requestHash: 'same' }
      const channelId = ctx.caller?.kind === 'channel' ? ctx.caller.channelId : ''
      return { plan, input, idempotency, channelId, provider: 'sandbox', holdMinutes: 15 }
    }),
  )
}

const told = (outcome: HoldOutcome) => {
  if (outcome instanceof Refusal) return outcome.problems
  return outcome && { total: outcome.payment.totalAmount, of: outcome.tickets.map(({ priceId }) => priceId) }
}

const stockOf = async ({ db }: Sale, round: number) => {
  const rows = await db.select().from(stock)
  return rows.filter(({ id }) => id.endsWith(`_${round}`)).sort((one, other) => (one.id < other.id ? -1 : 1))
}

test('outcomes and counters are those of one at a time', { timeout: 240_000 }, async () => {
  let round = 0
  const seen = { made: 0, refused: 0, again: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(wanted, { minLength: 2, maxLength: 12 }), async (all) => {
      const at = round++ % mostRounds
      const group = await holdStock(together.db, await jobsOf(together, at, all))
      const single: HoldOutcome[] = []
      for (const job of await jobsOf(alone, at, all)) single.push(...(await holdStock(alone.db, [job])))
      expect(group.map(told)).toEqual(single.map(told))
      expect(await stockOf(together, at)).toEqual(await stockOf(alone, at))
      for (const outcome of group)
        seen[outcome === null ? 'again' : outcome instanceof Refusal ? 'refused' : 'made']++
    }),
    // As many as there are rates that nobody has sold of yet; a failure is told as it came.
    { numRuns: mostRounds, endOnFailure: true },
  )
  // The control: every kind of outcome was among them.
  expect(Math.min(seen.made, seen.refused, seen.again)).toBeGreaterThan(5)
})
