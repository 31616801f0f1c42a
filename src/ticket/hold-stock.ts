import { and, eq, sql } from 'drizzle-orm'
import type { Context } from '../context.ts'
import type { Connection } from '../database.ts'
import { type Problem, Refusal, refuseIf } from '../errors.ts'
import { newId, newQrCode, newSecret } from '../ids.ts'
import { idempotencyKeys, isFresh, type Payment, payments } from '../payment/table.ts'
import { moveStock, stockMoves } from '../ticket-rate/move-stock.ts'
import type { CheckoutInput } from './checkout-input.ts'
import type { CheckoutPlan } from './plan-checkout.ts'
import { type Ticket, tickets } from './table.ts'

export type Checkout = { payment: Payment; tickets: Ticket[] }
/** The `Idempotency-Key` that a checkout is kept under, and what it asked for. */
export type Idempotency = { id: string; requestHash: string }

const afterMinutes = (minutes: number) => sql<Date>`now() + make_interval(mins => ${minutes})`

function insertPayment(
  tx: Connection,
  plan: CheckoutPlan,
  input: CheckoutInput,
  channelId: string,
  ctx: Context,
) {
  const isFree = plan.totalAmount === 0
  return tx
    .insert(payments)
    .values({
      id: newId('pay'),
      channelId,
      organizationId: plan.organization.id,
      ticketRateId: plan.rate.id,
      status: isFree ? 'paid' : 'pending',
      provider: ctx.provider.name,
      totalAmount: plan.totalAmount,
      currency: plan.currency,
      conditionsChanged: plan.conditionsChanged,
      pageToken: newSecret(),
      redirectUrl: input.redirectUrl,
      errorUrl: input.errorUrl,
      sendResourcers: input.sendResourcers ?? false,
      expiresAt: afterMinutes(ctx.holdMinutes),
      paidAt: isFree ? sql`now()` : null,
    })
    .returning()
    .prepare('insert_payment')
    .execute()
}

function rowsOf(plan: CheckoutPlan, { metadata }: CheckoutInput, payment: Payment) {
  const isPaid = payment.status === 'paid'
  return plan.tickets.map(({ entry, price, ...amounts }, position) => ({
    ...amounts,
    id: newId('tkt'),
    paymentId: payment.id,
    position,
    organizationId: payment.organizationId,
    channelId: payment.channelId,
    eventId: plan.rate.eventId,
    ticketRateId: plan.rate.id,
    priceId: price.id,
    status: isPaid ? ('active' as const) : ('held' as const),
    qrCode: entry.qrCode ?? newQrCode(),
    currency: plan.currency,
    fullName: entry.fullName,
    email: entry.email,
    phone: entry.phone,
    gender: entry.gender,
    birthday: entry.birthday,
    address: entry.address,
    postalCode: entry.postalCode,
    countryCode: entry.countryCode,
    personalDocumentType: entry.personalDocumentType,
    personalDocumentNumber: entry.personalDocumentNumber,
    answers: entry.answers ?? [],
    metadata,
    activatedAt: isPaid ? sql`now()` : null,
  }))
}

async function insertTickets(tx: Connection, plan: CheckoutPlan, input: CheckoutInput, payment: Payment) {
  const rows = rowsOf(plan, input, payment)
  const inserted = await tx
    .insert(tickets)
    // Two checkouts with the same codes meet in the same order, so that neither waits for the other.
    .values(rows.toSorted((one, other) => (one.qrCode < other.qrCode ? -1 : 1)))
    .onConflictDoNothing({
      target: [tickets.eventId, tickets.qrCode],
      where: sql`${tickets.status} <> 'expired'`,
    })
    .returning()
    .prepare(`insert_${rows.length}_tickets`)
    .execute()
  const codes = new Set(inserted.map((ticket) => ticket.qrCode))
  refuseIf(
    rows.flatMap(({ qrCode }, index): Problem[] =>
      codes.has(qrCode)
        ? []
        : [
            {
              code: 'QR_CODE_TAKEN',
              message: 'The code is already used within the event.',
              path: ['tickets', index, 'qrCode'],
            },
          ],
    ),
  )
  return inserted.toSorted((one, other) => one.position - other.position)
}

/** Takes the key for this transaction. Refuses: IDEMPOTENCY_KEY_IN_USE while another one has it. */
async function takeKey(tx: Connection, { id }: Idempotency): Promise<Payment['id'] | null> {
  const [taken] = await tx
    .select({ taken: sql<boolean>`pg_try_advisory_xact_lock(hashtextextended(${id}, 0))` })
    .from(sql`(values (1)) as one`)
  if (!taken?.taken)
    throw new Refusal({
      code: 'IDEMPOTENCY_KEY_IN_USE',
      message: 'A checkout with this key is still in progress.',
      path: ['idempotencyKey'],
    })
  const [kept] = await tx
    .select()
    .from(idempotencyKeys)
    .where(and(eq(idempotencyKeys.id, id), isFresh))
  return kept?.paymentId ?? null
}

// A key that is kept here already is older than 24 hours: the fresh ones were looked for under the lock.
const keepKey = (tx: Connection, { id, requestHash }: Idempotency, paymentId: string) => {
  const kept = { requestHash, paymentId, createdAt: sql`now()` }
  return tx
    .insert(idempotencyKeys)
    .values({ id, ...kept })
    .onConflictDoUpdate({ target: idempotencyKeys.id, set: kept })
}

class DidNotFit extends Error {}

/** Writes a planned checkout: its payment, its tickets, its key, and last the counters, in one transaction. All or
 *  nothing. Null where the stock that the plan saw is gone meanwhile, or where the key's checkout was made meanwhile:
 *  the caller looks again. Refuses: QR_CODE_TAKEN, IDEMPOTENCY_KEY_IN_USE (DECISIONS 4). */
export async function holdStock(
  plan: CheckoutPlan,
  input: CheckoutInput,
  idempotency: Idempotency | null,
  channelId: string,
  ctx: Context,
): Promise<Checkout | null> {
  try {
    return await ctx.db.transaction(async (tx) => {
      if (idempotency && (await takeKey(tx, idempotency))) throw new DidNotFit()
      const [payment] = await insertPayment(tx, plan, input, channelId, ctx)
      if (!payment) throw new Error('an insert returns its row')
      const inserted = await insertTickets(tx, plan, input, payment)
      if (idempotency) await keepKey(tx, idempotency, payment.id)
      const moves = stockMoves(inserted, payment.status === 'paid' ? { sold: 1 } : { held: 1 })
      if ((await moveStock(tx, moves)) < moves.length) throw new DidNotFit()
      return { payment, tickets: inserted }
    })
  } catch (error) {
    if (error instanceof DidNotFit) return null
    throw error
  }
}
