import { sql } from 'drizzle-orm'
import { parseConfig } from '../../src/config/config.ts'
import { openSenders } from '../../src/domain/delivery/open-senders.ts'
import { sendDeliveries } from '../../src/domain/delivery/send-deliveries.ts'
import { deliveries } from '../../src/domain/delivery/table.ts'
import { anEntry, type Checkout, mustCheckOut } from './checkouts.ts'
import { aCatalogue, aLocation, anEvent, aPrice, aRate, aSupplement } from './factories.ts'
import { fullPaymentOf } from './refunds.ts'
import type { Sale } from './sale.ts'
import { settlePaymentById } from './settle-payment.ts'

export const publicUrl = 'https://tickets.example'

/** A night in Madrid, with a rate that costs something and one that doesn't. */
export const deliveryCatalogue = aCatalogue({
  locations: [aLocation({ address: 'Gran Vía, 1' })],
  events: [
    anEvent({
      _id: 'evt_1',
      name: 'Noche de Ñandú & <friends>',
      slug: 'noche-de-nandu',
      start_date: '2099-07-11T22:30:00.000Z',
      end_date: '2099-07-12T04:00:00.000Z',
      ticket_rates: [
        aRate({
          _id: 'rate_1',
          prices: [aPrice({ _id: 'price_1', name: 'Early' })],
          supplements: [aSupplement({ _id: 'sup_1' })],
        }),
        aRate({ _id: 'rate_free', name: 'Guests', prices: [aPrice({ _id: 'price_free', price: 0 })] }),
      ],
    }),
  ],
})

/** Buys tickets that are to be sent, and pays for them. */
export async function buyDeliverable(
  sale: Sale,
  entries: Record<string, unknown>[],
  more: Record<string, unknown> = {},
): Promise<Checkout> {
  const checkout = await mustCheckOut(sale, {
    ticket_rate_id: 'rate_1',
    tickets: entries.map((entry) => anEntry('price_1', entry)),
    send_resourcers: true,
    ...more,
  })
  // A total of 0 is paid at once.
  if (checkout.total_amount > 0)
    await settlePaymentById(sale.db, checkout.payment_id, await fullPaymentOf(sale, checkout))
  return checkout
}

/** Sends what is due once, by these settings. Gives what the log was told. */
export async function sendDeliveriesOnce(
  { db }: Pick<Sale, 'db'>,
  settings: Record<string, string>,
): Promise<Record<string, unknown>[]> {
  const lines: Record<string, unknown>[] = []
  const { delivery } = parseConfig({
    MAIL_FROM: 'tickets@shop.example',
    PUBLIC_URL: publicUrl,
    ...settings,
  })
  const write = (facts: Record<string, unknown>, message: string) => void lines.push({ ...facts, message })
  const { senders, close } = openSenders(delivery, () => publicUrl, { info: write, warn: write })
  await sendDeliveries(db, senders).finally(close)
  return lines
}

/** How deliveries stand, by whom they are for. */
export async function readDeliveries({ db }: Pick<Sale, 'db'>) {
  const rows = await db.select().from(deliveries)
  return Object.fromEntries(
    rows.map(({ recipient, status, attempts, lastError }) => [recipient, { status, attempts, lastError }]),
  )
}

/** As if the pause after a failure were over. */
export const makeDeliveriesDue = ({ db }: Pick<Sale, 'db'>) =>
  db.update(deliveries).set({ dueAt: sql`now()` })
