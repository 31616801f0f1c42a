// Runs in: postgres, citus, slow-forms, first

import { setTimeout } from 'node:timers/promises'
import { and, asc, countDistinct, eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { changes } from '../../src/domain/change/table.ts'
import { deliveries } from '../../src/domain/delivery/table.ts'
import { invoices } from '../../src/domain/invoice/table.ts'
import { lockPayments } from '../../src/domain/payment/lock-payment.ts'
import type { RefundOutcome } from '../../src/domain/payment/provider.ts'
import { type RefundAttempt, refunds as table } from '../../src/domain/refund/table.ts'
import { processDueRefunds } from '../../src/domain/sale/refund/request-provider-refund.ts'
import { settleRefunds } from '../../src/domain/sale/refund/settle-refund.ts'
import { applyProviderEvent } from '../../src/domain/sale/settle/apply-provider-event.ts'
import { lockTickets } from '../../src/domain/ticket/require-ticket.ts'
import { tickets } from '../../src/domain/ticket/table.ts'
import { groupBy } from '../../src/engine/base/group-by.ts'
import { type Checkout, countersOf } from '../support/checkouts.ts'
import { openDoors } from '../support/door.ts'
import { anEvent, aRateNamed } from '../support/factories.ts'
import * as refunds from '../support/refunds.ts'
import { sharedSale } from '../support/sale.ts'
import { stubProvider } from '../support/stub-provider.ts'
import { aPaidTicket, buyTickets, ticketOf } from '../support/tickets.ts'

// Concurrent refunds, on a database with many connections.

const rate = aRateNamed('1', {
  warranty: { enabled: true, percentage: 10, hours: 24 },
  availability: { sold: 0, available: 1000 },
})

let calls: string[] = []
const succeeds = async ({ id }: { id: string }): Promise<RefundOutcome> => ({
  kind: 'succeeded',
  reference: `re_${id}`,
})
// Replaced by tests that need another outcome.
let outcome = succeeds
const provider = stubProvider({
  refund: (refund) => {
    calls.push(refund.id)
    return outcome(refund)
  },
})

const sale = sharedSale({
  events: [anEvent({ _id: 'evt_1', ticket_rates: [rate] })],
  provider,
  settings: openDoors,
})

const times = <T>(count: number, run: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)))

/** Checks that counters, rows, invoice series and outbox agree. */
async function expectSound(checkout: Checkout) {
  const rows = await refunds.refundRows(sale, checkout)
  const payment = await refunds.paymentRow(sale, checkout)
  const sumOf = (ofStatus: string[]) =>
    rows.filter(({ status }) => ofStatus.includes(status)).reduce((sum, { amount }) => sum + amount, 0)
  expect(payment?.refundedAmount).toBe(sumOf(['succeeded']))
  expect(sumOf(['succeeded', 'pending'])).toBeLessThanOrEqual(payment?.totalAmount ?? 0)
  const all = await sale.db.select().from(invoices).orderBy(asc(invoices.number))
  // Series run by kind and year.
  for (const series of groupBy(all, ({ kind, year }) => `${kind} ${year}`).values())
    expect(series.map(({ number }) => number)).toEqual(series.map((_, index) => index + 1))
  expect(await sale.db.$count(invoices, eq(invoices.kind, 'corrective'))).toBe(
    await sale.db.$count(table, sql`${table.status} = 'succeeded' and ${table.ticketId} is not null`),
  )
  const active = await sale.db.$count(tickets, eq(tickets.status, 'active'))
  expect((await countersOf(sale)).rate_1?.sold).toBe(active)
}

test('concurrent refunds never exceed what was paid', async () => {
  const checkout = await buyTickets(sale, { count: 2 })
  const ids = [ticketOf(checkout), ticketOf(checkout, 1)]
  const answers = await times(24, (index) =>
    refunds.refundTicket(sale, ids[index % 2] ?? '', { amount: 4 + (index % 3) }),
  )
  const given = answers.flatMap(({ refund }) => refund?.amount ?? [])
  const refused = answers.flatMap(refunds.refusalCodes)
  expect(given.length + refused.length).toBe(24)
  expect(given.length).toBeGreaterThanOrEqual(6)
  for (const refusal of refused) expect(refusal).toMatch(/^REFUND_TOO_HIGH amount [\d.]+$/)
  for (const id of ids) {
    const ticket = await refunds.ticketRow(sale, id)
    // Even the smallest amount no longer fits.
    expect(ticket?.refundedAmount).toBeGreaterThan(2200 - 600)
    expect(ticket?.refundedAmount).toBeLessThanOrEqual(2200)
    expect(ticket?.refunds).toHaveLength(ticket?.correctiveInvoiceReferences.length ?? 0)
  }
  await expectSound(checkout)
})

