// Runs in: postgres, citus, slow-forms

import { eq, sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { deliveries } from '../../src/domain/delivery/table.ts'
import { lockPayment } from '../../src/domain/payment/lock-payment.ts'
import { tickets } from '../../src/domain/ticket/table.ts'
import { resendTickets, retiredOf, scanCode, transferTicket, updateAttendee } from '../support/attendees.ts'
import type { Checkout } from '../support/checkouts.ts'
import { anEvent, aPrice, aRate, inDays } from '../support/factories.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { waitForBlockedStatement } from '../support/lock-waits.ts'
import * as refunds from '../support/refunds.ts'
import { sharedSale } from '../support/sale.ts'
import { stubProvider } from '../support/stub-provider.ts'
import { aPaidTicket, holdTickets, payFor, ticketOf } from '../support/tickets.ts'

// Changes of a holder against each other and against everything else that locks a ticket, on a database with many
// connections. A deadlock fails a test, because it is answered as an error.

const provider = stubProvider({ refund: async ({ id }) => ({ kind: 'succeeded', reference: `re_${id}` }) })
const warranty = { enabled: true, percentage: 10, hours: 1 }

const prices = [aPrice({ _id: 'price_1' })]
const rate = aRate({ _id: 'rate_1', prices, warranty, availability: { sold: 0, available: 1000 } })
const event = anEvent({ start_date: inDays(0.3), end_date: inDays(0.5), ticket_rates: [rate] })
const sale = sharedSale({ events: [event], provider })

const rounds = 8
const times = <T>(count: number, run: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)))
const sound = async () => expect(await brokenInvariants(sale.db)).toEqual([])

async function buy() {
  const { id, checkout } = await aPaidTicket(sale, { entry: { warranty: true } })
  const before = await refunds.ticketRow(sale, id)
  return { checkout, id, code: before?.qrCode ?? '', token: before?.documentToken ?? '' }
}

test('transfers to several people at once are five, and leave exactly one living code', async () => {
  const { id, code, token } = await buy()
  const answers = await times(10, (index) =>
    transferTicket(sale, id, { fullName: `Holder ${index}`, email: `holder-${index}@example.com` }),
  )
  const refused = answers.flatMap(refunds.refusalCodes)
  expect(refused).toHaveLength(5)
  for (const refusal of refused) expect(refusal).toMatch(/^TOO_MANY_RESENDS 5 \d+$/)
  const codes = answers.flatMap(({ ticket }) => ticket?.qrCode ?? [])
  expect(new Set([code, ...codes]).size).toBe(6)
  const living = await refunds.ticketRow(sale, id)
  const results = new Map<string, string>()
  for (const one of [code, ...codes].filter((one) => one !== living?.qrCode))
    results.set(one, await scanCode(sale, { qrCode: one }))
  expect([...results.values()]).toEqual(Array.from({ length: 5 }, () => 'NOT_FOUND'))
  expect(await scanCode(sale, { qrCode: living?.qrCode ?? '' })).toBe('OK')
  const retired = await retiredOf(sale, id)
  expect(new Set(retired).size).toBe(5)
  expect(retired).toContain(token)
  expect(retired).not.toContain(living?.documentToken)
  await sound()
})

test('the same transfer many times at once makes one code', async () => {
  const { id } = await buy()
  const answers = await times(10, () => transferTicket(sale, id))
  expect(new Set(answers.map(({ ticket }) => ticket?.qrCode)).size).toBe(1)
  expect(await retiredOf(sale, id)).toHaveLength(1)
  expect(await sale.db.$count(deliveries, eq(deliveries.ticketId, id))).toBe(2)
  await sound()
})

test('a transfer and a scan of the former code: one of them wins, and nobody enters with a dead code', async () => {
  const met = new Set<string>()
  await times(rounds, async (round) => {
    const { id, code } = await buy()
    const scan = () => scanCode(sale, { qrCode: code })
    const give = () => transferTicket(sale, id)
    const [result, answer] = await (round % 2
      ? Promise.all([scan(), give()])
      : Promise.all([give(), scan()]).then(([given, scanned]) => [scanned, given] as const))
    const refused = refunds.refusalCodes(answer)
    met.add(result)
    expect([result, ...refused]).toEqual(result === 'OK' ? ['OK', 'ALREADY_ENTERED'] : ['NOT_FOUND'])
    expect((await refunds.ticketRow(sale, id))?.entered).toBe(result === 'OK' ? 1 : 0)
  })
  expect([...met].every((result) => result === 'OK' || result === 'NOT_FOUND')).toBe(true)
  await sound()
})

