// Runs in: postgres, citus

import { eq, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openSessions } from '../../src/domain/payment/queue/table.ts'
import { payments } from '../../src/domain/payment/table.ts'
import { settleInTransaction, settlePayment } from '../../src/domain/sale/settle/settle-payment.ts'
import type { Settlement, SettlementResult } from '../../src/domain/sale/settle/settlement.ts'
import { anEntry, mustCheckOut } from '../support/checkouts.ts'
import { anEvent, aPrice, aRate, aRateNamed } from '../support/factories.ts'
import { shared } from '../support/harness.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { roundsOf } from '../support/on-one-server.ts'
import { movePayments } from '../support/queued-payments.ts'
import { openSale, type Sale } from '../support/sale.ts'
import { endedOutcome, paidOutcome } from '../support/stub-provider.ts'

// Concurrent payments are settled in one transaction, with the same outcomes as one at a time.

const rounds = roundsOf(24)
const prices = ['first', 'then'] as const
const rates = ['rate', 'other'] as const
const befores = ['pending', 'processing', 'paid', 'failed', 'expired', 'cancelled'] as const
const endings = ['failed', 'expired', 'cancelled'] as const

type Before = {
  rate: (typeof rates)[number]
  tickets: (typeof prices)[number][]
  status: (typeof befores)[number]
  isOverdue: boolean
}
type Report = {
  index: number
  ending: (typeof endings)[number] | 'processing'
  reference: number
  /** True if the money is less than the total. */
  isShort: boolean
  session: 'own' | 'other' | 'none'
  event: number | null
}
type Round = { hasMoney: boolean; left: number; payments: Before[]; reports: Report[] }

const aSale = () => {
  const ofRound = (_: unknown, round: number) =>
    rates.map((rate) =>
      aRate({
        _id: `${rate}_${round}`,
        prices: [
          aPrice({ _id: `${rate}_first_${round}`, price: 10, quantity: 80 }),
          aPrice({ _id: `${rate}_then_${round}`, price: 5 }),
        ],
      }),
    )
  const all = Array.from({ length: rounds }, ofRound).flat()
  return openSale({ events: all.map((rate) => anEvent({ ticket_rates: [rate] })) })
}

const together = shared(aSale)
const alone = shared(aSale)

const aRound: fc.Arbitrary<Round> = fc.record({
  hasMoney: fc.boolean(),
  left: fc.nat({ max: 3 }),
  payments: fc.array(
    fc.record({
      rate: fc.constantFrom(...rates),
      tickets: fc.array(fc.constantFrom(...prices), { minLength: 1, maxLength: 3 }),
      // Most payments are open, as in a sale.
      status: fc.oneof(
        { weight: 2, arbitrary: fc.constant('pending' as const) },
        fc.constantFrom(...befores),
      ),
      isOverdue: fc.boolean(),
    }),
    { minLength: 2, maxLength: 6 },
  ),
  reports: fc.array(
    fc.record({
      index: fc.nat({ max: 5 }),
      ending: fc.constantFrom(...endings, 'processing' as const),
      reference: fc.nat({ max: 1 }),
      isShort: fc.nat({ max: 4 }).map((one) => one === 0),
      session: fc.constantFrom('own' as const, 'other' as const, 'none' as const),
      event: fc.option(fc.nat({ max: 3 }), { freq: 2 }),
    }),
    { minLength: 2, maxLength: 10 },
  ),
})

const amountOf = (before: Before) =>
  before.tickets.reduce((sum, price) => sum + (price === 'first' ? 1100 : 550), 0)