/** Locks the first ticket of a checkout for three seconds. A refund of it waits for that, and all others for the refund: they
 *  are opened together afterwards. */
const lockTicketForAWhile = (checkout: Checkout | undefined) =>
  sale.db.transaction(async (tx) => {
    await lockTickets(tx, { organizationId: 'org_1', keys: [checkout?.tickets[0]?._id] })
    await setTimeout(3000)
  })

test('refunds of many payments at once share transactions, and a refused one stops no other', async () => {
  const bought = await times(8, () => buyTickets(sale, { count: 2 }))
  // Each transaction has a time of its own.
  const transactions = async () => {
    const [row] = await sale.db.select({ count: countDistinct(table.createdAt) }).from(table)
    return Number(row?.count)
  }
  const before = await transactions()
  const locked = lockTicketForAWhile(bought[0])
  const answers = await Promise.all(
    bought.flatMap((checkout) => [
      refunds.refundTicket(sale, ticketOf(checkout), { amount: 5 }),
      refunds.refundTicket(sale, ticketOf(checkout, 1)),
    ]),
  )
  expect(answers.flatMap(refunds.refusalCodes)).toEqual([])
  expect(answers.flatMap(({ refund }) => refund?.status ?? [])).toEqual(Array(16).fill('SUCCEEDED'))
  await locked
  expect((await transactions()) - before).toBeLessThanOrEqual(8)
  const mixed = await Promise.all(
    bought.flatMap((checkout, index) => [
      refunds.refundTicket(sale, ticketOf(checkout), { amount: index === 3 ? 500 : 6 }),
      refunds.refundTicket(sale, ticketOf(checkout, 1), { amount: 1 }),
    ]),
  )
  const refused = mixed.flatMap((answer, index) => refunds.refusalCodes(answer).map((code) => [index, code]))
  expect(refused).toEqual([
    ...[1, 3, 5].map((index) => [index, 'REFUND_TOO_HIGH amount 0']),
    [6, 'REFUND_TOO_HIGH amount 17'],
    ...[7, 9, 11, 13, 15].map((index) => [index, 'REFUND_TOO_HIGH amount 0']),
  ])
  for (const checkout of bought) await expectSound(checkout)
})

test('a payment that is locked keeps its own refund waiting, and no other', async () => {
  const [held, ...free] = await times(4, () => buyTickets(sale))
  let isFree = false
  const locked = sale.db.transaction(async (tx) => {
    await lockPayments(tx, 'org_1', [held?.payment_id ?? ''], 'wait')
    await setTimeout(4000)
    isFree = true
  })
  await setTimeout(100)
  const waiting = refunds.refundTicket(sale, held?.tickets[0]?._id ?? '')
  const others = await Promise.all(free.map((checkout) => refunds.refundTicket(sale, ticketOf(checkout))))
  expect(isFree).toBe(false)
  expect(others.map(({ refund }) => refund?.status)).toEqual(Array(3).fill('SUCCEEDED'))
  expect((await waiting).refund?.status).toBe('SUCCEEDED')
  expect(isFree).toBe(true)
  await locked
})

test('a repeated request in the same turn, which asks for no mails, takes none from the first', async () => {
  const [waited, checkout] = [await buyTickets(sale), await buyTickets(sale)]
  const locked = lockTicketForAWhile(waited)
  await setTimeout(100)
  const first = refunds.refundTicket(sale, ticketOf(waited))
  await setTimeout(100)
  const ask = (notify: boolean) =>
    refunds.refundTicket(sale, ticketOf(checkout), { idempotencyKey: 'told', notify })
  const asked = ask(true)
  await setTimeout(200)
  const [told, silent] = await Promise.all([asked, ask(false)])
  await Promise.all([first, locked])
  expect([told.replayed, silent.replayed]).toEqual([false, true])
  const isOfCheckout = eq(deliveries.paymentId, checkout.payment_id)
  const isRefund = sql`${deliveries.notice} ->> 'about' = 'refund'`
  expect(await sale.db.$count(deliveries, and(isOfCheckout, isRefund))).toBe(1)
})

