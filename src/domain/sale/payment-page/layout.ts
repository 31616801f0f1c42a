import { type Html, html } from '../../../engine/http/html.ts'
import { formatStart, formatVenue } from '../../event/local-time.ts'
import type { Language } from '../../language/languages.ts'
import type { Page } from '../../language/page.ts'
import { translate } from '../../language/translate.ts'
import type { FoundPayment } from './find-payment.ts'

// A ticket: a coloured stub above a row of holes, and the order below.
const ticketStyle = `
.stub {
  position: relative; padding: clamp(1.5rem, 6vw, 2.25rem); color: #fff;
  background: linear-gradient(135deg, #2f2a6b, #5b2f8f 65%, #8a2f74); border-radius: 1.25rem 1.25rem 0 0;
}
.stub p { color: #fffd; text-wrap: pretty }
.stub h1 { margin-block: .35rem .9rem }
.stub .small { font-size: .8125rem; letter-spacing: .02em }
.stub .seller { margin-top: .9rem }
.stub .test {
  width: fit-content; margin-bottom: .9rem; padding: .2rem .7rem; border-radius: .5rem;
  background: #ffd84d; color: #1c1a22; font-weight: 700;
}
.stub::before, .stub::after {
  content: ''; position: absolute; bottom: -.7rem; width: 1.4rem; height: 1.4rem; border-radius: 50%; background: var(--ground);
}
.stub::before { left: -.7rem; clip-path: inset(0 0 0 50%) }
.stub::after { right: -.7rem; clip-path: inset(0 50% 0 0) }
.holes {
  position: relative; height: 8px; margin: -4px 1.25rem; background: radial-gradient(circle, var(--ground) 2.75px, #0000 3.25px) center / 14px 8px round;
}
h2 { font-size: 1rem; line-height: 1.3 }
h2.outcome { font-size: 1.375rem; letter-spacing: -.01em }
.padded { display: grid; gap: 1.25rem }
.left { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; margin-bottom: .5rem }
.bar { height: .3rem; border-radius: 1rem; background: var(--line); overflow: hidden }
.bar::before { content: ''; display: block; height: 100%; border-radius: inherit; background: var(--accent); transform-origin: left }
.tickets { list-style: none; display: grid; gap: .9rem; margin-top: .9rem }
.tickets li + li { border-top: 1px solid var(--line); padding-top: .9rem }
.row { display: flex; justify-content: space-between; gap: 1.5rem }
.row dd { white-space: nowrap; font-variant-numeric: tabular-nums }
.row.extra { color: var(--soft); font-size: .9375rem }
.total { border-top: 1px solid var(--line); padding-top: 1rem; font-size: 1.25rem; font-weight: 650 }
.note { padding: .75rem 1rem; border-radius: .75rem; background: var(--note); font-size: .9375rem }
form {
  position: sticky; bottom: 0; display: flex; flex-direction: row-reverse; gap: .5rem;
  padding: 1rem clamp(1.5rem, 6vw, 2.25rem) max(1rem, env(safe-area-inset-bottom));
  background: var(--card); border-top: 1px solid var(--line); border-radius: 0 0 1.25rem 1.25rem;
}
button {
  flex: 1; min-height: 3.25rem; padding: .6rem 1rem; border: 0; border-radius: .9rem; cursor: pointer;
  background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 650; font-variant-numeric: tabular-nums;
}
button:hover { filter: brightness(1.12) }
button.quiet { flex: none; background: none; color: var(--soft); font-weight: 500 }
.note button { display: block; min-height: 2.75rem; padding: 0; text-decoration: underline; text-underline-offset: .25em }
button.quiet:hover { color: var(--ink); filter: none; text-decoration: underline; text-underline-offset: .25em }
button:focus-visible { border-radius: .9rem }
@media (forced-colors: active) { button, main { border: 1px solid } .bar::before { background: CanvasText } }
`

// Coloured stub of the ticket: event, rate, time, place and seller.
function ticketStub(language: Language, found: FoundPayment): Html {
  const { mode, startDate, rateName, eventName, organizationName: organization } = found
  const place = formatVenue(found)
  return html`<header class="stub">
${mode === 'test' && html`<p class="test" role="note">${translate(language, 'test.mark')}</p>`}
<p class="small">${rateName}</p>
<h1>${eventName}</h1>
<p><time datetime="${startDate.toISOString()}">${formatStart(language, found)}</time></p>
${place !== '' && html`<p>${place}</p>`}
<p class="small seller">${translate(language, 'order.seller', { organization })}</p>
</header>
<div class="holes"></div>`
}

/** Lays out a page about a payment, which looks like a ticket. `body` goes below the stub. */
export const ticketPage = (found: FoundPayment, { language, style = '', body, ...page }: Page): Page => ({
  ...page,
  language,
  style: ticketStyle + style,
  body: html`<main>
${ticketStub(language, found)}
${body}
</main>
<footer>${translate(language, 'order.footer', { id: found.id })}</footer>`,
})
