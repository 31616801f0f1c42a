import { sql } from 'drizzle-orm'
import { parseConfig } from '../../src/app/settings.ts'
import { openSenders } from '../../src/domain/delivery/open-senders.ts'
import { sendDeliveries } from '../../src/domain/delivery/send-deliveries.ts'
import { deliveries } from '../../src/domain/delivery/table.ts'
import type { Checkout } from './checkouts.ts'
import { aCatalogue, aLocation, anEvent, aRateNamed, aSupplement } from './factories.ts'
import type { Sale } from './sale.ts'
import { holdTickets, payFor } from './tickets.ts'

export const publicUrl = 'https://tickets.example'

/** A night in Madrid, with a paid rate and a free one. */
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
        aRateNamed('1', { supplements: [aSupplement({ _id: 'sup_1' })] }, { name: 'Early' }),
        aRateNamed('free', { name: 'Guests' }, { price: 0 }),
      ],
    }),
  ],
})

/** Buys and pays for tickets that are to be delivered. */
export async function buyDeliverable(
  sale: Sale,
  entries: Record<string, unknown>[],
  more: Record<string, unknown> = {},
): Promise<Checkout> {
  const checkout = await holdTickets(sale, { entries, send_resourcers: true, ...more })
  // A free checkout is paid at once.
  if (checkout.total_amount > 0) await payFor(sale, checkout)
  return checkout
}

/** Sends due deliveries once with these settings. Returns the log lines. */
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

/** Reads status, attempts and last error of each delivery, by recipient. */
export async function readDeliveries({ db }: Pick<Sale, 'db'>) {
  const rows = await db.select().from(deliveries)
  return Object.fromEntries(
    rows.map(({ recipient, status, attempts, lastError }) => [recipient, { status, attempts, lastError }]),
  )
}

/** Ends the backoff of all deliveries. */
export const makeDeliveriesDue = ({ db }: Pick<Sale, 'db'>) =>
  db.update(deliveries).set({ dueAt: sql`now()` })