test('concurrent refunds with one idempotency key are one refund, for either ticket', async () => {
  const [one, two, three] = [await buyTickets(sale), await buyTickets(sale), await buyTickets(sale)]
  calls = []
  const same = await times(10, () => refunds.refundTicket(sale, ticketOf(one), { idempotencyKey: 'same' }))
  expect(new Set(same.map(({ refund }) => refund?.id)).size).toBe(1)
  expect(calls).toHaveLength(1)
  const mixed = await times(10, (index) =>
    refunds.refundTicket(sale, ticketOf(index % 2 ? three : two), {
      amount: 5,
      idempotencyKey: 'mixed',
    }),
  )
  expect(new Set(mixed.flatMap(({ refund }) => refund?.id ?? [])).size).toBe(1)
  expect(new Set(mixed.flatMap(refunds.refusalCodes))).toEqual(
    new Set(['IDEMPOTENCY_KEY_REUSED idempotencyKey']),
  )
  await expectSound(one)
})

test('concurrent refunds of a payment and of its tickets refund each ticket once, and all of a payment or none', async () => {
  const checkout = await buyTickets(sale, { count: 3 })
  const of = { paymentId: checkout.payment_id }
  calls = []
  const answers = await Promise.all([
    ...Array.from({ length: 4 }, () => refunds.refundTickets(sale, of, { idempotencyKey: 'whole' })),
    ...Array.from({ length: 3 }, () => refunds.refundTickets(sale, of)),
    ...Array.from({ length: 3 }, (_, index) =>
      refunds.refundTickets(sale, { ticketId: ticketOf(checkout, index) }),
    ),
    ...Array.from({ length: 3 }, () => refunds.cancelTickets(sale, of)),
  ])
  for (const refusal of answers.flatMap(refunds.refusalCodes)) expect(refusal).toBe('REFUND_TOO_HIGH of 0')
  const made = answers.flatMap(({ refunds }) => refunds ?? [])
  expect(new Set(made.map(({ id }) => id)).size).toBe(3)
  expect(new Set(made.map(({ ticket }) => ticket?.id)).size).toBe(3)
  expect(calls).toHaveLength(3)
  expect(await refunds.paymentRow(sale, checkout)).toMatchObject({ status: 'refunded', refundedAmount: 6600 })
  await expectSound(checkout)
})

test('concurrent warranty refund, refund and cancellation return a ticket once', async () => {
  for (let round = 0; round < 4; round++) {
    const { id, checkout } = await aPaidTicket(sale, { entry: { warranty: true } })
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => refunds.returnTicket(sale, id)),
      ...Array.from({ length: 2 }, () => refunds.cancelTicket(sale, id)),
      ...Array.from({ length: 2 }, () => refunds.refundTicket(sale, id)),
      ...Array.from({ length: 2 }, () => refunds.cancelTicket(sale, id, sale.integration.v2)),
    ])
    const codes = new Set(answers.flatMap(refunds.refusalCodes).map((refusal) => refusal.split(' ')[0]))
    for (const code of codes) expect(['REFUND_TOO_HIGH', 'ILLEGAL_TRANSITION']).toContain(code)
    expect((await refunds.ticketRow(sale, id))?.status).toBe('cancelled')
    expect(await refunds.changeTypesOf(sale, id)).toEqual(['ticket.activated', 'ticket.cancelled'])
    expect(
      (await refunds.refundRows(sale, checkout)).filter(({ reason }) => reason === 'WARRANTY').length,
    ).toBe(new Set(answers.slice(0, 4).flatMap(({ refund }) => refund?.id ?? [])).size)
    await expectSound(checkout)
  }
})

test('concurrent cancellation and check-in of a ticket do one or the other', async () => {
  const checkout = await buyTickets(sale, { count: 12 })
  const scan = `mutation ($id: ID!, $key: String!) {
    checkInTicket(input: { ticket: { ticketId: $id }, eventId: "evt_1", idempotencyKey: $key }) {
      ... on CheckInTicketPayload { checkIn { outcome } } } }`
  const checkIn = async (id: string) => {
    const { data } = await sale.graphql<{ checkInTicket: { checkIn: { outcome: string } } }>(
      scan,
      { id, key: `scan ${id}` },
      sale.integration.v2,
    )
    return data?.checkInTicket.checkIn.outcome
  }
  await times(12, async (index) => {
    const id = ticketOf(checkout, index)
    const first = index % 2 ? checkIn(id) : null
    const cancelling = refunds.cancelTicket(sale, id)
    const outcome = await (first ?? checkIn(id))
    const isIn = outcome === 'OK'
    expect(refunds.refusalCodes(await cancelling)).toEqual(isIn ? ['ALREADY_ENTERED'] : [])
    expect(outcome).toBe(isIn ? 'OK' : 'CANCELLED')
    expect(await refunds.ticketRow(sale, id)).toMatchObject(
      isIn ? { status: 'active', entered: 1 } : { status: 'cancelled', entered: 0 },
    )
  })
  await expectSound(checkout)
})

