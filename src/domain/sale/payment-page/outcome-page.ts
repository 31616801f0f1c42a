import { type Html, html } from '../../../engine/http/html.ts'
import { formatList } from '../../language/format.ts'
import type { Language } from '../../language/languages.ts'
import type { Page } from '../../language/page.ts'
import { translate } from '../../language/translate.ts'
import type { Payment } from '../../payment/table.ts'
import type { FoundPayment } from './find-payment.ts'
import type { TicketLinks } from './find-ticket-links.ts'
import { ticketPage } from './layout.ts'

const outcomeOf = (language: Language, status: Payment['status']) => ({
  title: translate(language, `outcome.${status}.title`),
  text: translate(language, `outcome.${status}.text`),
})

// Explains an automatic refund: what happened, then where the money is.
function describeRefund(language: Language, { paidAt, status, refundReason }: FoundPayment) {
  if (!refundReason) return null
  if (paidAt)
    return {
      title: translate(language, 'outcome.paid.title'),
      text: translate(language, refundReason === 'AMOUNT_MISMATCH' ? 'outcome.surplus' : 'outcome.paidTwice'),
    }
  const money = status === 'refunded' ? 'outcome.moneyIsBack' : 'outcome.moneyGoesBack'
  const cause = translate(language, `outcome.cause.${refundReason}`)
  return { title: translate(language, money), text: `${cause} ${translate(language, `${money}Detail`)}` }
}

// Says where tickets were sent, and links them. The address of the page is as secret as those of the
// documents, and it names nobody in full.
function ticketList(language: Language, { tickets, sent, sending }: TicketLinks): Html {
  const to = (key: 'outcome.sent' | 'outcome.sending', recipients: string[]) =>
    recipients.length > 0 &&
    html`<p class="soft">${translate(language, key, { recipients: formatList(language, recipients) })}</p>`
  const item = ({ number, name, url, isGiven }: TicketLinks['tickets'][number]) => {
    const label = translate(language, 'outcome.ticket', { number, name })
    if (url !== null) return html`<li><a href="${url}">${label}</a></li>`
    const key = isGiven ? 'outcome.ticketGiven' : 'outcome.ticketCancelled'
    return html`<li class="soft">${label} (${translate(language, key)})</li>`
  }
  return html`${to('outcome.sent', sent)}
${to('outcome.sending', sending)}
<h2>${translate(language, 'outcome.tickets')}</h2>
<ul class="links">${tickets.map(item)}</ul>`
}

const linkStyle = `.links { list-style: none; display: grid; gap: .25rem }
.links li > a { display: block; padding-block: .6rem }`

/** Renders the outcome of a payment, for buyers whose channel gave no URL to redirect to. `links` are
 *  those of tickets that were paid; null if none were. */
export function outcomePage(
  language: Language,
  found: FoundPayment,
  status: Exclude<Payment['status'], 'pending' | 'processing'>,
  links: TicketLinks | null,
): Page {
  const { title, text } = describeRefund(language, found) ?? outcomeOf(language, status)
  return ticketPage(found, {
    language,
    title: translate(language, 'outcome.pageTitle', { outcome: title, event: found.eventName }),
    style: linkStyle,
    body: html`<section class="padded stack"><h2 class="outcome">${title}</h2><p class="soft">${text}</p>
${links && ticketList(language, links)}</section>`,
  })
}

// Soon enough for a card, and no burden for a bank that takes days.
const refreshSeconds = 3

/** Renders a payment that is not decided yet. There is nothing to press: the page reloads by itself. For
 *  `pending`, the buyer is back, and the provider's event has not arrived yet. */
export function undecidedPage(language: Language, found: FoundPayment, status: 'pending' | 'processing') {
  const { title, text } = outcomeOf(language, status)
  return ticketPage(found, {
    language,
    title: translate(language, 'outcome.pageTitle', { outcome: title, event: found.eventName }),
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
<p class="soft">${translate(language, 'outcome.continues')}</p>
</section>`,
  })
}

/** Builds the channel's URL that a buyer is redirected to, with the outcome of the payment and no personal
 *  data. Only buyers who got tickets go to `redirectUrl`, others to `errorUrl`. Null if the channel gave
 *  none. */
export function buyerUrl(found: FoundPayment): string | null {
  const { id, status, redirectUrl, errorUrl, paidAt, refundReason } = found
  const target = paidAt ? redirectUrl : errorUrl
  if (!target) return null
  const url = new URL(target)
  const isDetailed = refundReason || !paidAt
  const outcome = new URLSearchParams({
    payment_id: id,
    status,
    ...(isDetailed && { code: refundReason ?? `PAYMENT_${status.toUpperCase()}` }),
  })
  // The channel's own parameters stay as they are written: a form's encoding would make a plus of `%20`.
  const given = url.search === '' ? [] : url.search.slice(1).split('&')
  const kept = given.filter(
    (pair) => ![...new URLSearchParams(pair).keys()].some((name) => outcome.has(name)),
  )
  url.search = [...kept, outcome].join('&')
  return url.href
}
