import { type Html, html, type Page } from '../../../http/html.ts'
import type { Services } from '../../../request/context.ts'
import { formatAmount } from '../../../shared/money.ts'
import { localStart, localTime, placeOf } from '../../event/local-time.ts'
import type { Payment } from '../../payment/table.ts'
import type { FoundPayment, TicketLine } from './find-payment.ts'
import { ticketStyle } from './page-style.ts'

const count = (number: number, thing: string) => `${number} ${thing}${number === 1 ? '' : 's'}`

/** Time left in words: whole minutes, and never none. */
function timeLeft(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes === 0) return 'less than a minute left'
  if (minutes < 60) return `${count(minutes, 'minute')} left`
  return `${count(Math.floor(minutes / 60), 'hour')} ${count(minutes % 60, 'minute')} left`
}

const partLeft = ({ payment, secondsLeft }: FoundPayment) =>
  Math.min(1, (secondsLeft * 1000) / (payment.expiresAt.getTime() - payment.createdAt.getTime())).toFixed(3)

/** The coloured part of a ticket: what it is for, when and where. */
export function stub(found: FoundPayment): Html {
  const { event, location, rateName } = found
  const place = placeOf(location)
  return html`<header class="stub">
<p class="rate">${rateName}</p>
<h1>${event.name}</h1>
<p><time datetime="${event.startDate.toISOString()}">${localStart(event, location)}</time></p>
${place !== '' && html`<p>${place}</p>`}
</header>
<div class="holes"></div>`
}

export const footer = ({ payment }: FoundPayment) => html`<footer>Boxoffice · Order ${payment.id}</footer>`

const row = (name: string, amount: string, kind = '') =>
  html`<div class="row ${kind}"><dt>${name}</dt><dd>${amount}</dd></div>`

function ticket(line: TicketLine, currency: string): Html {
  const { priceName, priceAmount, supplements, feeAmount, warrantyAmount, warrantyHours } = line
  const extra = (name: string, amount: number) => row(name, formatAmount(amount, currency), 'extra')
  return html`<li><dl>
${row(priceName, formatAmount(priceAmount, currency))}
${supplements.map(({ label, amount }) => extra(label, amount))}
${feeAmount > 0 && extra('Fees', feeAmount)}
${warrantyAmount > 0 && extra(`Warranty, refundable until ${count(warrantyHours, 'hour')} before`, warrantyAmount)}
</dl></li>`
}

const sandboxNote = html`<p class="note" role="note"><strong>This is a sandbox: no money is taken.</strong> Paying
activates the tickets as if it had been.</p>`

// Chrome holds form-action over redirects as well, and over those that the shop itself goes on with: to www, to a
// login. Blocked there, a buyer who paid would be left on this page with nothing happening.
function formSourcesOf({ redirectUrl, errorUrl }: Payment, sessionSources: string[]): string[] {
  const origins = [redirectUrl, errorUrl].flatMap((address) => (address ? [new URL(address).origin] : []))
  // A host may hold characters that mean something in a policy; no name that anybody can register does.
  const safe = origins.filter((origin) => /^https?:\/\/[\w.:-]+$/.test(origin))
  return [...new Set([...safe, ...(origins.length > 0 ? ['https:'] : []), ...sessionSources])]
}

/** What is being bought, until when it is held, and the two buttons. */
export function pendingPage(
  found: FoundPayment,
  lines: TicketLine[],
  { name, sessionSources = [] }: Services['provider'],
): Page {
  const { payment, secondsLeft, event } = found
  const { currency } = payment
  const total = formatAmount(payment.totalAmount, currency)
  const until = localTime(payment.expiresAt, found.location)
  return {
    title: `Pay for ${event.name}`,
    // When its time is over the page goes on by itself.
    refresh: secondsLeft + 1,
    formSources: formSourcesOf(payment, sessionSources),
    style: `${ticketStyle}.bar::before { animation: run-out ${secondsLeft}s linear forwards }
@keyframes run-out { from { transform: scaleX(${partLeft(found)}) } to { transform: scaleX(0) } }`,
    body: html`<main>
${stub(found)}
<section class="padded" aria-label="Your order">
${name === 'sandbox' && sandboxNote}
<div>
<p class="left"><span>Held until <time datetime="${payment.expiresAt.toISOString()}">${until}</time></span>
<strong>${timeLeft(secondsLeft)}</strong></p>
<div class="bar"></div>
</div>
<div>
<h2>${count(lines.length, 'ticket')}</h2>
<ol class="tickets">${lines.map((line) => ticket(line, currency))}</ol>
</div>
<dl>${row('Total', total, 'total')}</dl>
</section>
<form method="post">
<button name="action" value="pay">Pay ${total}</button>
<button name="action" value="cancel" class="quiet">Cancel</button>
</form>
</main>
${footer(found)}`,
  }
}
