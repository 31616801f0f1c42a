import { and, eq, sql } from 'drizzle-orm'
import { query } from '../../../engine/data/query.ts'
import { type Database, ownedBy } from '../../../engine/database/database.ts'
import { nameInMode } from '../../caller/mode.ts'
import { lockPayment } from '../../payment/lock-payment.ts'
import type { OutsideRefund } from '../../payment/provider.ts'
import { type Charge, charges, type Payment } from '../../payment/table.ts'
import { type RefundAttempt, refunds } from '../../refund/table.ts'
import { findTicketsOfPayments } from '../../ticket/loaders.ts'
import type { Ticket } from '../../ticket/table.ts'
import { insertRefunds, takenFrom } from '../refund/open-refunds.ts'
import { refundTransaction } from '../refund/refund-limits.ts'
import { settleRefunds } from '../refund/settle-refund.ts'
import { recordProviderEvents } from './record-charges.ts'
import type { Settlement } from './settlement.ts'

// Of all organizations: nothing but the charge of such a refund is ours.
const findCharge = query<Pick<Charge, 'organizationId' | 'id' | 'paymentId' | 'amount' | 'currency'>>(
  'charge_by_reference',
  () => sql`
  select ${charges.organizationId} as "organizationId", ${charges.id}, ${charges.paymentId} as "paymentId",
    ${charges.amount}::float8 as amount, ${charges.currency}
  from ${charges} where ${charges.provider} = ${sql.placeholder('provider')}::text
    and ${charges.reference} = ${sql.placeholder('reference')}::text`,
)

const sumOf = (made: RefundAttempt[]): number => made.reduce((sum, { amount }) => sum + amount, 0)

// Lists what money of a charge that went back may be of, the likeliest first: what the provider has refused to refund
// before, cancelled tickets, the others in the order of the checkout. `left` was not refunded yet.
function sharesOf(
  payment: Payment,
  charge: Pick<Charge, 'id' | 'amount'>,
  tickets: Ticket[],
  made: RefundAttempt[],
) {
  const without = made.filter(({ chargeId, ticketId }) => chargeId === charge.id && ticketId === null)
  const isUnearned = payment.paidAt === null || without.some(({ amount }) => amount === charge.amount)
  const refused = made.filter(({ status }) => status === 'failed')
  const live = made.filter(({ status }) => status !== 'failed')
  const automatic = without.filter((one) => refused.includes(one)).slice(0, 1)
  const rank = ({ id, status }: Ticket) =>
    refused.some(({ ticketId }) => ticketId === id) ? 0 : status === 'cancelled' ? 1 : 2
  const owned = isUnearned
    ? []
    : tickets.toSorted((one, other) => rank(one) - rank(other) || one.position - other.position)
  return [
    ...automatic.map(({ ticketId, reason, amount }) => {
      return { ticketId, reason, left: amount - sumOf(without.filter((one) => live.includes(one))) }
    }),
    ...owned.map(({ id: ticketId, totalAmount }) => {
      const left = totalAmount - sumOf(live.filter((one) => one.ticketId === ticketId))
      return { ticketId, reason: 'AT_PROVIDER' as const, left }
    }),
  ]
}

// Divides an amount: all of it for what has exactly this left, else for one after the other.
function divide(amount: number, shares: ReturnType<typeof sharesOf>) {
  const exact = shares.filter(({ left }) => left === amount).slice(0, 1)
  let rest = amount
  return (exact.length > 0 ? exact : shares).flatMap(({ left, ...share }) => {
    const taken = Math.min(left, rest)
    rest -= Math.max(0, taken)
    return taken > 0 ? [{ ...share, amount: taken }] : []
  })
}

/** Records a refund that somebody made at the provider once it has succeeded, with all consequences of one of ours, but
 *  tells nobody by mail. Amounts in minor units. The part that our own refunds have given back, or are about to, is
 *  not recorded again. If it is reversed later, that is kept in `lastError` for the operator. Returns `ignored` if the
 *  charge is not ours, `repeated` for a duplicate (DECISIONS 240). */
export async function receiveOutsideRefund(
  db: Database,
  event: NonNullable<Settlement['event']>,
  { charge: chargeReference, reference, amount, outcome }: OutsideRefund,
): Promise<'ignored' | 'repeated' | 'done'> {
  const [charge] = await findCharge(db, { provider: event.provider, reference: chargeReference })
  if (!charge) return 'ignored'
  const { organizationId, paymentId } = charge
  // Test payments are the sandbox's.
  return refundTransaction(ownedBy(db, nameInMode({ mode: 'live' }, organizationId)), async (tx) => {
    const payment = await lockPayment(tx, { organizationId, id: paymentId })
    const recorded = await recordProviderEvents(tx, [{ ...event, organizationId, paymentId }])
    if (!recorded.has(event.id)) return 'repeated'
    const isOfPayment = and(eq(refunds.organizationId, organizationId), eq(refunds.paymentId, paymentId))
    const made = await tx.select().from(refunds).where(isOfPayment)
    const known = made.filter((one) => one.reference === reference)
    const tickets = await findTicketsOfPayments(tx, { organizationId, keys: [paymentId] })
    const shares = outcome.kind === 'succeeded' ? sharesOf(payment, charge, tickets, made) : []
    const parts = divide(amount - sumOf(known), shares)
    const opened = await insertRefunds(
      tx,
      parts.map((part) => ({ ...takenFrom(payment, charge), ...part })),
    )
    await settleRefunds(
      tx,
      [...known, ...opened].map((refund) => ({ refund, outcome })),
    )
    return 'done'
  })
}
