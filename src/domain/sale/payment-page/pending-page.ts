import { type Html, html, type Page } from '../../../http/html.ts'
import type { Services } from '../../../request/context.ts'
import { formatAmount } from '../../../shared/money.ts'
import { localTime } from '../../event/local-time.ts'
import type { Payment } from '../../payment/table.ts'
import type { FoundPayment, TicketLine } from './find-payment.ts'
import { ticketPage } from './layout.ts'

const pluralize = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`

/** Describes the time left in whole minutes, never as 0 minutes. */
function timeLeft(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes === 0) return 'less than a minute left'
  if (minutes < 60) return `${pluralize(minutes, 'minute')} left`
  return `${pluralize(Math.floor(minutes / 60), 'hour')} ${pluralize(minutes % 60, 'minute')} left`
}

const fractionLeft = ({ payment, secondsLeft }: FoundPayment) =>
  Math.min(1, (secondsLeft * 1000) / (payment.expiresAt.getTime() - payment.createdAt.getTime())).toFixed(3)

const row = (name: string, amount: string, kind = '') =>
  html`<div class="row ${kind}"><dt>${name}</dt><dd>${amount}</dd></div>`

function ticketItem(line: TicketLine, currency: string): Html {
  const { priceName, priceAmount, supplements, feeAmount, warrantyAmount, warrantyHours } = line
  const extra = (name: string, amount: number) => row(name, formatAmount(amount, currency), 'extra')
  return html`<li><dl>
${row(priceName, formatAmount(priceAmount, currency))}
${supplements.map(({ label, amount }) => extra(label, amount))}
${feeAmount > 0 && extra('Fees', feeAmount)}
${warrantyAmount > 0 && extra(`Warranty, refundable until ${pluralize(warrantyHours, 'hour')} before`, warrantyAmount)}
</dl></li>`
}

const sandboxNote = html`<p class="note" role="note"><strong>This is a sandbox: no money is taken.</strong> Paying
activates the tickets as if it had been.</p>`

// Chrome applies form-action to redirects as well, even to those of the shop itself: to www, to a login. If
// one were blocked, a buyer who has paid would be left on this page with nothing happening.
function formSourcesOf({ redirectUrl, errorUrl }: Payment, sessionSources: string[]): string[] {
  const origins = [redirectUrl, errorUrl].flatMap((url) => (url ? [new URL(url).origin] : []))
  // A URL's host may contain characters that have a meaning in a policy, but no host that can be registered
  // does.
  const safe = origins.filter((origin) => /^https?:\/\/[\w.:-]+$/.test(origin))
  return [...new Set([...safe, ...(origins.length > 0 ? ['https:'] : []), ...sessionSources])]
}

/** Renders an unpaid order: its tickets, the time left to pay, Pay and Cancel. */
export function pendingPage(
  found: FoundPayment,
  lines: TicketLine[],
  { name, sessionSources = [] }: Services['provider'],
): Page {
  const { payment, secondsLeft, event } = found
  const { currency } = payment
  const total = formatAmount(payment.totalAmount, currency)
  const until = localTime(payment.expiresAt, found.location)
  return ticketPage(found, {
    title: `Pay for ${event.name}`,
    // Reloads once the hold has ended.
    refresh: secondsLeft + 1,
    formSources: formSourcesOf(payment, sessionSources),
    style: `.bar::before { animation: run-out ${secondsLeft}s linear forwards }
@keyframes run-out { from { transform: scaleX(${fractionLeft(found)}) } to { transform: scaleX(0) } }`,
    body: html`<section class="padded" aria-label="Your order">
${name === 'sandbox' && sandboxNote}
<div>
<p class="left"><span>Held until <time datetime="${payment.expiresAt.toISOString()}">${until}</time></span>
<strong>${timeLeft(secondsLeft)}</strong></p>
<div class="bar"></div>
</div>
<div>
<h2>${pluralize(lines.length, 'ticket')}</h2>
<ol class="tickets">${lines.map((line) => ticketItem(line, currency))}</ol>
</div>
<dl>${row('Total', total, 'total')}</dl>
</section>
<form method="post">
<button name="action" value="pay">Pay ${total}</button>
<button name="action" value="cancel" class="quiet">Cancel</button>
</form>`,
  })
}
