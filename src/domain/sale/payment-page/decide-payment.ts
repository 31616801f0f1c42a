import { ownedBy, perDatabase } from '../../../engine/database/database.ts'
import { aloneOnRow } from '../../../engine/database/transaction.ts'
import type { Services } from '../../caller/context.ts'
import { nameInMode } from '../../caller/idempotency.ts'
import { askProvider } from '../../payment/open-provider.ts'
import { paymentUrl } from '../../payment/payment-url.ts'
import type { PaymentOrder, PaymentOutcome } from '../../payment/provider.ts'
import { declinedEmail } from '../../payment/sandbox.ts'
import type { Payment, PaymentOfRate } from '../../payment/table.ts'
import { openSessionOf, refreshSession, saveSession } from '../settle/provider-session.ts'
import { settlePayment } from '../settle/settle-payment.ts'
import type { FoundPayment } from './find-payment.ts'

/** Action of a buyer: pay, cancel, or only view the payment; in the sandbox, try to pay and be declined. */
export type BuyerAction = 'pay' | 'decline' | 'cancel' | 'view'

type PaymentServices = Pick<Services, 'db' | 'provider' | 'publicUrl'>

/** Current status of a payment. `sendTo` is the session that the buyer pays in, `isOpen` is true if the
 *  provider says that its session still waits for the buyer, `isDeclined` if it has just declined an attempt
 *  to pay, and `failure` is an error of the provider, for the log. */
export type Decision = {
  status: Payment['status']
  sendTo?: string
  isOpen?: boolean
  isDeclined?: boolean
  failure?: unknown
}

// Providers show the name in a line or two.
const maxNameCharacters = 250

const toOrder = (found: FoundPayment, publicUrl: string): PaymentOrder => {
  const { id, organizationId, totalAmount, currency, expiresAt, eventName, rateName } = found
  // By code points: half of a surrogate pair is no text.
  const name = [...`${eventName} · ${rateName}`].slice(0, maxNameCharacters).join('')
  const pageUrl = paymentUrl(found, publicUrl)
  return { id, organizationId, totalAmount, currency, expiresAt, name, pageUrl }
}

async function pay(services: PaymentServices, found: FoundPayment, action: BuyerAction): Promise<Decision> {
  const { db, provider, publicUrl } = services
  const { status, sessionUrl } = found
  if (sessionUrl && openSessionOf(found, provider)) return { status, sendTo: sessionUrl }
  const order = toOrder(found, publicUrl())
  if (provider.name === 'sandbox') order.testEmail = action === 'decline' ? declinedEmail : found.testEmail
  // Outside any transaction: a slow provider must not hold a row lock.
  const outcome = await askProvider(provider, found, () => provider.charge(order))
  if (outcome.kind === 'declined') return { status, isDeclined: true }
  if (outcome.kind !== 'session') return settlePayment(db, { payment: found, outcome })
  const saved = await saveSession(db, found, provider.name, outcome)
  const decision = { status: saved.status, sendTo: saved.sessionUrl ?? outcome.url }
  if (saved.sessionId === outcome.id) return decision
  // Another request saved its session first: close this one, which no buyer is sent to.
  const [answer] = await Promise.allSettled([
    askProvider(provider, found, () => provider.expireSession(outcome.id)),
  ])
  return answer.status === 'rejected' ? { ...decision, failure: answer.reason } : decision
}

async function end(services: PaymentServices, payment: PaymentOfRate, status: 'expired' | 'cancelled') {
  const { db, provider } = services
  const outcome: PaymentOutcome = { kind: 'ended', status }
  const sessionId = openSessionOf(payment, provider)
  if (!sessionId) return settlePayment(db, { payment, outcome })
  const [answer] = await Promise.allSettled([
    askProvider(provider, payment, () => provider.expireSession(sessionId)),
  ])
  // The payment ends in any case. A background job closes the session later, and a charge until then is late.
  if (answer.status === 'rejected')
    return { ...(await settlePayment(db, { payment, outcome })), failure: answer.reason }
  const agreed = answer.value.kind === 'ended' ? outcome : answer.value
  return settlePayment(db, { payment, outcome: agreed, sessionId })
}

async function decide(
  services: PaymentServices,
  found: FoundPayment,
  action: BuyerAction,
): Promise<Decision> {
  // A payment that has ended may still have an open session, and a charge on its way.
  if (found.status !== 'pending') return refreshSession(services, found)
  // settlePayment checks the database's clock again.
  if (found.secondsLeft <= 0) return end(services, found, 'expired')
  if (action === 'cancel') return end(services, found, 'cancelled')
  return action === 'view' ? refreshSession(services, found) : pay(services, found, action)
}

// Buttons that are pressed at the moment, by payment.
const pressedOf = perDatabase(() => new Map<string, Promise<Decision>>())

/** Applies the buyer's action to an open payment: charges it and activates the tickets, sends the buyer to
 *  the provider's session, or cancels it and releases the places. An overdue payment expires whatever the
 *  action, even before the sweeper runs, unless the provider says that it was paid. One that has ended is
 *  only refreshed. However often a button is pressed at once, this process calls the provider once; several processes may
 *  call it once each, and it identifies them by the payment's id. Refuses: BUSY. */
export function decidePayment(services: PaymentServices, found: FoundPayment, action: BuyerAction) {
  const db = ownedBy(services.db, nameInMode(found, found.organizationId))
  const own = { ...services, db }
  if (action === 'view') return decide(own, found, action)
  const pressed = pressedOf(db)
  const key = `${action} ${found.id}`
  const joined = pressed.get(key)
  if (joined) return joined
  const decision = aloneOnRow(db, `page ${found.id}`, () => decide(own, found, action))
  pressed.set(key, decision)
  return decision.finally(() => pressed.delete(key))
}