// Makes the payments of a round, each with a session, in the states they have before the round is settled.
async function prepare(sale: Sale, round: number, { payments: states, left }: Round): Promise<string[]> {
  const ids: string[] = []
  for (const before of states) {
    const tickets = before.tickets.map((price) => anEntry(`${before.rate}_${price}_${round}`))
    const { payment_id } = await mustCheckOut(sale, {
      ticket_rate_id: `${before.rate}_${round}`,
      tickets,
      send_resourcers: true,
    })
    const payment = {
      id: payment_id,
      organizationId: 'org_1',
      ticketRateId: `${before.rate}_${round}`,
      mode: 'live' as const,
    }
    if (before.status === 'paid')
      await settlePayment(sale.db, {
        payment,
        outcome: paidOutcome(payment_id, { amount: amountOf(before) }),
      })
    else if (before.status === 'processing')
      await settlePayment(sale.db, { payment, outcome: { kind: 'processing' } })
    else if (before.status !== 'pending')
      await settlePayment(sale.db, { payment, outcome: endedOutcome(before.status) })
    await movePayments(sale.db, eq(payments.id, payment_id), {
      sessionId: `own_${payment_id}`,
      sessionOpen: true,
      ...(before.isOverdue && { expiresAt: sql`now() - interval '1 day'` }),
    })
    await sale.db.insert(openSessions).values({
      ...{ organizationId: 'org_1', provider: 'sandbox', sessionId: `own_${payment_id}` },
      ...{ paymentId: payment_id, dueAt: sql`now() + interval '1 hour'` },
    })
    ids.push(payment_id)
  }
  // Leaves few places for late payments, or none.
  for (const rate of rates)
    await sale.db.execute(
      sql`update stock set capacity = sold_before + sold + held + ${left} where id = ${`${rate}_${round}`}`,
    )
  return ids
}

const settlementsOf = ({ hasMoney, payments, reports }: Round, round: number, ids: string[]): Settlement[] =>
  reports.map(({ index: chosen, ending, reference, isShort, session, event }) => {
    const index = chosen % ids.length
    const [id, before] = [ids[index], payments[index]]
    if (!id || !before) throw new Error('a settlement is of a payment')
    const money = { amount: amountOf(before) - (isShort ? 1 : 0), reference: `${reference}_${id}` }
    return {
      payment: { id, organizationId: 'org_1', ticketRateId: `${before.rate}_${round}`, mode: 'live' },
      outcome: hasMoney
        ? paidOutcome(id, money)
        : ending === 'processing'
          ? { kind: 'processing' as const }
          : endedOutcome(ending),
      ...(session !== 'none' && { sessionId: `${session}_${id}` }),
      ...(event !== null && { event: { provider: 'test', id: `${event}_${id}`, type: 'told' } }),
    }
  })

const dump = sql.raw(`
  select status, refunded_amount, paid_at is null as unpaid, invoice_reference is null as uninvoiced, session_open,
    (select due_at <= now() from open_sessions where organization_id = 'org_1' and payment_id = payments.id) as is_due, (select json_agg(json_build_array(status, price_id, position, document_token is null,
      invoice_reference = payments.invoice_reference) order by position) from tickets where organization_id = 'org_1' and payment_id = payments.id) as tickets,
    (select json_agg(split_part(reference, '_', 1) order by reference) from charges where organization_id = 'org_1' and payment_id = payments.id) as charges,
    (select json_agg(json_build_array(reason, amount) order by reason, amount) from refunds where organization_id = 'org_1' and payment_id = payments.id) as refunds,
    (select json_agg(json_build_array(kind, amount)) from invoices where organization_id = 'org_1' and payment_id = payments.id) as invoices,
    (select json_agg(split_part(id, '_', 1) order by id) from provider_events where organization_id = 'org_1' and payment_id = payments.id) as events,
    (select json_agg(json_build_array(medium, recipient)) from deliveries where organization_id = 'org_1' and payment_id = payments.id) as deliveries,
    (select json_agg(json_build_array(type, sequence, data - 'payment_id') order by sequence) from changes where organization_id = 'org_1' and subject_id = payments.id) as changes,
    (select json_agg(json_build_array(type, sequence, data->>'status') order by tickets.position, sequence) from changes
      join tickets on tickets.organization_id = changes.organization_id and tickets.id = subject_id
      where changes.organization_id = 'org_1' and payment_id = payments.id) as ticket_changes
  from payments where organization_id = 'org_1' and (select ticket_rate_id from tickets
    where tickets.organization_id = 'org_1' and payment_id = payments.id and position = 0) in `)

const rowsOf = async ({ db }: Sale, round: number) => {
  const ofRound = rates.map((rate) => `${rate}_${round}`)
  const found = await db
    .select({ rows: sql`coalesce(json_agg(row_to_json(found)), '[]')` })
    .from(sql`(${dump} ${ofRound} order by created_at, id) as found`)
  const stock = await db
    .select({ rows: sql`json_agg(json_build_array(id, sold, held) order by id, mode)` })
    .from(sql`stock`)
    .where(sql`id like ${`%\\_${round}`}`)
  return { payments: found[0]?.rows, stock: stock[0]?.rows }
}

