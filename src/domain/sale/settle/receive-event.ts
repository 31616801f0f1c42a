import { coalesceReads } from '../../../data/coalesce.ts'
import { anyOf, statement } from '../../../data/prepared.ts'
import type { Database } from '../../../database/database.ts'
import type { ProviderEvent } from '../../payment/provider.ts'
import { sandboxProvider } from '../../payment/sandbox.ts'
import { payments, providerEvents } from '../../payment/table.ts'
import { refundTransaction, settleRefund } from '../refund/settle-refund.ts'
import { settlePayment } from './settle-payment.ts'
import type { Settlement } from './settlement.ts'

/** Result of an event: `done` if it was applied, `repeated` if it is a duplicate, `unknown` if its payment or
 *  refund does not exist, `ignored` if it concerns neither. */
type EventResult = 'done' | 'repeated' | 'unknown' | 'ignored'

type Subject<Kind> = Extract<ProviderEvent['about'], { kind: Kind }>

// An event carries no more than a payment's id, but settlements are batched by rate.
const findPayment = coalesceReads<Settlement['payment']>(async (db, ids) => {
  const found = await statement(db, 'rates_of_payments', (db) =>
    db
      .select({ id: payments.id, ticketRateId: payments.ticketRateId, mode: payments.mode })
      .from(payments)
      .where(anyOf(payments.id, 'ids')),
  ).execute({ ids })
  return new Map(found.map((payment) => [payment.id, payment]))
})

const receiveRefund = (
  db: Database,
  provider: string,
  { id, type }: ProviderEvent,
  refund: Subject<'refund'>,
): Promise<EventResult> =>
  refundTransaction(db, async (tx) => {
    // Waits for another transaction that is inserting the same event.
    const written = await tx
      .insert(providerEvents)
      .values({ provider, id, type, paymentId: null })
      .onConflictDoNothing()
      .returning({ id: providerEvents.id })
    if (written.length === 0) return 'repeated'
    return (await settleRefund(tx, refund, refund.outcome)) ? 'done' : 'unknown'
  })

/** Records a provider's event and applies it, in one transaction: so it is applied once, however often it is
 *  delivered. An event that arrives out of order makes only changes that are still allowed (see
 *  settlePayment). */
export async function receiveEvent(
  db: Database,
  provider: string,
  event: ProviderEvent,
): Promise<EventResult> {
  const { id, type, about } = event
  if (!about) return 'ignored'
  if (about.kind === 'refund') return receiveRefund(db, provider, event, about)
  const payment = await findPayment(db, about.paymentId)
  // A test payment has no session at a real provider, which therefore can't know it.
  if (!payment || (payment.mode === 'test' && provider !== sandboxProvider.name)) return 'unknown'
  const { isRepeated } = await settlePayment(db, {
    payment,
    outcome: about.outcome,
    sessionId: about.id,
    event: { provider, id, type },
  })
  return isRepeated ? 'repeated' : 'done'
}
