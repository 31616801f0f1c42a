import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import { byId, groupBy } from '../../../engine/base/group-by.ts'
import { arrayRows } from '../../../engine/data/array-params.ts'
import { deferred, joinWrites } from '../../../engine/data/join-writes.ts'
import { rowsOf } from '../../../engine/data/json-rows.ts'
import { inOrganization, ownById, query } from '../../../engine/data/query.ts'
import { nowMs } from '../../../engine/database/clock.ts'
import type { Connection, Database } from '../../../engine/database/database.ts'
import { announceOnCommit, atOnce, boundedTransactions } from '../../../engine/database/transaction.ts'
import { nameInMode } from '../../caller/idempotency.ts'
import { recordChanges } from '../../change/record-changes.ts'
import { issueInvoices } from '../../invoice/issue-invoice.ts'
import { paymentChange } from '../../payment/body.ts'
import { ratesOfPayments } from '../../payment/loaders.ts'
import { lockPayments, type OnLocked } from '../../payment/lock-payment.ts'
import type { RefundOutcome } from '../../payment/provider.ts'
import { type Payment, payments } from '../../payment/table.ts'
import { paymentMayBecome } from '../../payment/transitions.ts'
import { type RefundAttempt, refunds } from '../../refund/table.ts'
import { lockTickets } from '../../ticket/require-ticket.ts'
import { tickets } from '../../ticket/table.ts'

/** Limits of a queue of refunds: a run of an organization's, and at most one of another's beside it. */
export const refundLimits = {
  ...{ maxAlone: 2, maxOfKey: 1, maxWaiting: 500 },
  words: 'Too many refunds at once. Try again.',
}

/** Runs transactions that write refunds, two at a time of an owner. Never call a provider inside of one. */
export const refundTransaction = boundedTransactions({ maxAtOnce: 4, maxOfOwner: 2, maxWaiting: 500 })

/** Condition that matches a refund by its primary key. */
export const isRefund = ({ id, organizationId }: Pick<RefundAttempt, 'id' | 'organizationId'>) =>
  and(eq(refunds.organizationId, organizationId), eq(refunds.id, id))

/** A refund, and what its provider has decided. */
export type DecidedRefund = { refund: RefundAttempt; outcome: RefundOutcome }

const findRefunds = query('refunds_to_settle', {
  rows: rowsOf({ ...getTableColumns(refunds), now: sql<string>`${nowMs}` }),
  query: ownById(refunds),
})

const { id, status, reference, lastError, succeededAt } = refunds
const decided = arrayRows('decided', { id, status, reference, lastError, succeededAt })

const decide = query(
  'decide_refunds',
  () => sql`
  update ${refunds} set status = decided.status, reference = coalesce(decided.reference, ${reference}), last_error = decided."lastError",
    succeeded_at = decided."succeededAt"
  from ${decided.typed} where ${inOrganization(refunds.organizationId)} and ${id} = decided.id`,
)

// A refund after an outcome; null if that changes nothing, because it is decided already.
function afterOutcome<Row extends RefundAttempt & { now: string }>(row: Row, outcome: RefundOutcome) {
  const isPending = row.status === 'pending'
  if (outcome.kind === 'failed')
    return { ...row, status: isPending ? 'failed' : row.status, lastError: outcome.code }
  if (!isPending) return null
  const { kind: status, reference } = outcome
  const succeededAt = status === 'succeeded' ? new Date(row.now) : null
  return { ...row, status, reference, succeededAt, lastError: null }
}

// The payment after a refund; null if that is of a charge which was never part of the amount paid: a second or
// mismatching one, which may even be in another currency, or a late one if another charge has paid.
function afterRefund(payment: Payment, { ticketId, reason, amount }: RefundAttempt): Payment | null {
  const sum = payment.refundedAmount + amount
  if (ticketId) {
    const status = sum === payment.totalAmount ? 'refunded' : 'partially_refunded'
    if (paymentMayBecome(payment.status, status)) return { ...payment, status, refundedAmount: sum }
    throw new Error(`payment ${payment.id} of a refunded ticket is not paid`)
  }
  const isUnearned = reason === 'PAID_TWICE' || reason === 'AMOUNT_MISMATCH' || payment.paidAt
  if (isUnearned || !paymentMayBecome(payment.status, 'refunded')) return null
  return { ...payment, status: 'refunded', refundedAmount: Math.min(sum, payment.totalAmount) }
}

const { refundedAmount } = payments
const lowered = arrayRows('lowered', { id: payments.id, status: payments.status, refundedAmount })

const lowerPayments = query(
  'lower_payments',
  () => sql`
  update ${payments} set status = lowered.status, refunded_amount = lowered."refundedAmount" from ${lowered.typed}
  where ${inOrganization(payments.organizationId)} and ${payments.id} = lowered.id`,
)

const returned = arrayRows('returned', {
  id: 'text',
  amount: 'bigint',
  refundedAt: 'timestamptz(3)',
  refunds: 'jsonb',
  references: 'text[]',
})

