// Runs in: postgres, citus

import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Credentials } from '../../src/domain/caller/credentials.ts'
import type { HoldOutcome } from '../../src/domain/sale/checkout/hold/hold.ts'
import type { HoldJob } from '../../src/domain/sale/checkout/hold/hold-rows.ts'
import { holdExactly, holdTogether } from '../../src/domain/sale/checkout/hold/hold-together.ts'
import { planCheckout } from '../../src/domain/sale/checkout/plan-checkout.ts'
import { readTerms } from '../../src/domain/sale/checkout/terms-loaders.ts'
import { stock } from '../../src/domain/stock/table.ts'
import { createContext } from '../../src/engine/request/context.ts'
import { aDiscount } from '../support/discounts.ts'
import { anEvent, anOrganization, aPrice, aRate } from '../support/factories.ts'
import { shared } from '../support/harness.ts'
import { waitForBlockedStatement } from '../support/lock-waits.ts'
import { roundsOf } from '../support/on-one-server.ts'
import { openSale, type Sale } from '../support/sale.ts'
import { testServices } from '../support/test-services.ts'

// Concurrent checkouts are held in one statement or transaction, with the same outcomes as one at a time.

const rounds = roundsOf(90)
const ratesOfRound = ['one', 'two', 'three'] as const
type Rate = (typeof ratesOfRound)[number]

const aSale = () => {
  const rates = Array.from({ length: rounds + 1 }, (_, round) =>
    ratesOfRound.map((rate) =>
      aRate({
        _id: `rate_${rate}_${round}`,
        prices: [
          aPrice({ _id: `first_${rate}_${round}`, price: 10, quantity: 5 }),
          // Free tickets are settled too, in the same transaction.
          aPrice({ _id: `then_${rate}_${round}`, price: rate === 'three' ? 0 : 5 }),
        ],
        availability: { sold: 3, available: 12 },
      }),
    ),
  )
  // One event for each rate, because QR codes are unique within an event.
  const discounts = rates
    .flat()
    .map(({ _id }) => aDiscount({ _id: `dsc_${_id}`, code: _id, percentage: 50, quantity: 6 }))
  const organizations = [anOrganization({ discounts })]
  return openSale({ organizations, events: rates.flat().map((rate) => anEvent({ ticket_rates: [rate] })) })
}

const together = shared(aSale)
const alone = shared(aSale)

type Wanted = {
  rate: Rate
  prices: ('first' | 'then')[]
  code: string | null
  key: string | null
  discount: boolean
}

/** Some want a code or a key that others want too; most want neither, as in a sale. */
const wantedOf = (rates: readonly Rate[]): fc.Arbitrary<Wanted> =>
  fc.record({
    rate: fc.constantFrom(...rates),
    prices: fc.array(fc.constantFrom('first', 'then'), { minLength: 1, maxLength: 4 }),
    code: fc.option(fc.constantFrom('A', 'B', 'C'), { freq: 2 }),
    key: fc.option(fc.constantFrom('k1', 'k2', 'k3'), { freq: 2 }),
    discount: fc.boolean(),
  })

/** Plans the jobs of a round before any of it is held. */
async function jobsOf({ db, channel }: Sale, round: number, all: Wanted[]): Promise<HoldJob[]> {
  const ctx = await createContext(testServices(db), new Credentials(channel))
  return Promise.all(
    all.map(async ({ rate, prices, code, key, discount }) => {
      const tickets = prices.map((price, index) => ({
        priceId: `${price}_${rate}_${round}`,
        qrCode: code && `${code}-${index}`,
        fullName: 'Ana',
        email: 'ana@example.com',
      }))
      const ticketRateId = `rate_${rate}_${round}`
      const input = { ticketRateId, tickets, discountCode: discount ? ticketRateId : null }
      const terms = await readTerms(input.ticketRateId, ctx)
      if (!terms) throw new Error(`rate ${ticketRateId} not found`)
      const plan = await planCheckout(input, terms, ctx)
      const idempotency = key === null ? null : { id: `${key}-${rate}-${round}`, requestHash: 'same' }
      const channelId = ctx.caller?.kind === 'channel' ? ctx.caller.channelId : ''
      const seller = { channelId, mode: 'live' as const, saleType: 'online' as const, provider: 'sandbox' }
      return { plan, input, idempotency, seller, holdMinutes: 15 }
    }),
  )
}

const summarize = (outcome: HoldOutcome) => {
  if (outcome.kind === 'refused') return outcome.refusal.problems
  if (outcome.kind !== 'held') return outcome
  const { payment, tickets } = outcome.checkout
  return { total: payment.totalAmount, priceIds: tickets.map(({ priceId }) => priceId) }
}

const stockOf = async ({ db }: Sale, round: number) => {
  const rows = await db.select().from(stock)
  return rows
    .filter(({ id, mode }) => id.endsWith(`_${round}`) && mode === 'live')
    .sort((one, other) => (one.id < other.id ? -1 : 1))
}

