import type { AmountFragment, QuoteFragment } from './documents.ts'
import { el } from './dom.ts'
import { money, text } from './texts.ts'

type Ticket = QuoteFragment['items'][number]['tickets'][number]

// Tickets of one price, whose amounts are of one currency.
function sumOf(tickets: Ticket[]): AmountFragment {
  const { currency = '' } = tickets[0]?.price.price ?? {}
  const sum = tickets.reduce((sum, { price }) => sum + Number(price.price.amount), 0)
  return { amount: String(sum), currency }
}

/** Renders a quote: tickets by price, what is added and taken off, and the total. */
export function summaryOf({ items, amounts, conditionsChanged }: QuoteFragment): HTMLElement {
  const row = (name: string, amount: AmountFragment, kind = '') =>
    el('div', { class: `row ${kind}` }, el('dt', {}, name), el('dd', {}, money(amount)))
  const extra = (name: string, amount: AmountFragment) =>
    Number(amount.amount) === 0 ? null : row(name, amount, 'extra')
  const { discount, supplements, fees, warranty, total } = amounts
  const tickets = items.flatMap((item) => item.tickets)
  const byPrice = new Map<string, Ticket[]>()
  for (const ticket of tickets)
    byPrice.set(ticket.price.id, [...(byPrice.get(ticket.price.id) ?? []), ticket])
  return el(
    'div',
    { class: 'quote' },
    el(
      'dl',
      {},
      ...[...byPrice.values()].map((same) => row(`${same.length} × ${same[0]?.price.name}`, sumOf(same))),
      extra(text('quote.supplements'), supplements),
      extra(text('quote.discount'), { ...discount, amount: `-${discount.amount}` }),
      extra(text('quote.fees'), fees),
      extra(text('quote.warranty'), warranty),
      row(text('quote.total'), total, 'total'),
    ),
    conditionsChanged &&
      el('p', { class: 'soft' }, text('quote.changed', { name: tickets[0]?.price.name ?? '' })),
  )
}
