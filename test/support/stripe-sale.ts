import { eq } from 'drizzle-orm'
import { parseConfig } from '../../src/app/settings.ts'
import { openProvider } from '../../src/domain/payment/open-provider.ts'
import { charges, payments } from '../../src/domain/payment/table.ts'
import { refunds } from '../../src/domain/refund/table.ts'
import { closeSessions } from '../../src/domain/sale/settle/provider-session.ts'
import type { Checkout } from './checkouts.ts'
import type { GatewayOptions } from './harness.ts'
import { openPageBuyer, redirectUrls } from './payment-page-buyer.ts'
import { endSessions } from './queued-payments.ts'
import { openSale, type SaleFile } from './sale.ts'
import { type StubEvent, signEvent, startStubStripe, stripeSettings } from './stub-stripe.ts'
import { holdTickets } from './tickets.ts'

/** Opens a sale with its own stub of Stripe as the payment provider. */
export async function openStripeSale(catalogue: SaleFile = {}, options: GatewayOptions = {}) {
  const fake = await startStubStripe()
  const settings = { ...stripeSettings(fake.url), ...options.settings }
  const provider = await openProvider(parseConfig(settings))
  const sale = await openSale(catalogue, { ...options, settings, provider })
  const buyer = openPageBuyer(sale)
  const { db } = sale
  const send = ({ body, headers }: ReturnType<typeof signEvent>) =>
    sale.rest('POST', '/webhooks/stripe', { body, headers })
  return {
    ...sale,
    fake,
    provider,
    buyer,
    send,
    /** Delivers Stripe events, which must be accepted. Returns how each was processed. */
    async deliver(...events: StubEvent[]) {
      const received: string[] = []
      for (const event of events) {
        const answer = await send(signEvent(event))
        if (answer.statusCode !== 200) throw new Error(`${event.type} was answered with ${answer.statusCode}`)
        received.push(answer.json<{ received: string }>().received)
      }
      return received
    },
    checkOut: (more = {}, count = 1) => holdTickets(sale, { count, ...redirectUrls, ...more }),
    /** Presses Pay and returns the session that this redirects to. */
    async goToStripe(checkout: Checkout) {
      const { headers } = await buyer.pay(checkout)
      const session = fake.sessionFor(checkout.payment_id)
      if (headers.location !== session.url) throw new Error(`Pay led to ${headers.location}`)
      return session
    },
    /** Requests the payment page as a buyer who returns from Stripe. */
    comeBack: ({ payment_url }: Checkout) => sale.rest('GET', `${new URL(payment_url).pathname}?paid`),
    /** Makes all sessions due and closes them. */
    async closeDue() {
      await endSessions(db)
      await closeSessions({ db, provider })
    },
    /** Ends the pause before Stripe may be asked again. */
    waitSeconds: () => db.update(payments).set({ sessionAskedAt: null }),
    chargesOf: ({ payment_id }: Checkout) => db.$count(charges, eq(charges.paymentId, payment_id)),
    refundsOf: async ({ payment_id }: Checkout) =>
      (await db.select().from(refunds).where(eq(refunds.paymentId, payment_id))).map(
        ({ reason, status, amount }) => `${reason} ${status} ${amount}`,
      ),
    async close() {
      await sale.close()
      await fake.close()
    },
  }
}

export type StripeSale = Awaited<ReturnType<typeof openStripeSale>>