// Always included: a late payment for the last place, a repeated event, and a payment that may not change.
const open: Before = { rate: 'rate', tickets: ['first'], status: 'pending', isOverdue: false }
const report: Report = {
  index: 0,
  ending: 'failed',
  reference: 0,
  isShort: false,
  session: 'none',
  event: null,
}
const everyKind: Round = {
  hasMoney: true,
  left: 1,
  payments: [
    open,
    { ...open, status: 'expired' },
    { ...open, status: 'failed' },
    { ...open, status: 'cancelled' },
    { ...open, rate: 'other' },
    open,
  ],
  reports: [
    ...[0, 1, 2, 3, 4].map((index): Report => ({ ...report, index, event: 1 })),
    { ...report, index: 0, reference: 1 },
    // Too little money, then all of it.
    { ...report, index: 5, isShort: true },
    { ...report, index: 5, reference: 1 },
    { ...report, index: 4, event: 1 },
  ],
}

let next = 0
test('settling together has the outcomes, rows and counters of one at a time', async () => {
  const seen = { settled: 0, repeated: 0, changed: 0 }
  const transactions = { together: 0, alone: 0 }
  await fc.assert(
    fc.asyncProperty(aRound, async (drawn) => {
      const round = next++
      const [grouped, single] = [await prepare(together, round, drawn), await prepare(alone, round, drawn)]
      together.statements.reset()
      alone.statements.reset()
      const outcomes = await Promise.all(
        settlementsOf(drawn, round, grouped).map((settlement) => settlePayment(together.db, settlement)),
      )
      const expected: unknown[] = []
      for (const settlement of settlementsOf(drawn, round, single))
        expected.push(...(await settleInTransaction(alone.db, [settlement], 'wait')))
      expect(outcomes).toEqual(expected)
      const isLock = (text: string) => text.includes('from "payments"') && text.includes('for update')
      transactions.together += together.statements.filter(isLock).length
      transactions.alone += alone.statements.filter(isLock).length
      expect(await rowsOf(together, round)).toEqual(await rowsOf(alone, round))
      for (const { isRepeated } of outcomes as SettlementResult[]) seen[isRepeated ? 'repeated' : 'settled']++
      seen.changed += outcomes.filter(({ status }, index) => {
        const { index: chosen } = drawn.reports[index] ?? report
        return status !== drawn.payments[chosen % drawn.payments.length]?.status
      }).length
    }),
    { numRuns: rounds, endOnFailure: true, examples: [[everyKind], [{ ...everyKind, hasMoney: false }]] },
  )
  for (const sale of [together, alone]) expect(await brokenInvariants(sale.db)).toEqual([])
  // Control: every kind of outcome occurred, in fewer transactions.
  expect(Math.min(seen.settled, seen.repeated, seen.changed)).toBeGreaterThan(0)
  expect(transactions.together).toBeLessThan(transactions.alone)
})

test('payments of a rate whose counter is locked for long wait, and those of other rates do not', async () => {
  const sale = await openSale({ events: rates.map((name) => anEvent({ ticket_rates: [aRateNamed(name)] })) })
  const [locked, other] = await Promise.all(
    rates.map((name) =>
      Promise.all(
        Array.from({ length: 5 }, async () => {
          const tickets = [anEntry(`price_${name}`)]
          return (await mustCheckOut(sale, { ticket_rate_id: `rate_${name}`, tickets })).payment_id
        }),
      ),
    ),
  )
  const settleAll = (name: (typeof rates)[number], ids: string[] = []) =>
    Promise.all(
      ids.map(async (id) => {
        const payment = {
          id,
          organizationId: 'org_1',
          ticketRateId: `rate_${name}`,
          mode: 'live' as const,
        }
        return (await settlePayment(sale.db, { payment, outcome: paidOutcome(id) })).status
      }),
    )
  const allPaid = Array(5).fill('paid')
  let waiting: Promise<string[]> | undefined
  await sale.db.transaction(async (tx) => {
    await tx.execute(
      sql`select from stock where organization_id = 'org_1' and mode = 'live' and id = 'rate_rate' for update`,
    )
    waiting = settleAll('rate', locked)
    expect(await settleAll('other', other)).toEqual(allPaid)
  })
  expect(await waiting).toEqual(allPaid)
  await sale.close()
})
