import { coalesceReads } from '../../../data/coalesce.ts'
import { anyOf, statement } from '../../../data/prepared.ts'
import type { Database } from '../../../database/database.ts'
import type { ProviderEvent } from '../../payment/provider.ts'
import { payments, providerEvents } from '../../payment/table.ts'
import { refundTransaction } from '../refund/refund-transaction.ts'
import { settleRefund } from '../refund/settle-refund.ts'
import { settlePayment } from './settle-payment.ts'
import type { Settlement } from './settlement.ts'

/** What was done with an event: it had its effect, it had had it before, it is of nothing that we know, or tells
 *  nothing that we need. */
export type Received = 'done' | 'repeated' | 'unknown' | 'ignored'

type Named<Kind> = Extract<ProviderEvent['about'], { kind: Kind }>

// An event names its payment alone; payments are settled with others of their rate.
const paymentById = coalesceReads<Settlement['payment']>(async (db, ids) => {
  const found = await statement(db, 'rates_of_payments', (db) =>
    db
      .select({ id: payments.id, ticketRateId: payments.ticketRateId })
      .from(payments)
      .where(anyOf(payments.id, 'ids')),
  ).execute({ ids })
  return new Map(found.map((payment) => [payment.id, payment]))
})

const receiveRefund = (
  db: Database,
  provider: string,
  { id, type }: ProviderEvent,
  refund: Named<'refund'>,
): Promise<Received> =>
  refundTransaction(db, async (tx) => {
    // Another transaction that has just written the same is waited for.
    const written = await tx
      .insert(providerEvents)
      .values({ provider, id, type, paymentId: null })
      .onConflictDoNothing()
      .returning({ id: providerEvents.id })
    if (written.length === 0) return 'repeated'
    return (await settleRefund(tx, refund, refund.outcome)) ? 'done' : 'unknown'
  })

/** Takes note of what a provider tells by itself, in one transaction with its effect: so it has that once, however
 *  often it is told. What comes in another order than it happened changes only what it still may (see settlePayment). */
export async function receiveEvent(db: Database, provider: string, event: ProviderEvent): Promise<Received> {
  const { id, type, about } = event
  if (!about) return 'ignored'
  if (about.kind === 'refund') return receiveRefund(db, provider, event, about)
  const payment = await paymentById(db, about.paymentId)
  if (!payment) return 'unknown'
  const { isRepeated } = await settlePayment(db, {
    payment,
    outcome: about.outcome,
    sessionId: about.id,
    event: { provider, id, type },
  })
  return isRepeated ? 'repeated' : 'done'
}
