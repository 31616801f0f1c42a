import { html, type Page } from '../../../http/html.ts'
import type { Payment } from '../../payment/table.ts'
import type { AutomaticReason } from '../refund/open-refund.ts'
import type { FoundPayment } from './find-payment.ts'
import { ticketPage } from './layout.ts'

type Outcome = { title: string; text: string }

const outcomes: Record<Exclude<Payment['status'], 'pending' | 'processing'>, Outcome> = {
  paid: { title: 'Paid', text: 'Your tickets are active. You can close this page.' },
  partially_refunded: { title: 'Partly refunded', text: 'Part of the amount you paid has been refunded.' },
  refunded: { title: 'Refunded', text: 'The amount you paid has been refunded.' },
  failed: { title: 'Not paid', text: 'The payment failed, and the tickets are no longer held.' },
  expired: { title: 'Time is over', text: 'The tickets were not paid in time, and are no longer held.' },
  cancelled: { title: 'Cancelled', text: 'The tickets are no longer held.' },
}

/** Status that ends a payment as far as the buyer can see. */
export type EndStatus = keyof typeof outcomes

const refundCauses: Record<AutomaticReason, string> = {
  CANCELLED: 'Your payment arrived after the order was cancelled',
  LATE_NO_CAPACITY: 'Your payment arrived when the time was over and the places had gone to others',
  PAID_TWICE: 'Your payment arrived a second time',
  AMOUNT_MISMATCH: 'Your payment does not match the amount or the currency of the order',
}

// Explains an automatic refund: what happened, then where the money is.
function describeRefund({ payment, refundReason }: FoundPayment): Outcome | null {
  if (!refundReason) return null
  if (payment.paidAt)
    return {
      title: 'Paid',
      text:
        refundReason === 'AMOUNT_MISMATCH'
          ? 'Your tickets are active. You paid more than the price: the surplus is refunded automatically.'
          : 'Your tickets are active. You paid twice: the second payment is refunded automatically.',
    }
  const [title, back] =
    payment.status === 'refunded'
      ? ['Your money is back', 'All of it has been given back.']
      : [
          'Your money goes back',
          'All of it is given back to where it came from. There is nothing you need to do.',
        ]
  return { title, text: `${refundCauses[refundReason]}, so you have no tickets. ${back}` }
}

/** Renders the outcome of a payment, for buyers whose channel gave no URL to redirect to. */
export function outcomePage(found: FoundPayment, status: EndStatus): Page {
  const { title, text } = describeRefund(found) ?? outcomes[status]
  return ticketPage(found, {
    title: `${title}: ${found.event.name}`,
    body: html`<section class="padded stack"><h2 class="outcome">${title}</h2><p class="soft">${text}</p></section>`,
  })
}

// Soon enough for a card, and no burden for a bank that takes days.
const refreshSeconds = 3

const undecided: Record<'pending' | 'processing', Outcome> = {
  // The buyer is back, and the provider's event has not arrived yet.
  pending: { title: 'One moment', text: 'Your payment is being confirmed. That takes a few seconds.' },
  processing: {
    title: 'Waiting for your bank',
    text: 'A card takes seconds, a bank transfer a few days. Your tickets are held for you in the meantime.',
  },
}

/** Renders a payment that is not decided yet. There is nothing to press: the page reloads by itself. */
export function undecidedPage(found: FoundPayment, status: keyof typeof undecided): Page {
  const { title, text } = undecided[status]
  return ticketPage(found, {
    title: `${title}: ${found.event.name}`,
    refresh: refreshSeconds,
    style: `
.working { display: flex; align-items: center; gap: 1.1rem }
.working::before {
  content: ''; flex: none; width: 2.25rem; height: 2.25rem; border-radius: 50%;
  border: .25rem solid var(--line); border-top-color: var(--accent); animation: turn 1s linear infinite;
}
@keyframes turn { to { transform: rotate(1turn) } }
@media (prefers-reduced-motion: reduce) { .working::before { animation-duration: 4s } }`,
    body: html`<section class="padded stack" role="status">
<h2 class="outcome working">${title}</h2>
<p class="soft">${text}</p>
<p class="soft">This page goes on by itself. Please don’t pay again.</p>
</section>`,
  })
}

/** Builds the channel's URL that a buyer is redirected to, with the outcome of the payment and no personal
 *  data. Only buyers who got tickets go to `redirectUrl`, others to `errorUrl`. Null if the channel gave
 *  none. */
export function buyerUrl(
  { id, status, redirectUrl, errorUrl, paidAt }: Payment,
  refundReason: AutomaticReason | null,
): string | null {
  const target = paidAt ? redirectUrl : errorUrl
  if (!target) return null
  const url = new URL(target)
  url.searchParams.set('payment_id', id)
  url.searchParams.set('status', status)
  if (refundReason || !paidAt) url.searchParams.set('code', refundReason ?? `PAYMENT_${status.toUpperCase()}`)
  return url.href
}
