import { eq } from 'drizzle-orm'
import { payments } from '../../src/domain/payment/table.ts'
import { tickets } from '../../src/domain/ticket/table.ts'
import type { Checkout } from './checkouts.ts'
import { endHolds } from './queued-payments.ts'
import type { Sale } from './sale.ts'

/** URLs to which a shop wants its buyers redirected. */
export const redirectUrls = {
  redirect_url: 'https://shop.example/thanks?order=7#top',
  error_url: 'http://shop.example:8080/sorry',
}

export const formType = 'application/x-www-form-urlencoded'

export const pagePath = ({ payment_url }: Checkout) => new URL(payment_url).pathname

/** Opens a buyer that acts on the payment page of a checkout. */
export function openPageBuyer({ rest, db }: Sale) {
  const post = (path: string, body: string, type = formType) =>
    rest('POST', path, { headers: { 'content-type': type }, body })
  return {
    post,
    view: (checkout: Checkout) => rest('GET', pagePath(checkout)),
    pay: (checkout: Checkout) => post(pagePath(checkout), 'action=pay'),
    cancel: (checkout: Checkout) => post(pagePath(checkout), 'action=cancel'),
    /** Expires the payment, by the database's clock. */
    expire: ({ payment_id }: Checkout) => endHolds(db, eq(payments.id, payment_id)),
    /** Reads the status of the payment, then those of its tickets. */
    async statusesOf({ payment_id }: Checkout) {
      const [payment] = await db.select().from(payments).where(eq(payments.id, payment_id))
      const rows = await db.select().from(tickets).where(eq(tickets.paymentId, payment_id))
      return [payment?.status, ...rows.map(({ status }) => status)]
    },
  }
}

/** Strips styles and tags from HTML. */
export const visibleText = (html: string) =>
  html
    .replace(/<style>.*<\/style>/s, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
