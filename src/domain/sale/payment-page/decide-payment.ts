import type { Services } from '../../../request/context.ts'
import { paymentUrl } from '../../payment/payment-url.ts'
import type { Order, Outcome } from '../../payment/provider.ts'
import type { Payment } from '../../payment/table.ts'
import { answerOf, openSessionOf, refreshSession } from '../session/ask-provider.ts'
import { saveSession } from '../session/keep-session.ts'
import { settlePayment } from '../settle/settle-payment.ts'
import type { FoundPayment } from './find-payment.ts'

/** What the buyer wants: to pay, to cancel, or only to see how the payment stands. */
export type BuyerAction = 'pay' | 'cancel' | 'look'

type Deciding = Pick<Services, 'db' | 'provider' | 'publicUrl'>

/** How a payment stands now, and where its buyer goes on to pay. `isOpen` where the provider says that its session
 *  waits for the buyer; `failure` is what kept it from saying anything, for the log. */
export type Decision = { status: Payment['status']; sendTo?: string; isOpen?: boolean; failure?: unknown }

// A provider shows it in a line or two.
const maxNameCharacters = 250

const orderOf = ({ payment, event, rateName }: FoundPayment, publicUrl: string): Order => {
  const { id, totalAmount, currency, expiresAt } = payment
  const name = `${event.name} · ${rateName}`.slice(0, maxNameCharacters)
  return { id, totalAmount, currency, expiresAt, name, pageUrl: paymentUrl(payment, publicUrl) }
}

async function pay({ db, provider, publicUrl }: Deciding, found: FoundPayment): Promise<Decision> {
  const { id, status, sessionUrl } = found.payment
  if (sessionUrl && openSessionOf(found.payment, provider)) return { status, sendTo: sessionUrl }
  // Outside any transaction: the provider may take its time, and holds no row meanwhile.
  const outcome = await provider.charge(orderOf(found, publicUrl()))
  if (outcome.kind !== 'session') return settlePayment(db, { payment: found.payment, outcome })
  const kept = await saveSession(db, id, provider.name, outcome)
  const decision = { status: kept.status, sendTo: kept.sessionUrl ?? outcome.url }
  if (kept.sessionId === outcome.id) return decision
  // Nobody is sent to this one.
  const answer = await answerOf(provider.close(outcome.id))
  return { ...decision, ...('failure' in answer && answer) }
}

async function end(
  { db, provider }: Deciding,
  payment: Payment,
  status: 'expired' | 'cancelled',
): Promise<Decision> {
  const outcome: Outcome = { kind: 'ended', status }
  const sessionId = openSessionOf(payment, provider)
  if (!sessionId) return settlePayment(db, { payment, outcome })
  const answer = await answerOf(provider.close(sessionId))
  // It is over here in any case: the session is ended later, and money that came of it is late.
  if ('failure' in answer)
    return { ...(await settlePayment(db, { payment, outcome })), failure: answer.failure }
  const agreed = answer.outcome.kind === 'ended' ? outcome : answer.outcome
  return settlePayment(db, { payment, outcome: agreed, sessionId })
}

/** Does what the buyer wants with a payment that is still open: takes the money and activates the tickets, or sends the
 *  buyer to where the provider takes it, or gives the places back. One whose time is over expires, whatever is wanted
 *  and whether or not the sweeper has been, unless the provider says that it was paid; one that is over already stays
 *  as it is. The provider may be asked twice for one payment, by a buyer who is quick: it goes by the payment's id. */
export async function decidePayment(
  services: Deciding,
  found: FoundPayment,
  action: BuyerAction,
): Promise<Decision> {
  const { payment, secondsLeft } = found
  // What is over may still have an open session, and money that is on its way.
  if (payment.status !== 'pending') return refreshSession(services, payment)
  // Settled by the database's clock, it expires.
  if (secondsLeft <= 0) return end(services, payment, 'expired')
  if (action === 'cancel') return end(services, payment, 'cancelled')
  return action === 'pay' ? pay(services, found) : refreshSession(services, payment)
}
