// Runs in: postgres, slow-forms

import { eq, getTableColumns, inArray, like, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { channels } from '../../../src/domain/caller/table.ts'
import { changeType, webhooks } from '../../../src/domain/change/table.ts'
import { sandboxProvider } from '../../../src/domain/payment/sandbox.ts'
import { payments } from '../../../src/domain/payment/table.ts'
import { processDueRefunds } from '../../../src/domain/sale/refund/request-provider-refund.ts'
import { expireHolds } from '../../../src/domain/sale/release/expire-holds.ts'
import { tickets } from '../../../src/domain/ticket/table.ts'
import { retiredOf, scanCode, transferTicket } from '../../support/attendees.ts'
import {
  aBuyer,
  aGuest,
  issueInvitations,
  type OwnSale,
  problemsOf,
  sellAtBoxOffice,
} from '../../support/box-office.ts'
import { anEntry, checkOut } from '../../support/checkouts.ts'
import { redeem as redeemItems, scanTicket } from '../../support/door.ts'
import { anEvent, aRateNamed, aSupplement, inDays } from '../../support/factories.ts'
import { brokenInvariants, brokenRows, invariantBreakers } from '../../support/invariants.ts'
import { movePayments } from '../../support/queued-payments.ts'
import { cancelPayment, cancelTicket, refundTicket, refusalCodes, ticketRow } from '../../support/refunds.ts'
import { restProblems, sharedSale } from '../../support/sale.ts'
import { settlePaymentById } from '../../support/settle-payment.ts'
import { endedOutcome } from '../../support/stub-provider.ts'
import {
  end,
  left,
  type Model,
  type ModelPayment,
  type ModelTicket,
  pay,
  redeem,
  refund,
  scan,
  transfer,
} from '../../support/ticket-model.ts'

// Actions on tickets in random order, checked against a model of plain counters.

const runs = 8
const capacity = 7
const price = 2200
const admits = 3
const drinks = 2

const events = Array.from({ length: runs + 1 }, (_, run) =>
  anEvent({
    start_date: inDays(0.2),
    ticket_rates: [
      aRateNamed(run, {
        admits,
        supplements: [aSupplement({ _id: `sup_${run}`, price: 0, product_quantity: drinks })],
        availability: { sold: 0, available: capacity },
      }),
    ],
  }),
)
const sale = sharedSale({ events })
beforeAll(async () => {
  const [channel] = await sale.db.select().from(channels).where(like(channels.id, 'chn_%'))
  const all = { url: 'https://shop.example/told', types: [...changeType.enumValues], secret: 'whsec_' }
  await sale.db.insert(webhooks).values({ id: 'whk_1', channelId: channel?.id ?? '', ...all })
  const setup = () => ({ model: { capacity, payments: [] }, real: { run: runs, seen: new Set<string>() } })
  await fc.asyncModelRun(setup, everyState)
})

type Real = { run: number; seen: Set<string> }
type Command = fc.AsyncCommand<Model, Real>

/** Makes a command that acts on one of the payments, or on one of its tickets. */
const on = (
  name: string,
  at: number,
  act: (payment: ModelPayment, ticket: ModelTicket, model: Model) => Promise<string>,
): Command => ({
  check: ({ payments }) => payments.length > 0,
  async run(model, real) {
    const all = model.payments.flatMap((payment) => payment.tickets.map((ticket) => ({ payment, ticket })))
    const chosen = all[all.length - 1 - (at % all.length)]
    if (!chosen) throw new Error('there is a ticket')
    const before = chosen.payment.status
    real.seen.add(`${name} ${before} ${await act(chosen.payment, chosen.ticket, model)}`)
    await agree(model)
  },
  toString: () => `${name} ${at}`,
})

const holderAfter = (transfers: number, first: string) => (transfers === 0 ? first : `Holder ${transfers}`)

/** Compares all payments and tickets in the database with the model. */
async function agree({ payments: all }: Model): Promise<void> {
  const ids = all.map(({ id }) => id)
  const rows = await sale.db
    .select({ ...getTableColumns(tickets), payment: payments.status })
    .from(tickets)
    .innerJoin(payments, eq(payments.id, tickets.paymentId))
    .where(inArray(tickets.paymentId, ids))
  const actual = rows.map(({ id, payment, status, refundedAmount, entered, supplements, fullName }) => [
    ...[id, payment, status, refundedAmount, entered, supplements[0]?.used ?? 0, fullName],
  ])
  const expected = all.flatMap((payment) =>
    payment.tickets.map(({ id, status, refunded, inside, drinksUsed, holder, transfers }) => [
      ...[id, payment.status, status, refunded, inside, drinksUsed, holderAfter(transfers, holder)],
    ]),
  )
  expect(actual.sort()).toEqual(expected.sort())
}

const aCheckout = (count: number): Command => ({
  check: () => true,
  async run(model, { run, seen }) {
    const answer = await checkOut(sale, {
      ticket_rate_id: `rate_${run}`,
      tickets: Array.from({ length: count }, () =>
        anEntry(`price_${run}`, { supplements: [{ supplement_id: `sup_${run}` }] }),
      ),
      send_resourcers: true,
    })
    if (left(model) < count) {
      const code = left(model) === 0 ? 'SOLD_OUT' : 'INSUFFICIENT_AVAILABILITY'
      expect(restProblems(answer)).toEqual([`${code} tickets`])
      seen.add(`checkout refused`)
      return
    }
    const { data } = answer.json<{ data: { payment_id: string; tickets: { _id: string }[] } }>()
    model.payments.push({
      id: data.payment_id,
      status: 'pending',
      charges: 0,
      tickets: data.tickets.map(({ _id }) => ({
        ...{ id: _id, status: 'held', paid: 0, refunded: 0, admits, inside: 0, wasInside: false },
        ...{ drinksLeft: drinks, drinksUsed: 0, transfers: 0, holder: 'Ana Núñez' },
      })),
    })
    seen.add('checkout made')
    await agree(model)
  },
  toString: () => `check out ${count}`,
})

/** Sells at the box office, or gives away: paid at once. */
const atBoxOffice =
  (
    name: string,
    paid: number,
    holder: string,
    path: string,
    sell: (run: number, count: number) => Promise<OwnSale>,
  ) =>
  (count: number): Command => ({
    check: () => true,
    async run(model, { run, seen }) {
      const sold = await sell(run, count)
      if (left(model) < count) {
        const code = left(model) === 0 ? 'SOLD_OUT' : 'INSUFFICIENT_AVAILABILITY'
        expect(problemsOf(sold)).toEqual([`${code} ${path} ${left(model)}`])
        seen.add(`${name} refused`)
        return
      }
      model.payments.push({
        id: sold.payment.id,
        status: 'paid',
        isOwn: true,
        charges: 0,
        tickets: sold.tickets.map(({ id }) => ({
          ...{ id, status: 'active', paid, refunded: 0, admits, inside: 0, wasInside: false },
          ...{ drinksLeft: 0, drinksUsed: 0, transfers: 0, holder },
        })),
      })
      seen.add(`${name} made`)
      await agree(model)
    },
    toString: () => `${name} ${count}`,
  })

const aDoorSale = atBoxOffice('sale at the door', price, 'Ana Núñez', 'items.0.tickets', (run, count) =>
  sellAtBoxOffice(sale, {
    ticketRateId: `rate_${run}`,
    tickets: Array.from({ length: count }, () => aBuyer(`price_${run}`)),
  }),
)

const anInvitation = atBoxOffice('invitation', 0, 'Luz Marín', 'guests', (run, count) =>
  issueInvitations(sale, {
    ticketRateId: `rate_${run}`,
    guests: Array.from({ length: count }, () => aGuest()),
    sendTickets: true,
  }),
)

const takeMoney = async (payment: ModelPayment, model: Model) => {
  pay(model, payment, price)
  const amount = payment.tickets.length * price
  const reference = `${payment.id}_${payment.charges}`
  const paid = { provider: 'sandbox', reference, amount, currency: 'EUR' }
  // Reported twice, as providers do.
  for (const _ of [1, 2]) await settlePaymentById(sale.db, payment.id, { kind: 'paid', money: paid })
  await processDueRefunds(sale.db, sandboxProvider)
  return payment.status
}

const money = (at: number) => on('pay', at, (payment, _ticket, model) => takeMoney(payment, model))

const failure = (at: number) =>
  on('fail', at, async (payment) => {
    end(payment, 'failed')
    await settlePaymentById(sale.db, payment.id, endedOutcome('failed'))
    return payment.status
  })

const letExpire = async (payment: ModelPayment) => {
  end(payment, 'expired')
  await movePayments(sale.db, eq(payments.id, payment.id), { expiresAt: sql`now() - interval '1 second'` })
  await expireHolds(sale.db, 100)
  return payment.status
}

const lapse = (at: number) => on('expire', at, letExpire)

const lateMoney = (at: number) =>
  on('pay late', at, async (payment, _ticket, model) => {
    await letExpire(payment)
    return takeMoney(payment, model)
  })

const cancelling = (at: number) =>
  on('cancel checkout', at, async (payment) => {
    const { status } = payment
    const may = status === 'pending' || status === 'cancelled'
    end(payment, 'cancelled')
    const problems = refusalCodes(await cancelPayment(sale, payment.id))
    const problem = payment.isOwn ? 'NOT_FOUND' : 'ILLEGAL_TRANSITION'
    expect(problems).toEqual(may ? [] : [expect.stringContaining(problem)])
    return payment.status
  })

const givingUp = (at: number) =>
  on('cancel ticket', at, async ({ isOwn }, ticket) => {
    const problem =
      ticket.status === 'held' || ticket.status === 'expired'
        ? 'ILLEGAL_TRANSITION'
        : ticket.status === 'active' && ticket.wasInside
          ? 'ALREADY_ENTERED'
          : ticket.status === 'active' && ticket.drinksUsed > 0
            ? 'SUPPLEMENT_REDEEMED'
            : null
    if (!problem) ticket.status = 'cancelled'
    const headers = isOwn ? sale.integration.v2 : sale.channel
    const problems = refusalCodes(await cancelTicket(sale, ticket.id, headers))
    expect(problems).toEqual(problem ? [expect.stringContaining(problem)] : [])
    return problem ?? ticket.status
  })

const refunding = (at: number, part: number) =>
  on('refund', at, async (payment, ticket) => {
    const rest = ticket.paid - ticket.refunded
    const amount = Math.max(1, Math.round(price * part))
    const fits = amount <= rest
    if (fits) refund(payment, ticket, amount)
    const problems = refusalCodes(await refundTicket(sale, ticket.id, { amount: amount / 100 }))
    expect(problems).toHaveLength(fits ? 0 : 1)
    return fits ? payment.status : (problems[0]?.split(' ')[0] ?? '')
  })

const givingOn = (at: number) =>
  on('transfer', at, async ({ isOwn }, ticket) => {
    const [before] = await sale.db.select().from(tickets).where(eq(tickets.id, ticket.id))
    const fullName = holderAfter(ticket.transfers + 1, ticket.holder)
    const problem = transfer(ticket)
    const headers = isOwn ? sale.integration.v2 : sale.channel
    const problems = refusalCodes(await transferTicket(sale, ticket.id, { fullName }, headers))
    expect(problems).toEqual(problem ? [expect.stringContaining(problem)] : [])
    if (!problem) expect(await scanCode(sale, { qrCode: before?.qrCode ?? '' })).toBe('NOT_FOUND')
    expect(await retiredOf(sale, ticket.id)).toHaveLength(ticket.transfers)
    return problem ?? 'given'
  })

const scanning = (at: number, direction: 'IN' | 'OUT', people: number) =>
  on(`scan ${direction}`, at, async (_payment, ticket) => {
    const before = ticket.inside
    const expected = scan(ticket, direction, people)
    const { outcome, inside } = await scanTicket(sale, { ticketId: ticket.id, direction, people })
    expect([outcome, inside]).toEqual([expected, ticket.inside])
    return before > 0 ? `more ${expected}` : expected
  })

const redeeming = (at: number, count: number) =>
  on('redeem', at, async (_payment, ticket) => {
    const expected = redeem(ticket, count)
    const run = (await ticketRow(sale, ticket.id))?.ticketRateId.replace('rate', 'sup')
    const { outcome, left } = await redeemItems(sale, { ticketId: ticket.id, supplementId: run, count })
    const isCounted = expected === 'OK' || expected === 'USED_UP'
    expect([outcome, left]).toEqual([expected, isCounted ? ticket.drinksLeft : null])
    return expected
  })

// Half of the time one of the latest, which are still open.
const at = fc.oneof(fc.nat(2), fc.nat(30))
const commands = fc.array(
  fc.oneof(
    fc.integer({ min: 1, max: 3 }).map(aCheckout),
    fc.integer({ min: 1, max: 3 }).map(aCheckout),
    fc.integer({ min: 1, max: 2 }).map(aDoorSale),
    fc.integer({ min: 1, max: 2 }).map(anInvitation),
    at.map(money),
    at.map(money),
    at.map(failure),
    at.map(lapse),
    at.map(lateMoney),
    at.map(cancelling),
    at.map(givingUp),
    at.map(givingOn),
    fc.tuple(at, fc.constantFrom(0.3, 0.5, 1)).map(([at, part]) => refunding(at, part)),
    fc
      .tuple(at, fc.constantFrom('IN' as const, 'OUT' as const), fc.integer({ min: 1, max: admits + 1 }))
      .map(([at, way, people]) => scanning(at, way, people)),
    fc.tuple(at, fc.integer({ min: 1, max: drinks + 1 })).map(([at, items]) => redeeming(at, items)),
  ),
  { minLength: 30, maxLength: 40 },
)

// Reaches every state that the controls below need, whatever the random runs do.
const everyState = [
  ...[aDoorSale(1), refunding(0, 0.5), money(0), anInvitation(1), refunding(0, 1)],
  ...[aCheckout(1), money(0), refunding(0, 1), refunding(0, 0.3)],
  ...[aCheckout(1), money(0), money(0), aCheckout(1), lateMoney(0)],
  ...[aCheckout(1), givingOn(0), money(0), givingOn(0), givingOn(0), givingUp(0)],
  ...[aCheckout(1), cancelling(0), aCheckout(1), lapse(0), aCheckout(1), redeeming(0, 1), money(0)],
  ...[redeeming(0, 1), givingUp(0), redeeming(0, 2), scanning(0, 'IN', 2), scanning(0, 'IN', 2)],
  ...[scanning(0, 'IN', 1), scanning(0, 'OUT', 2), givingUp(0), aCheckout(1), aCheckout(1)],
]

test('tickets after actions in any order match the model and lose nothing', async () => {
  const seen = new Set<string>()
  let run = 0
  await fc.assert(
    fc.asyncProperty(commands, async (commands) => {
      const setup = () => ({ model: { capacity, payments: [] }, real: { run, seen } })
      await fc.asyncModelRun(setup, commands)
      run++
      expect(await brokenInvariants(sale.db)).toEqual([])
    }),
    // One run for each unused rate; a failure is reported unshrunk.
    { numRuns: runs, examples: [[everyState]], endOnFailure: true },
  )
  // Control: payments were on time, late and repeated, and actions both allowed and refused.
  for (const met of [
    ...['checkout made', 'checkout refused', 'pay pending paid', 'pay late pending paid', 'pay paid paid'],
    ...['cancel checkout pending cancelled', 'expire pending expired'],
    ...['sale at the door made', 'invitation made', 'refund paid REFUND_TOO_HIGH'],
    ...[
      'scan IN paid OK',
      'scan IN paid more NO_ENTRIES_LEFT',
      'scan IN paid more OK',
      'scan OUT paid more OK',
    ],
    ...['redeem pending UNPAID', 'redeem paid OK', 'redeem paid USED_UP'],
    ...['cancel ticket paid SUPPLEMENT_REDEEMED', 'cancel ticket paid ALREADY_ENTERED'],
    ...['transfer pending ILLEGAL_TRANSITION', 'transfer paid given'],
  ])
    expect(seen).toContain(met)
  expect([...seen].filter((met) => /^refund \w+ (partially_)?refunded/.test(met)).length).toBeGreaterThan(0)
})

// Control of the invariants checked after each run: each holds, and is found broken when broken on purpose.
test.each(Object.entries(invariantBreakers))(
  'control: broken rows are found where %s',
  async (rule, statement) => {
    const undo = new Error('undo')
    const rows: number[] = []
    const broken = sale.db.transaction(async (tx) => {
      rows.push(await brokenRows(tx, rule))
      await tx.execute(sql.raw(statement))
      rows.push(await brokenRows(tx, rule))
      throw undo
    })
    await expect(broken).rejects.toBe(undo)
    expect(rows).toEqual([0, expect.toSatisfy((count: number) => count > 0)])
  },
)