const countRefunds = query(
  'count_refunds',
  () => sql`
  update ${tickets} set refunded_amount = ${tickets.refundedAmount} + returned.amount, refunded_at = returned."refundedAt",
    refunds = ${tickets.refunds} || returned.refunds, updated_at = ${nowMs},
    corrective_invoice_references = ${tickets.correctiveInvoiceReferences} || returned."references"
  from ${returned.typed} where ${inOrganization(tickets.organizationId)} and ${tickets.id} = returned.id`,
)

// Records the consequences of refunds that have succeeded: the new states of the payments and the tickets, the
// corrective invoices, and a change for each. Requires this transaction to hold the row locks of the payments.
async function recordRefunded(
  tx: Connection,
  locked: Map<string, Payment>,
  rates: { id: string; ticketRateId: string }[],
  succeeded: RefundAttempt[],
): Promise<void> {
  const [first] = succeeded
  if (!first) return
  const { organizationId, mode } = first
  const current = new Map(locked)
  const states = succeeded.flatMap((refund) => {
    const payment = current.get(refund.paymentId)
    const after = payment && afterRefund(payment, refund)
    if (!after) return []
    current.set(after.id, after)
    return [after]
  })
  const paymentIds = [...new Set(states.map(({ id }) => id))]
  const lower = paymentIds.map((id) => ({ ...current.get(id) }))
  const ofTickets = [...groupBy(succeeded, ({ ticketId }) => ticketId ?? '')].filter(([id]) => id !== '')
  const ratesOf = groupBy(rates, ({ id }) => id)
  const changes = states.map((state) => paymentChange('payment.refunded', state, ratesOf.get(state.id) ?? []))
  await atOnce(lowerPayments(tx, { organizationId, ...lowered.values(lower) }), recordChanges(tx, changes))
  announceOnCommit(tx, 'payments', paymentIds)
  const invoiced = ofTickets.flatMap(([, own]) =>
    own.map(({ id: refundId, paymentId, amount, currency }) => ({ refundId, paymentId, amount, currency })),
  )
  const references = await issueInvoices(tx, { organizationId, mode }, 'corrective', invoiced)
  const returns = ofTickets.map(([id, own]) => ({
    id,
    amount: own.reduce((sum, { amount }) => sum + amount, 0),
    refundedAt: first.succeededAt,
    refunds: own.map(({ channelId, amount, succeededAt: at }) => ({ channelId, amount, at })),
    references: own.map(({ id }) => references.get(id)),
  }))
  await countRefunds(tx, { organizationId, ...returned.values(returns) })
}

/** Applies providers' outcomes to refunds of one organization and mode, with all their consequences, in the caller's
 *  transaction. A refund is decided once: repeated outcomes change nothing, and a failure after a success undoes
 *  nothing, but is kept in `lastError` for the operator. Takes as many statements for one refund as for many. Returns
 *  the refunds' current rows by their ids, without those whose payment is locked elsewhere if these are skipped. */
export async function settleRefunds(tx: Connection, given: DecidedRefund[], onLocked: OnLocked = 'wait') {
  const [first] = given
  if (!first) return new Map<string, RefundAttempt>()
  const { organizationId } = first.refund
  const paymentIds = [...new Set(given.map(({ refund }) => refund.paymentId))]
  const locked = await lockPayments(tx, organizationId, paymentIds, onLocked)
  const taken = given.filter(({ refund }) => locked.has(refund.paymentId))
  const ticketIds = [...new Set(taken.flatMap(({ refund }) => refund.ticketId ?? []))]
  const [, found, rates] = await atOnce(
    lockTickets(tx, { organizationId, keys: ticketIds }),
    findRefunds(tx, { organizationId, keys: taken.map(({ refund }) => refund.id) }),
    ratesOfPayments(tx, { organizationId, keys: [...locked.keys()] }),
  )
  const before = byId(found)
  const after = new Map<string, (typeof found)[number]>()
  const currentOf = (id: string) => after.get(id) ?? before.get(id)
  for (const { refund, outcome } of taken) {
    const row = currentOf(refund.id)
    const next = row && afterOutcome(row, outcome)
    if (next) after.set(refund.id, next)
  }
  const written = [...after.values()]
  const succeeded = written.filter(({ id, succeededAt }) => succeededAt && !before.get(id)?.succeededAt)
  if (written.length > 0)
    await atOnce(
      decide(tx, { organizationId, ...decided.values(written) }),
      recordRefunded(tx, locked, rates, succeeded),
    )
  return new Map(taken.map(({ refund }) => [refund.id, currentOf(refund.id) ?? refund]))
}

const settleTogether = joinWrites<DecidedRefund, RefundAttempt>(
  'refunds',
  async (db, given, onLocked) => {
    const settled = await refundTransaction(db, (tx) => settleRefunds(tx, given, onLocked))
    return given.map(({ refund }) => settled.get(refund.id) ?? deferred)
  },
  { ...refundLimits, ownerOf: ({ refund }) => nameInMode(refund, refund.organizationId) },
)

/** Settles a refund by itself. Those of an organization that arrive while others are written are written together.
 *  Refuses: BUSY if too many wait. */
export const settleRefund = (db: Database, decided: DecidedRefund): Promise<RefundAttempt> =>
  settleTogether(db, nameInMode(decided.refund, decided.refund.organizationId), decided)
