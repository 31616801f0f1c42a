import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { expect, vi } from 'vitest'
import { randomFrom } from '../../examples/shop/src/demo/random.ts'
import { webhookDeliveries } from '../../src/domain/change/table.ts'
import { deliveries } from '../../src/domain/delivery/table.ts'
import { refunds } from '../../src/domain/refund/table.ts'
import { aCatalogue, anEvent } from './factories.ts'
import { createTestDatabase } from './harness.ts'
import { type Moment, startKilledService } from './killed-service.ts'
import { startMailServer } from './mail-server.ts'
import { isCluster } from './on-one-server.ts'
import { openRetryingBuyers, ratesOfCrowd } from './retrying-buyers.ts'
import { openSale } from './sale.ts'
import { settleSale, waiting } from './settled-sale.ts'
import { sessionToExpire, startStubStripe, stripeSettings } from './stub-stripe.ts'
import { startReceiver, webhooksOf } from './webhooks.ts'

const buyersAtOnce = 5
const timeoutMs = { timeout: 120_000, interval: 50 }

const otherMoments: Moment[] = ['mail taken', 'change told', 'any']
/** Moments of the kills, in no order. A cluster, whose servers share the machine, has those at which it writes. */
export const killsAt: Moment[] = [
  ...(['session asked for', 'refund asked for'] as const),
  ...(isCluster ? [] : otherMoments),
  // Twice, because these kills hit settlement, which must be one transaction.
  ...(['event told', 'event told'] as const),
]

/** A sale by the built service, which is killed at moments chosen by the seed. Stripe, the mail server and
 *  the webhook receiver run in this process and survive the kills. */
export async function openKilledSale(seed: number) {
  const random = randomFrom(seed)
  const database = await createTestDatabase()
  const catalogue = aCatalogue({ events: [anEvent({ ticket_rates: ratesOfCrowd })] })
  const privateWebhooks = { WEBHOOKS_TO_PRIVATE_ADDRESSES: 'true' }
  const sale = await openSale(catalogue, { database, settings: privateWebhooks })
  const { db } = sale
  const [fake, mailServer, receiver] = await Promise.all([
    startStubStripe(),
    startMailServer(),
    startReceiver(),
  ])
  const service = await startKilledService({
    ...database.settings,
    ...stripeSettings(fake.url),
    ...privateWebhooks,
    SMTP_URL: mailServer.url,
    MAIL_FROM: 'tickets@shop.example',
    RATE_LIMIT: 'off',
  })
  const webhook = await webhooksOf(sale).register(receiver.url)
  const crowd = openRetryingBuyers({ sale, fake, url: service.url, random })

  fake.setFault((request) => {
    const { method, path } = request
    if (method === 'POST' && path === '/v1/checkout/sessions') service.reach('session asked for')
    if (method === 'POST' && path === '/v1/refunds') service.reach('refund asked for')
    return crowd.isStuck(sessionToExpire(request)) ? 500 : null
  })
  mailServer.onMail = () => service.reach('mail taken')
  receiver.respondUsing((response) => {
    service.reach('change told')
    response.writeHead(204).end()
  })
  const startDelivery = () =>
    fake.deliverTo(() => {
      service.reach('event told')
      return service.url
    }, 10)
  // Delivers each event twice, with other events in between.
  const eventDeliveries = [startDelivery(), startDelivery()]

  const killMoments: Moment[] = []
  async function killRepeatedly(isOver: () => boolean) {
    const order = killsAt
      .map((moment) => ({ moment, rank: random.between(0, 1_000_000) }))
      .sort((one, other) => one.rank - other.rank)
    for (const { moment } of order) {
      if (isOver()) return
      await pause(random.between(200, 700))
      const afterMs = moment === 'event told' ? random.between(0, 12) : 0
      if (await service.killAt(moment, afterMs)) killMoments.push(moment)
      await service.restart()
    }
    // On a slow machine all kills may be over before every behaviour has run.
    while (!isOver() && crowd.paymentIds.length < 2 * crowd.behaviourCount) await pause(50)
  }
  return {
    ...{ sale, fake, mailServer, receiver, webhook, crowd },
    /** Moments at which the service was killed, without those that timed out. */
    killMoments,
    /** Runs the buyers while the service is killed at each moment, and once more after they have left.
     *  Expires the leases of the killed processes, so that their work is due at once. */
    async runWithKills() {
      let isOver = false
      const parts = [crowd.buyUntil(buyersAtOnce, () => isOver), killRepeatedly(() => isOver)]
      const end = () => {
        isOver = true
      }
      // A failure of one part ends the other, and both are awaited.
      const ended = await Promise.allSettled(parts.map((part) => part.finally(end)))
      for (const part of ended) if (part.status === 'rejected') throw part.reason
      await service.killAt('any', 0)
      crowd.releaseSessions()
      for (const table of [refunds, deliveries, webhookDeliveries])
        await db.update(table).set({ dueAt: sql`now()` }).where(waiting)
      await service.restart()
    },
    /** Waits until the service has accepted every Stripe event. */
    async waitForStripeEvents() {
      const untold = () => eventDeliveries.map((teller) => fake.events.length - teller.sent())
      await vi.waitFor(() => expect(untold()).toEqual([0, 0]), timeoutMs)
    },
    settle: () => settleSale(db),
    async close() {
      await Promise.all(eventDeliveries.map((teller) => teller.stop()))
      await service.stop()
      receiver.close()
      await Promise.all([mailServer.close(), fake.close()])
      await sale.close()
      await database.drop()
    },
  }
}

export type KilledSale = Awaited<ReturnType<typeof openKilledSale>>