/** Rows that the holds of a round have written, without what differs each time. */
async function rowsOf({ db }: Sale, round: number) {
  const rows = await db.execute(sql`
    select (to_jsonb(payments) - '{id, channel_id, page_token, created_at, expires_at, paid_at, invoice_reference}'::text[])
      || jsonb_build_object(
        'minutes', extract(epoch from expires_at - created_at) / 60,
        'queued', (select count(*) from expiries
          where expiries.organization_id = payments.organization_id and payment_id = payments.id and expiries.expires_at = payments.expires_at),
        'keys', (select jsonb_agg(jsonb_build_array(keys.id, request_hash)) from idempotency_keys as keys
          where keys.organization_id = payments.organization_id and payment_id = payments.id),
        'tickets', (select jsonb_agg(to_jsonb(tickets)
            - '{id, payment_id, channel_id, event_id, document_token, created_at, updated_at, activated_at, sold_on}'::text[]
            - case when length(qr_code) > 5 then 'qr_code' else '' end order by position)
          from tickets
          where tickets.organization_id = payments.organization_id and payment_id = payments.id)) as row
    from payments where (select ticket_rate_id from tickets
      where tickets.organization_id = payments.organization_id and payment_id = payments.id and position = 0) like ${`%\\_${round}`}`)
  const changed = await db.execute(
    sql`select jsonb_build_array(type, subject_id, sequence) as row from changes
      where subject_id like ${`%\\_${round}`}`,
  )
  return [rows, changed]
    .flatMap((found) => (found as unknown as { row: unknown }[]).map(({ row }) => JSON.stringify(row)))
    .sort()
}

const ways: {
  way: string
  rates: readonly Rate[]
  hold(sale: Sale, jobs: HoldJob[]): Promise<HoldOutcome[]>
}[] = [
  {
    way: 'several rates, batched',
    rates: ratesOfRound,
    hold: ({ db }, jobs) => Promise.all(jobs.map((job) => holdTogether(db, job))),
  },
  { way: 'one rate, exactly', rates: ['one'], hold: ({ db }, jobs) => holdExactly(db, jobs) },
  { way: 'several rates, exactly', rates: ratesOfRound, hold: ({ db }, jobs) => holdExactly(db, jobs) },
]

// Always included: a hold in one statement, and every kind of outcome.
const plain: Wanted = { rate: 'one', prices: ['then'], code: null, key: null, discount: false }
const everyKind: Wanted[] = [
  { ...plain, code: 'A', key: 'k1' },
  { ...plain, code: 'A' },
  { ...plain, key: 'k1' },
  { ...plain, prices: ['first', 'then', 'then', 'then'], discount: true },
  { ...plain, prices: ['then', 'then', 'then'], discount: true },
]

let round = 0
test.each(ways)(
  'holding together has the outcomes and counters of one at a time: $way',
  async ({ way, rates, hold }) => {
    const seen = { held: 0, refused: 0, later: 0, 'plan again': 0 }
    const statements = { one: 0, more: 0 }
    await fc.assert(
      fc.asyncProperty(fc.array(wantedOf(rates), { minLength: 2, maxLength: 12 }), async (all) => {
        const at = round++
        const jobs = await jobsOf(together, at, all)
        together.statements.reset()
        const group = await hold(together, jobs)
        statements[together.statements.length === 1 ? 'one' : 'more']++
        const single: HoldOutcome[] = []
        for (const job of await jobsOf(alone, at, all)) single.push(...(await holdExactly(alone.db, [job])))
        expect(group.map(summarize)).toEqual(single.map(summarize))
        expect(await stockOf(together, at)).toEqual(await stockOf(alone, at))
        expect(await rowsOf(together, at)).toEqual(await rowsOf(alone, at))
        for (const { kind } of group) seen[kind]++
      }),
      // One run for each unused rate; a failure is reported unshrunk.
      { numRuns: rounds / ways.length, endOnFailure: true, examples: [[[plain, plain]], [everyKind]] },
    )
    // Control: every kind of outcome occurred, in one statement and in more.
    expect(Math.min(seen.held, seen.refused, seen['plan again'])).toBeGreaterThan(0)
    expect(seen.later).toBe(0)
    if (way.endsWith('batched')) expect(Math.min(statements.one, statements.more)).toBeGreaterThan(0)
  },
)

// What is left is looked at under the lock.
test('a hold that waits for a row lock gets the places freed meanwhile', async () => {
  const { db } = together
  const [job] = await jobsOf(together, rounds, [plain])
  if (!job) throw new Error('a job was planned')
  const id = `rate_one_${rounds}`
  await db.execute(sql`update stock set held = capacity - sold_before - sold where id = ${id}`)
  let held: Promise<HoldOutcome> | undefined
  await db.transaction(async (tx) => {
    await tx.execute(sql`update stock set held = held - 1 where id = ${id}`)
    held = holdTogether(db, job)
    await waitForBlockedStatement(db)
  })
  expect(summarize((await held) ?? { kind: 'later' })).toEqual({
    total: 550,
    priceIds: [`then_one_${rounds}`],
  })
})
