import {
  CheckoutDocument,
  QuoteDocument,
  type QuoteFragment,
  type RateFragment,
  type ShownEventFragment,
} from './documents.ts'
import { el, fill } from './dom.ts'
import { type Field, textField } from './fields.ts'
import { ask, explain, type Problem } from './gateway.ts'
import { saveOrder } from './orders.ts'
import { summaryOf } from './summary.ts'
import { language, money, text } from './texts.ts'
import { type TicketForm, ticketForm } from './ticket.ts'

// Long enough for a word to be typed, short enough to feel at once.
const quoteAfterMs = 250

/** Random text for an idempotency key. Unlike randomUUID it needs no secure page. */
const randomKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16)).join('-')

/** Opens the form of a checkout of a rate. `left` returns the places left, null if unlimited. Returns what
 *  closes the form. */
export function openOrder(
  place: HTMLElement,
  event: ShownEventFragment,
  rate: RateFragment,
  left: () => number | null,
): () => void {
  const min = rate.minPerCheckout
  const max = () => Math.max(min, Math.min(rate.maxPerCheckout, left() ?? rate.maxPerCheckout))
  const forms: TicketForm[] = []
  const list = el('div', { class: 'tickets' })
  const count = el('output', { 'aria-live': 'polite' })
  const countProblem = el('p', { class: 'note-below problem', role: 'alert' })
  const [fewer, further] = [
    el('button', { type: 'button', 'aria-label': text('form.fewer') }, '−'),
    el('button', { type: 'button', 'aria-label': text('form.more') }, '+'),
  ]
  const code = textField(text('form.code'), {
    autocomplete: 'off',
    maxlength: '100',
    autocapitalize: 'characters',
  })
  const quotePlace = el('div', { class: 'quote-place', 'aria-live': 'polite' })
  const problem = el('p', { class: 'problem', role: 'alert' })
  const submit = el('button', { class: 'primary' }, text('form.buy'))
  const form = el(
    'form',
    { class: 'order', novalidate: true, 'aria-label': text('form.title', { rate: rate.name }) },
    el('h2', {}, text('form.title', { rate: rate.name })),
    el(
      'div',
      { class: 'count', role: 'group', 'aria-label': text('form.count') },
      el('span', {}, text('form.count')),
      el('span', { class: 'stepper' }, fewer, count, further),
    ),
    countProblem,
    list,
    el('div', { class: 'pay' }, code.element, quotePlace, problem, submit),
  )

  function setCount(wanted: number): void {
    const next = Math.min(max(), Math.max(min, wanted))
    while (forms.length < next) forms.push(ticketForm(rate, event.location?.timezone ?? 'UTC', forms.length))
    forms.length = next
    list.replaceChildren(...forms.map(({ element }) => element))
    fill(count, String(next))
    fewer.disabled = next <= min
    further.disabled = next >= max()
    fill(countProblem)
  }

  const itemsOf = <Ticket>(tickets: Ticket[]) => [{ ticketRateId: rate.id, tickets }]
  const priceId = rate.currentPrice?.id ?? ''

  // Shows each problem where it is: at a field of a ticket, at the number of them, at the code, or below.
  function complain(problems: Problem[]): void {
    const rest: string[] = []
    let first: Field | null = null
    for (const one of problems) {
      // Of the one item: items.0.tickets.1.attendee.email.
      const [part, index, ...path] = (one.path ?? '').replace(/^items\.0\./, '').split('.')
      const ticket = part === 'tickets' && index !== undefined ? forms[Number(index)] : undefined
      const field = part === 'discountCode' ? code : (ticket?.fieldAt(path) ?? null)
      if (field) field.complain(explain(one))
      else if (part === 'tickets' && index === undefined) fill(countProblem, explain(one))
      else rest.push(explain(one))
      first ??= field
    }
    fill(problem, [...new Set(rest)].join(' '))
    first?.input.focus()
  }

  let shown: QuoteFragment | null = null
  let latest = 0
  async function quote(): Promise<void> {
    const turn = ++latest
    const tickets = forms.map((form) => form.readForQuote(priceId))
    const input = { items: itemsOf(tickets), discountCode: code.value() || null }
    const { quoteCheckout: answer } = await ask(QuoteDocument, { input })
    // A later quote has overtaken this one.
    if (turn !== latest || !answer) return
    shown = answer.__typename === 'CheckoutQuote' ? answer : null
    if (answer.__typename === 'Refused') {
      // The focus stays where the buyer types.
      for (const one of answer.errors)
        if (one.path === 'discountCode') code.complain(explain(one))
        else fill(one.path === 'items.0.tickets' ? countProblem : problem, explain(one))
      return fill(quotePlace)
    }
    fill(problem)
    fill(quotePlace, summaryOf(answer))
    const { total } = answer.amounts
    const isFree = Number(total.amount) === 0
    fill(submit, isFree ? text('form.free') : text('form.buyFor', { total: money(total) }))
  }

  let timer: ReturnType<typeof setTimeout> | undefined
  const quoteSoon = () => {
    clearTimeout(timer)
    timer = setTimeout(() => quote().catch((error: Error) => fill(problem, error.message)), quoteAfterMs)
  }

  // The key belongs to what is sent: a repeated press is the same checkout, a changed form is another one.
  let sent = { body: '', key: '' }
  async function buy(): Promise<void> {
    const [first = null] = forms
    const done = `${location.origin}/shop/done`
    const request = {
      items: itemsOf(forms.map((form) => form.read(priceId, first))),
      discountCode: code.value() || null,
      language,
      expectedTotal: shown?.amounts.total ?? null,
      redirectUrl: done,
      errorUrl: done,
    }
    const body = JSON.stringify(request)
    if (sent.body !== body) sent = { body, key: randomKey() }
    const input = { ...request, idempotencyKey: sent.key }
    const { checkout } = await ask(CheckoutDocument, { input })
    if (checkout?.__typename === 'Refused') {
      await quote()
      return complain(checkout.errors)
    }
    const { id, pageUrl: url } = checkout?.payment ?? { id: '', pageUrl: null }
    if (url === null) throw new Error(text('error.other'))
    saveOrder(id, { url, eventId: event.id, eventName: event.name, tickets: forms.length })
    location.assign(url)
  }

  form.addEventListener('submit', (submitted) => {
    submitted.preventDefault()
    fill(problem)
    const [wrong] = forms.flatMap((form) => form.check())
    if (wrong) return wrong.input.focus()
    submit.disabled = true
    form.setAttribute('aria-busy', 'true')
    buy()
      .catch((error: Error) => fill(problem, error.message))
      .finally(() => {
        submit.disabled = false
        form.removeAttribute('aria-busy')
      })
  })
  form.addEventListener('input', quoteSoon)
  const step = (by: number) => {
    setCount(forms.length + by)
    quoteSoon()
  }
  fewer.addEventListener('click', () => step(-1))
  further.addEventListener('click', () => step(1))
  setCount(min)
  fill(place, form)
  quoteSoon()
  return () => {
    clearTimeout(timer)
    latest++
  }
}
