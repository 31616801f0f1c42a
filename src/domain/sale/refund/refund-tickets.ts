import { and, getTableColumns, or } from 'drizzle-orm'
import { z } from 'zod'
import { Refusal } from '../../../engine/base/errors.ts'
import * as scalars from '../../../engine/base/input-types.ts'
import { requireAmount } from '../../../engine/base/money.ts'
import { deferred, joinWrites } from '../../../engine/data/join-writes.ts'
import { rowsOf } from '../../../engine/data/json-rows.ts'
import { anyOf, inOrganization, query } from '../../../engine/data/query.ts'
import type { Connection } from '../../../engine/database/database.ts'
import { atOnce } from '../../../engine/database/transaction.ts'
import { type Context, requireIntegration } from '../../caller/context.ts'
import { checkReplay, hashRequest, type Idempotency, retryOnDuplicate } from '../../caller/idempotency.ts'
import { nameInMode } from '../../caller/mode.ts'
import { refusal } from '../../contract/problem-codes.ts'
import { queueTicketNotices } from '../../delivery/queue-notices.ts'
import { lockPayments, type OnLocked } from '../../payment/lock-payment.ts'
import { type RefundAttempt, refunds } from '../../refund/table.ts'
import { findNamed, lockEachNamed, type NamedTickets, ticketsInput } from './named-tickets.ts'
import {
  attemptRefunds,
  insertRefunds,
  type NewRefund,
  type Opened,
  openLedger,
  settleByHand,
} from './open-refunds.ts'
import { refundQueue, refundTransaction } from './refund-limits.ts'

const notify = z
  .boolean()
  .nullish()
  .transform((notify) => notify ?? true)
  .describe('False if nobody is to be told by mail. Defaults to true.')

/** Refund of tickets: an amount of one, or everything left to refund. */
export const refundInput = z
  .strictObject({
    of: ticketsInput,
    amount: scalars.money
      .nullish()
      .describe('Amount to refund of one ticket; everything left to refund if omitted.'),
    notify,
    idempotencyKey: scalars.idempotencyKey.describe(
      'Key of the request, chosen by the client: the same key and input return the same refunds, and the same key with another input is refused.',
    ),
  })
  .refine(({ of, amount }) => amount == null || of.paymentId === undefined, {
    message: 'must be omitted for a payment, whose tickets are refunded in full',
    path: ['amount'],
  })
  .describe('Refund of all or part of the amount paid for a ticket, or of all that is left of a payment.')
type RefundInput = z.output<typeof refundInput>

/** Return of a ticket under its warranty. */
export const returnInput = z
  .strictObject({ ticketId: scalars.id.describe('Ticket identifier.'), notify })
  .describe('Ticket to return.')

/** Cancellation of tickets. */
export const cancellationInput = z.strictObject({ of: ticketsInput, notify }).describe('Tickets to cancel.')

function toMinorAmount({ amount }: RefundInput, currency: string): number | undefined {
  if (amount == null) return undefined
  const minor = requireAmount(amount, currency, ['amount'])
  if (minor === 0) throw refusal('INVALID', 'amount must be more than 0.', ['amount', 'amount'])
  return minor
}

type RefundRequest = {
  owner: string
  named: NamedTickets
  amount: number | undefined
  key: Idempotency
  notify: boolean
}

// Finds what requests have made before. The first refund of a request has its key, which is unique, and all have its
// hash, which names the key as well.
const findMade = query('refunds_of_keys', {
  rows: rowsOf(getTableColumns(refunds)),
  query(select, keys) {
    const hasHash = and(anyOf(refunds.paymentId, 'paymentIds'), anyOf(refunds.requestHash, 'hashes'))
    const isOfRequest = or(anyOf(refunds.idempotencyKey, keys), hasHash)
    return select.from(refunds).where(and(inOrganization(refunds.organizationId), isOfRequest))
  },
})

