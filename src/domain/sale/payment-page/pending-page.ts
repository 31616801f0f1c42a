import { type Html, html } from '../../../engine/http/html.ts'
import type { Services } from '../../caller/context.ts'
import { localTime } from '../../event/local-time.ts'
import { formatAmount } from '../../language/format.ts'
import type { Language } from '../../language/languages.ts'
import type { Page } from '../../language/page.ts'
import { translate } from '../../language/translate.ts'
import type { Payment } from '../../payment/table.ts'
import type { FoundPayment, TicketLine } from './find-payment.ts'
import { ticketPage } from './layout.ts'

/** Describes the time left in whole minutes, never as 0 minutes. */
function timeLeft(language: Language, seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes === 0) return translate(language, 'pay.lessThanAMinuteLeft')
  if (minutes < 60) return translate(language, 'pay.minutesLeft', { minutes })
  return translate(language, 'pay.hoursLeft', { hours: Math.floor(minutes / 60), minutes: minutes % 60 })
}

/** Fraction of the hold that is left, between 0 and 1. */
const fractionLeft = ({ expiresAt, createdAt, secondsLeft }: FoundPayment): string =>
  Math.min(1, (secondsLeft * 1000) / (expiresAt.getTime() - createdAt.getTime())).toFixed(3)

/** Style of `.clock` that counts minutes and seconds down, without a script. The text within stays for screen
 *  readers, and is shown by browsers that cannot animate a number, and for more than an hour. */
const clockStyle = (secondsLeft: number): string =>
  secondsLeft >= 3600
    ? ''
    : `@property --left { syntax: '<integer>'; inherits: true; initial-value: 0 }
@property --minutes { syntax: '<integer>'; inherits: true; initial-value: 0 }
/* Browsers that know this property animate registered integers. */
@supports (transition-behavior: allow-discrete) {
  .clock {
    position: relative; font-variant-numeric: tabular-nums; animation: count ${secondsLeft}s linear forwards;
    --minutes: calc(var(--left) / 60 - .5);
  }
  .clock::after {
    counter-reset: minutes var(--minutes) seconds calc(var(--left) - 60 * var(--minutes));
    content: counter(minutes) ':' counter(seconds, decimal-leading-zero);
  }
  .clock span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
}
@keyframes count { from { --left: ${secondsLeft} } to { --left: 0 } }`

const row = (name: string, amount: string, kind = '') =>
  html`<div class="row ${kind}"><dt>${name}</dt><dd>${amount}</dd></div>`

function ticketItem(language: Language, line: TicketLine, currency: string): Html {
  const { priceName, priceAmount, discountName, discountAmount, supplements, feeAmount } = line
  const { warrantyAmount, warrantyHours: hours } = line
  const format = (amount: number) => formatAmount(language, amount, currency)
  const extra = (name: string, amount: number) => row(name, format(amount), 'extra')
  return html`<li><dl>
${row(priceName, format(priceAmount))}
${discountAmount > 0 && extra(translate(language, 'order.discount', { name: discountName ?? '' }), -discountAmount)}
${supplements.map(({ label, amount }) => extra(label, amount))}
${feeAmount > 0 && extra(translate(language, 'order.fees'), feeAmount)}
${warrantyAmount > 0 && extra(translate(language, 'order.warranty', { hours }), warrantyAmount)}
</dl></li>`
}

function sum(language: Language, lines: TicketLine[], { totalAmount, currency }: Payment): Html {
  const format = (amount: number) => formatAmount(language, amount, currency)
  const saved = lines.reduce((sum, { discountAmount }) => sum + discountAmount, 0)
  return html`<dl class="sum">
${row(translate(language, 'order.total'), format(totalAmount), 'total')}
${saved > 0 && row(translate(language, 'order.saved'), format(saved), 'extra')}
</dl>`
}

const sandboxNote = (
  language: Language,
) => html`<p class="note" role="note"><strong>${translate(language, 'pay.sandbox')}</strong>
${translate(language, 'pay.sandboxDetail')}
<button form="order" name="action" value="decline" class="quiet">${translate(language, 'pay.decline')}</button></p>`

// Chrome applies form-action to redirects as well, even to those of the shop itself: to www, to a login. If
// one were blocked, a buyer who has paid would be left on this page with nothing happening.
function formSourcesOf({ redirectUrl, errorUrl }: Payment, sessionSources: string[]): string[] {
  const origins = [redirectUrl, errorUrl].flatMap((url) => (url ? [new URL(url).origin] : []))
  // A URL's host may contain characters that have a meaning in a policy, but no host that can be registered
  // does.
  const safe = origins.filter((origin) => /^https?:\/\/[\w.:-]+$/.test(origin))
  return [...new Set([...safe, ...(origins.length > 0 ? ['https:'] : []), ...sessionSources])]
}

/** Renders an unpaid order: its seller, its tickets, the time left to pay, Pay and Cancel; Decline too in the
 *  sandbox. It says so if an attempt to pay was just declined. */
export function pendingPage(
  language: Language,
  found: FoundPayment,
  lines: TicketLine[],
  { name, sessionSources = [] }: Services['provider'],
  isDeclined = false,
): Page {
  const { secondsLeft, expiresAt, totalAmount, currency } = found
  const time = localTime(language, expiresAt, found)
  const amount = formatAmount(language, totalAmount, currency)
  return ticketPage(found, {
    language,
    title: translate(language, 'pay.title', { event: found.eventName }),
    // Reloads once the hold has ended.
    refresh: secondsLeft + 1,
    formSources: formSourcesOf(found, sessionSources),
    style: `.bar::before { animation: run-out ${secondsLeft}s linear forwards }
@keyframes run-out { from { transform: scaleX(${fractionLeft(found)}) } to { transform: scaleX(0) } }
${clockStyle(secondsLeft)}`,
    body: html`<section class="padded" aria-label="${translate(language, 'order.label')}">
${isDeclined && html`<p class="note" role="alert">${translate(language, 'pay.declined')}</p>`}
${name === 'sandbox' && sandboxNote(language)}
<div>
<p class="left"><time datetime="${expiresAt.toISOString()}">${translate(language, 'pay.heldUntil', { time })}</time>
<strong class="clock"><span>${timeLeft(language, secondsLeft)}</span></strong></p>
<div class="bar"></div>
</div>
<div>
<h2>${translate(language, 'order.tickets', { count: lines.length })}</h2>
<ol class="tickets">${lines.map((line) => ticketItem(language, line, currency))}</ol>
</div>
${sum(language, lines, found)}
</section>
<form method="post" id="order">
<button name="action" value="pay">${translate(language, 'pay.pay', { amount })}</button>
<button name="action" value="cancel" class="quiet">${translate(language, 'pay.cancel')}</button>
</form>`,
  })
}
