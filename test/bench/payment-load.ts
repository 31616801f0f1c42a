import { type StubEvent, signEvent } from '../support/stub-stripe.ts'
import type { DuePayment, Provider } from './due-payments.ts'
import type { Ask } from './http-client.ts'
import { type LoadResult, runLoad } from './load.ts'

export type PaymentLoad = {
  port: number
  clients: number
  seconds: number
  /** Payment provider, which decides how a payment is made: by pressing Pay or by a signed event. */
  provider: Provider
  due: DuePayment[]
}

/** Request of pressing Pay on the payment page. */
export const pressAsk = ({ token }: Pick<DuePayment, 'token'>): Ask => ({
  method: 'POST',
  path: `/pay/${token}`,
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: 'action=pay',
})

/** Signed event that Stripe sends after the buyer paid in the session. */
export function eventAsk({ id, organizationId, sessionId, amount, currency }: DuePayment): Ask {
  const event: StubEvent = {
    id: `evt_${id}`,
    object: 'event',
    type: 'checkout.session.completed',
    data: {
      object: {
        id: sessionId,
        object: 'checkout.session',
        status: 'complete',
        payment_status: 'paid',
        payment_intent: `pi_${id}`,
        amount_total: amount,
        currency: currency.toLowerCase(),
        client_reference_id: id,
        metadata: { payment_id: id, organization_id: organizationId },
      },
    },
  }
  return { method: 'POST', path: '/webhooks/stripe', ...signEvent(event) }
}

const askOf: Record<Provider, (payment: DuePayment) => Ask> = { sandbox: pressAsk, stripe: eventAsk }

/** Pays due payments, each once, with several clients for some seconds. Requests are built and signed before
 *  the clock starts. */
export const runPayments = ({ provider, due, ...load }: PaymentLoad): Promise<LoadResult> =>
  runLoad({ ...load, asks: due.map(askOf[provider]), once: true })
