import { getTableColumns, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { type Refusal, refusalOf } from '../../../../engine/base/errors.ts'
import { rowsLiteral } from '../../../../engine/data/array-params.ts'
import { query } from '../../../../engine/data/query.ts'
import type { Connection } from '../../../../engine/database/database.ts'
import { problem, refusal } from '../../../contract/problem-codes.ts'
import { type Payment, payments } from '../../../payment/table.ts'
import type { StockFlip } from '../../../stock/move-stock.ts'
import { type Ticket, ticketColumns } from '../../../ticket/table.ts'
import { type Checkout, type HoldJob, organizationAndModeOf, setTimes, toCheckout } from './hold-rows.ts'

// The function writes a column as `toCheckout` gives it, but for those that it decides, or whose default stands until a
// later step.
type Column = keyof Payment | keyof Ticket
const both: Column[] = ['organizationId', 'mode', 'status', 'createdAt', 'refundedAmount', 'invoiceReference']
const ofSession: Column[] = ['sessionId', 'sessionUrl', 'sessionOpen', 'sessionAskedAt']
const ofEntries: Column[] = ['entered', 'firstEntryAt', 'lastEntryAt']
const ofRefunds: Column[] = ['cancelledAt', 'refundedAt', 'refunds', 'correctiveInvoiceReferences']
const given = (columns: Record<string, PgColumn>, others: Column[]) =>
  Object.fromEntries(Object.entries(columns).filter(([name]) => !others.some((other) => other === name)))

/** Attributes of the function's types `new_payment` and `new_ticket` in their order, with their types. A test compares
 *  them with the newest migration that makes the function, and prints what to write there. */
export const newPayment = {
  ...given(getTableColumns(payments), [...both, ...ofSession, 'expiresAt', 'paidAt']),
  ...{ ticketRateId: 'text', holdMinutes: 'integer', keyId: 'text', requestHash: 'text' },
}
export const newTicket = {
  ...given(ticketColumns, [...both, ...ofEntries, ...ofRefunds, 'channelId', 'activatedAt', 'updatedAt']),
  isCodeAsked: 'boolean',
}

// Outcome of a payment, as the function tells it: null if it is held.
type Told = { kind: 'LATER' | 'FULL' | 'KEY_IN_USE' | 'KEY_DONE' } | { kind: 'CODES'; positions: number[] }

const parameter = sql.placeholder
const call = query<{ held: { outcomes: (Told | null)[]; used_up: StockFlip[]; at: number } }>(
  'hold',
  () => sql`select hold(${parameter('organizationId')}::text, ${parameter('mode')}::key_mode,
    ${parameter('waits')}::boolean, ${parameter('mayUseUp')}::boolean, ${parameter('payments')}::new_payment[],
    ${parameter('tickets')}::new_ticket[]) as held`,
)

/** Outcome of a job. It is `later` only by a hold without `waits` or `mayUseUp`, to be held again with both. It is to be
 *  planned again if the stock that the plan saw is gone, or another request has completed a checkout under the same
 *  idempotency key. */
export type HoldOutcome =
  | { kind: 'held'; checkout: Checkout }
  | { kind: 'refused'; refusal: Refusal }
  | { kind: 'later' | 'plan again' }

const codeTaken = (position: number) =>
  problem('QR_CODE_TAKEN', 'The code is already used within the event.', ['tickets', position, 'qrCode'])

const keyInUse = () =>
  refusal('IDEMPOTENCY_KEY_IN_USE', 'A checkout with this key is still in progress.', ['idempotencyKey'])

function toOutcome(told: Told | null | undefined, checkout: Checkout): HoldOutcome {
  if (told === null) return { kind: 'held', checkout }
  if (told?.kind === 'CODES') return { kind: 'refused', refusal: refusalOf(told.positions.map(codeTaken)) }
  if (told?.kind === 'KEY_IN_USE') return { kind: 'refused', refusal: keyInUse() }
  return { kind: told?.kind === 'LATER' ? 'later' : 'plan again' }
}

/** Holds planned checkouts of one organization and mode by the database's function of this name (see there): each whole
 *  or not at all, first come, first served. With `waits` it waits for counters that others have locked; with
 *  `mayUseUp` it may take the last place, and the caller must record what is `usedUp` in the same transaction. Without
 *  both, it may hold no job of a rate. Fails as a whole if somebody commits one of their codes at the same time. */
export async function hold(
  connection: Connection,
  jobs: HoldJob[],
  { waits, mayUseUp }: { waits: boolean; mayUseUp: boolean },
): Promise<{ outcomes: HoldOutcome[]; usedUp: StockFlip[] }> {
  const drafts = jobs.map((job) => ({ job, checkout: toCheckout(job) }))
  const paymentRows = drafts.map(({ checkout }) => checkout.payment)
  const ticketRows = drafts.flatMap(({ checkout }) => checkout.tickets)
  const [row] = await call(connection, {
    ...organizationAndModeOf(jobs),
    ...{ waits, mayUseUp },
    payments: rowsLiteral(Object.keys(newPayment), paymentRows),
    tickets: rowsLiteral(Object.keys(newTicket), ticketRows),
  })
  if (!row) throw new Error('the function that holds returned nothing')
  const at = new Date(row.held.at)
  const outcomes = drafts.map(({ job, checkout }, index) => {
    setTimes(checkout, job.holdMinutes, at)
    return toOutcome(row.held.outcomes[index], checkout)
  })
  return { outcomes, usedUp: row.held.used_up }
}