test('concurrent workers and webhooks settle each refund once', async () => {
  const checkout = await buyTickets(sale, { count: 12 })
  outcome = async () => {
    throw new Error('out of reach')
  }
  await times(12, (index) => refunds.refundTicket(sale, ticketOf(checkout, index)))
  outcome = succeeds
  calls = []
  await sale.db.update(table).set({ dueAt: sql`now()` })
  const rows = await refunds.refundRows(sale, checkout)
  await Promise.all([
    ...Array.from({ length: 3 }, () => processDueRefunds(sale.db, provider)),
    ...rows
      .slice(0, 6)
      .flatMap((row) =>
        Array.from({ length: 2 }, () =>
          sale.db.transaction((tx) =>
            settleRefunds(tx, [{ refund: row, outcome: { kind: 'succeeded', reference: `re_${row.id}` } }]),
          ),
        ),
      ),
  ])
  expect(new Set(calls).size).toBe(calls.length)
  expect(await refunds.paymentRow(sale, checkout)).toMatchObject({
    status: 'refunded',
    refundedAmount: 26_400,
  })
  const recorded = await sale.db
    .select({ sequence: changes.sequence })
    .from(changes)
    .where(eq(changes.subjectId, checkout.payment_id))
    .orderBy(asc(changes.sequence))
  expect(recorded.map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: 13 }, (_, index) => index + 1),
  )
  await expectSound(checkout)
})

test('an event about a refund that comes twice at once is applied once', async () => {
  const checkout = await buyTickets(sale, { count: 10 })
  await times(10, (index) => refunds.refundTicket(sale, ticketOf(checkout, index)))
  for (const { id } of await refunds.refundRows(sale, checkout)) {
    const about = { kind: 'refund', id, organizationId: 'org_1', outcome: await succeeds({ id }) } as const
    const event = { id: `evt_${id}`, type: 'refunded', about }
    const results = await times(2, () => applyProviderEvent(sale.db, 'sandbox', event))
    expect(results.sort()).toEqual(['done', 'repeated'])
  }
  await expectSound(checkout)
})

test('concurrent settlements that fail leave no gap in the invoice series', async () => {
  const { db } = sale
  const checkout = await buyTickets(sale, { count: 20 })
  outcome = async ({ id }) => ({ kind: 'pending', reference: `re_${id}` })
  await times(20, (index) => refunds.refundTicket(sale, ticketOf(checkout, index)))
  outcome = succeeds
  const rows = await refunds.refundRows(sale, checkout)
  let failed = 0
  const settle = (row: RefundAttempt, fails: boolean) =>
    db.transaction(async (tx) => {
      const settled = await settleRefunds(tx, [
        { refund: row, outcome: { kind: 'succeeded', reference: `re_${row.id}` } },
      ])
      // The invoice number is taken by now.
      if (fails) throw new Error(`on purpose: ${settled.get(row.id)?.status}`)
    })
  const failing = (row: RefundAttempt) => settle(row, true).catch(() => void failed++)
  await Promise.all(rows.flatMap((row) => [failing(row), settle(row, false), failing(row)]))
  expect(failed).toBe(40)
  expect(await refunds.paymentRow(sale, checkout)).toMatchObject({ status: 'refunded' })
  await expectSound(checkout)
})

test('a failed settlement leaves nothing behind and can be repeated', async () => {
  const { db } = sale
  const { id, checkout } = await aPaidTicket(sale)
  outcome = async ({ id }) => ({ kind: 'pending', reference: `re_${id}` })
  await refunds.refundTicket(sale, id)
  outcome = succeeds
  const [row] = await refunds.refundRows(sale, checkout)
  if (!row) throw new Error('there is a refund')
  const reported = { kind: 'succeeded', reference: 're_1' } as const
  const failing = db.transaction(async (tx) => {
    await settleRefunds(tx, [{ refund: row, outcome: reported }])
    throw new Error('on purpose')
  })
  await expect(failing).rejects.toThrow('on purpose')
  expect(await refunds.ticketRow(sale, id)).toMatchObject({
    refundedAmount: 0,
    correctiveInvoiceReferences: [],
  })
  const settled = await db.transaction((tx) => settleRefunds(tx, [{ refund: row, outcome: reported }]))
  expect(settled.get(row.id)?.status).toBe('succeeded')
  await expectSound(checkout)
})
