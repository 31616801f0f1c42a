import { sql } from 'drizzle-orm'
import { rowsLiteral } from '../../../../data/array-params.ts'
import { query } from '../../../../data/query.ts'
import type { Connection } from '../../../../database/database.ts'
import { problem, Refusal, refusal } from '../../../../shared/errors.ts'
import type { StockFlip } from '../../../ticket-rate/move-stock.ts'
import type { StockKind } from '../../../ticket-rate/table.ts'
import { type Checkout, type HoldJob, modeOf, organizationOf, setTimes, toCheckout } from './hold-rows.ts'

/** Attributes of the types `new_payment` and `new_ticket` (drizzle/0000_baseline.sql), in their order. */
export const paymentAttributes = [
  ...(['id', 'channelId', 'ticketRateId', 'provider', 'totalAmount', 'currency'] as const),
  ...(['conditionsChanged', 'pageToken', 'redirectUrl', 'errorUrl', 'sendResourcers', 'language'] as const),
  ...(['method', 'methodReference', 'holdMinutes', 'keyId', 'requestHash'] as const),
]
export const ticketAttributes = [
  ...(['id', 'paymentId', 'position', 'eventId', 'ticketRateId', 'priceId', 'saleType', 'qrCode'] as const),
  ...([
    'isCodeAsked',
    'currency',
    'priceAmount',
    'discountId',
    'discountAmount',
    'supplementsAmount',
  ] as const),
  ...(['organizationFeeAmount', 'platformFeeAmount', 'warrantyAmount', 'totalAmount'] as const),
  ...(['warrantyHours', 'fullName', 'searchName', 'email', 'phone', 'gender', 'birthday'] as const),
  ...(['address', 'postalCode', 'countryCode', 'personalDocumentType', 'personalDocumentNumber'] as const),
  ...(['answers', 'supplements', 'language', 'referralId', 'metadata', 'admits', 'documentToken'] as const),
]

type Held = { outcomes: string[]; used_up: string[]; at: number }

const parameter = sql.placeholder
const call = query<{ held: Held }>(
  'hold',
  () => sql`select hold(${parameter('organizationId')}::text, ${parameter('mode')}::text::key_mode,
    ${parameter('waits')}::boolean, ${parameter('mayUseUp')}::boolean, ${parameter('payments')}::new_payment[],
    ${parameter('tickets')}::new_ticket[]) as held`,
)

/** Outcome of a job: its checkout, a refusal, or null if the caller should plan it again, because the stock
 *  that the plan saw is gone, or another request has completed a checkout under the same idempotency key. */
export type HoldOutcome = Checkout | Refusal | null

const keyInUse = () =>
  refusal('IDEMPOTENCY_KEY_IN_USE', 'A checkout with this key is still in progress.', ['idempotencyKey'])

function codesTaken(positions: string[]): Refusal {
  const [first, ...more] = positions.map((position) =>
    problem('QR_CODE_TAKEN', 'The code is already used within the event.', ['tickets', +position, 'qrCode']),
  )
  if (!first) throw new Error('codes of no ticket are taken')
  return new Refusal(first, ...more)
}

/** Outcome of a job that is to be held again, with `waits` and `mayUseUp`. */
export type Later = 'later'

function toOutcome(outcome: string, checkout: Checkout): HoldOutcome | Later {
  const [kind, ...positions] = outcome.split(' ')
  if (kind === 'HELD') return checkout
  if (kind === 'LATER') return 'later'
  if (kind === 'KEY_IN_USE') return keyInUse()
  if (kind === 'CODES') return codesTaken(positions)
  return null
}

const toFlip = (name: string): StockFlip => {
  const [kind, id = ''] = name.split(' ')
  return { kind: kind as StockKind, id, usedUp: true }
}

/** Holds planned checkouts of one organization and mode by the database's function of this name (see there): each whole
 *  or not at all, first come, first served. With `waits` it waits for counters that others have locked; with
 *  `mayUseUp` it may take the last place, and the caller must record what is `usedUp` in the same transaction. Without
 *  both, all jobs of a rate may be `later`. Fails as a whole if somebody commits one of their codes at the same
 *  time. */
export async function hold(
  connection: Connection,
  jobs: HoldJob[],
  { waits, mayUseUp }: { waits: boolean; mayUseUp: boolean },
): Promise<{ outcomes: (HoldOutcome | Later)[]; usedUp: StockFlip[] }> {
  const drafts = jobs.map(toCheckout)
  const payments = drafts.map(({ payment }, index) => {
    const { plan, idempotency, holdMinutes } = jobs[index] as HoldJob
    const ticketRateId = plan.rate.id
    return {
      ...payment,
      ticketRateId,
      holdMinutes,
      keyId: idempotency?.id,
      requestHash: idempotency?.requestHash,
    }
  })
  const tickets = drafts.flatMap(({ tickets }, index) =>
    tickets.map((ticket) => ({
      ...ticket,
      isCodeAsked: !!jobs[index]?.plan.tickets[ticket.position]?.entry.qrCode,
    })),
  )
  const [row] = await call(connection, {
    organizationId: organizationOf(jobs),
    mode: modeOf(jobs),
    ...{ waits, mayUseUp },
    payments: rowsLiteral(paymentAttributes, payments),
    tickets: rowsLiteral(ticketAttributes, tickets),
  })
  if (!row) throw new Error('the function that holds returned nothing')
  const at = new Date(row.held.at)
  const outcomes = drafts.map((checkout, index) => {
    setTimes(checkout, (jobs[index] as HoldJob).holdMinutes, at)
    return toOutcome(row.held.outcomes[index] ?? '', checkout)
  })
  return { outcomes, usedUp: row.held.used_up.map(toFlip) }
}
