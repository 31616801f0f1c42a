import { sql } from 'drizzle-orm'
import { type Refusal, refusalOf } from '../../../../engine/base/errors.ts'
import { rowsLiteral } from '../../../../engine/data/array-params.ts'
import { deferred } from '../../../../engine/data/join-writes.ts'
import { query } from '../../../../engine/data/query.ts'
import type { Connection } from '../../../../engine/database/database.ts'
import { problem, refusal } from '../../../contract/problem-codes.ts'
import type { StockFlip } from '../../../stock/move-stock.ts'
import { type Checkout, type HoldJob, organizationAndModeOf, setTimes, toCheckout } from './hold-rows.ts'

/** Attributes of the types `new_payment` and `new_ticket` (drizzle/0000_baseline.sql), in their order. */
export const paymentAttributes = [
  ...(['id', 'channelId', 'ticketRateId', 'provider', 'totalAmount', 'currency'] as const),
  ...(['conditionsChanged', 'pageToken', 'redirectUrl', 'errorUrl', 'sendResourcers', 'language'] as const),
  ...(['method', 'methodReference', 'holdMinutes', 'keyId', 'requestHash'] as const),
]
export const ticketAttributes = [
  ...(['id', 'paymentId', 'position', 'eventId', 'ticketRateId', 'priceId', 'saleType', 'qrCode'] as const),
  ...(['isCodeAsked', 'currency', 'priceAmount', 'discountId', 'discountAmount'] as const),
  ...(['supplementsAmount', 'organizationFeeAmount', 'platformFeeAmount', 'warrantyAmount'] as const),
  ...(['totalAmount', 'warrantyHours'] as const),
  ...(['fullName', 'searchName', 'email', 'phone', 'gender', 'birthday'] as const),
  ...(['address', 'postalCode', 'countryCode', 'personalDocumentType', 'personalDocumentNumber'] as const),
  ...(['answers', 'supplements', 'language', 'referralId', 'metadata', 'admits', 'documentToken'] as const),
]

const parameter = sql.placeholder
const call = query<{ held: { outcomes: string[]; used_up: StockFlip[]; at: number } }>(
  'hold',
  () => sql`select hold(${parameter('organizationId')}::text, ${parameter('mode')}::key_mode,
    ${parameter('waits')}::boolean, ${parameter('mayUseUp')}::boolean, ${parameter('payments')}::new_payment[],
    ${parameter('tickets')}::new_ticket[]) as held`,
)

/** Outcome of a job: its checkout, a refusal, or what to do with it. It is deferred only by a hold without `waits` or
 *  `mayUseUp`, to be held again with both. It is to be planned again if the stock that the plan saw is gone, or another
 *  request has completed a checkout under the same idempotency key. */
export type HoldOutcome = Checkout | Refusal | typeof deferred | 'plan again'

const codeTaken = (position: string) =>
  problem('QR_CODE_TAKEN', 'The code is already used within the event.', ['tickets', +position, 'qrCode'])

function toOutcome(outcome: string, checkout: Checkout): HoldOutcome {
  const [kind, ...positions] = outcome.split(' ')
  if (kind === 'HELD') return checkout
  if (kind === 'CODES') return refusalOf(positions.map(codeTaken))
  if (kind === 'KEY_IN_USE')
    return refusal('IDEMPOTENCY_KEY_IN_USE', 'A checkout with this key is still in progress.', [
      'idempotencyKey',
    ])
  return kind === 'LATER' ? deferred : 'plan again'
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
  const [row] = await call(connection, {
    ...organizationAndModeOf(jobs),
    waits,
    mayUseUp,
    payments: rowsLiteral(
      paymentAttributes,
      drafts.map(({ checkout }) => checkout.payment),
    ),
    tickets: rowsLiteral(
      ticketAttributes,
      drafts.flatMap(({ checkout }) => checkout.tickets),
    ),
  })
  if (!row) throw new Error('the function that holds returned nothing')
  const at = new Date(row.held.at)
  const outcomes = drafts.map(({ job, checkout }, index) => {
    setTimes(checkout, job.holdMinutes, at)
    return toOutcome(row.held.outcomes[index] ?? '', checkout)
  })
  return { outcomes, usedUp: row.held.used_up }
}