test('a scan that waits for a transfer finds the former code dead', async () => {
  const { id, code } = await buy()
  const scanned = await sale.db.transaction(async (tx) => {
    await tx
      .update(tickets)
      // A change of its own time would have to be listed too, as the service does.
      .set({ qrCode: `${code}2`, updatedAt: sql`${tickets.updatedAt}` })
      .where(eq(tickets.id, id))
    const waiting = scanCode(sale, { qrCode: code })
    await waitForBlockedStatement(sale.db)
    return { waiting }
  })
  expect(await scanned.waiting).toBe('NOT_FOUND')
})

test('transfers, cancellations, refunds and resends of a ticket at once take their locks in one order', async () => {
  await times(rounds, async () => {
    const { checkout, id, code } = await buy()
    const [given, cancelled, ...others] = await Promise.all([
      transferTicket(sale, id),
      refunds.cancelTicket(sale, id),
      refunds.refundTicket(sale, id, { amount: 3 }),
      resendTickets(sale, { ticketId: id }),
      resendTickets(sale, { paymentId: checkout.payment_id }),
      updateAttendee(sale, id, { address: 'Here' }),
    ])
    const row = await refunds.ticketRow(sale, id)
    // Nobody entered, so cancelling always works; whatever comes after it is refused.
    expect(cancelled.ticket?.status).toBe('CANCELLED')
    expect(row?.status).toBe('cancelled')
    expect(row?.qrCode === code).toBe(given.errors !== undefined)
    for (const { errors = [] } of [given, ...others])
      expect(errors.map(({ code }) => code)).toEqual(errors.length > 0 ? ['ILLEGAL_TRANSITION'] : [])
    expect(await retiredOf(sale, id)).toHaveLength(given.errors ? 0 : 1)
  })
  await sound()
})

test('a transfer and a return by warranty at once: whichever is first refuses the other', async () => {
  await times(rounds, async () => {
    const { id } = await buy()
    const [given, returned] = await Promise.all([transferTicket(sale, id), refunds.returnTicket(sale, id)])
    const isGiven = given.errors === undefined
    expect(refunds.refusalCodes(returned)).toEqual(isGiven ? ['TICKET_TRANSFERRED'] : [])
    expect((await refunds.ticketRow(sale, id))?.status).toBe(isGiven ? 'active' : 'cancelled')
    expect(await retiredOf(sale, id)).toHaveLength(isGiven ? 1 : 0)
  })
  await sound()
})

test('resends of a ticket at once are never more than five', async () => {
  const { checkout, id } = await buy()
  const answers = await times(12, (index) =>
    resendTickets(sale, index % 2 ? { ticketId: id } : { paymentId: checkout.payment_id }),
  )
  const refused = answers.flatMap(refunds.refusalCodes)
  expect(refused).toHaveLength(7)
  for (const refusal of refused) expect(refusal).toMatch(/^TOO_MANY_RESENDS 5 \d+$/)
  expect(await sale.db.$count(deliveries, eq(deliveries.ticketId, id))).toBe(5)
  await sound()
})

const makeUnpaid = (email: string) => holdTickets(sale, { entry: { email }, send_resourcers: true })

/** Addresses that a checkout's mail is queued for. */
const queuedFor = async ({ payment_id }: Checkout) =>
  (await sale.db.select().from(deliveries).where(eq(deliveries.paymentId, payment_id))).map(
    ({ recipient }) => recipient,
  )

test('a correction of an address waits for a settlement of the payment, and a settlement for it', async () => {
  const checkout = await makeUnpaid('wrong@example.com')
  const { correction, payment } = await sale.db.transaction(async (tx) => {
    await lockPayment(tx, { organizationId: 'org_1', id: checkout.payment_id })
    const correction = updateAttendee(sale, ticketOf(checkout), { email: 'right@example.com' })
    await waitForBlockedStatement(sale.db)
    return { correction, payment: payFor(sale, checkout) }
  })
  await Promise.all([correction, payment])
  // Whichever came first, the ticket bears the new address.
  expect((await refunds.ticketRow(sale, ticketOf(checkout)))?.email).toBe('right@example.com')
})

test('corrections while payments settle: the mail goes to the address that the ticket had when it was paid', async () => {
  await times(rounds, async (index) => {
    const checkout = await makeUnpaid('wrong@example.com')
    const [corrected] = await Promise.all([
      updateAttendee(sale, ticketOf(checkout), { email: `right-${index}@example.com` }),
      payFor(sale, checkout),
    ])
    // The answer tells which came first.
    expect(await queuedFor(checkout)).toEqual(
      corrected.ticket?.status === 'PENDING' ? [`right-${index}@example.com`] : ['wrong@example.com'],
    )
  })
  await sound()
})