// Lists the refunds of a request among these, in the order of the checkout.
const refundsOf = ({ key, named }: RefundRequest, made: RefundAttempt[]) => {
  const own = made.filter(({ requestHash }) => requestHash === key.requestHash)
  return named.ids.flatMap((id) => own.filter(({ ticketId }) => ticketId === id))
}

// Opens refunds of requests of one organization, or finds those that they have made before. A refused one writes nothing,
// and stops no other. Defers those whose payment is locked elsewhere if these are skipped.
async function openTogether(tx: Connection, asked: RefundRequest[], onLocked: OnLocked) {
  const named = asked.map(({ named }) => named)
  const organizationId = named[0]?.organizationId ?? ''
  const ids = [...new Set(named.map(({ paymentId }) => paymentId))]
  const payments = await lockPayments(tx, organizationId, ids, onLocked)
  const paymentIds = [...payments.keys()]
  const keys = asked.map(({ key }) => key.id)
  const hashes = asked.map(({ key }) => key.requestHash)
  const [locked, made, enter] = await atOnce(
    lockEachNamed(tx, payments, named),
    findMade(tx, { organizationId, keys, hashes, paymentIds }),
    openLedger(tx, organizationId, paymentIds),
  )
  const rows: NewRefund[] = []
  const told: NewRefund[] = []
  const tried = asked.map((one, index) => {
    const tickets = locked[index]
    if (!tickets) return deferred
    try {
      const first = [...made, ...rows].find(({ idempotencyKey }) => idempotencyKey === one.key.id)
      if (checkReplay(first, one.key.requestHash, 'This key was already used for another refund.'))
        return 'made'
      const entered = enter({ ...tickets, ...one, reason: 'REQUESTED' })
      rows.push(...entered)
      if (one.notify) told.push(...entered)
      return 'new'
    } catch (error) {
      if (error instanceof Refusal) return error
      throw error
    }
  })
  const [opened] = await atOnce(insertRefunds(tx, rows), queueTicketNotices(tx, 'refund', told))
  const all = [...made, ...(await settleByHand(tx, payments, opened))]
  return asked.map((one, index) => {
    const outcome = tried[index]
    if (outcome === 'made' || outcome === 'new')
      return { refunds: refundsOf(one, all), isNew: outcome === 'new' }
    return outcome ?? deferred
  })
}

const openRefunds = joinWrites<RefundRequest, Opened | Refusal>(
  'refund-requests',
  (db, asked, onLocked) =>
    retryOnDuplicate(() => refundTransaction(db, (tx) => openTogether(tx, asked, onLocked))),
  { ...refundQueue, ownerOf: ({ owner }) => owner },
)

/** Refunds all or part of the amount paid for a ticket of the integration's organization, or all that is left of
 *  those of a payment, all or none; can be repeated until nothing is left. Does not cancel the tickets. The same
 *  idempotency key and request return the same refunds. A refund is pending unless the provider decides at once. Tells
 *  attendees and payer, unless `notify` is false (DECISIONS 161). Refuses: NOT_FOUND, INVALID,
 *  ILLEGAL_TRANSITION if a ticket is unpaid, REFUND_TOO_HIGH, IDEMPOTENCY_KEY_REUSED. */
export async function refundTickets(input: RefundInput, ctx: Context) {
  const caller = nameInMode(ctx, requireIntegration(ctx).integrationId)
  const { of, notify, idempotencyKey } = input
  const named = await findNamed(of, ctx)
  const amount = toMinorAmount(input, named.currency)
  const key = hashRequest(caller, idempotencyKey, [caller, idempotencyKey, of, amount ?? null])
  const owner = nameInMode(ctx, named.organizationId)
  const opened = await openRefunds(ctx.db, owner, { owner, named, amount, key, notify })
  if (opened instanceof Refusal) throw opened
  return { refunds: await attemptRefunds(opened, ctx), replayed: !opened.isNew }
}
