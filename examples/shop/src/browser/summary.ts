import type { QuoteFragment } from './documents.ts'
import { el } from './dom.ts'
import { money, text } from './texts.ts'

const sumOf = <Item>(items: Item[], amount: (item: Item) => number) =>
  items.reduce((sum, item) => sum + amount(item), 0)

/** Renders a quote: tickets by price, what is added and taken off, and the total. */
export function summaryOf({ tickets, currency, ...quote }: QuoteFragment): HTMLElement {
  const row = (name: string, amount: number, kind = '') =>
    el('div', { class: `row ${kind}` }, el('dt', {}, name), el('dd', {}, money(amount, currency)))
  const extra = (name: string, amount: number) => (amount === 0 ? null : row(name, amount, 'extra'))
  const byPrice = new Map<string, typeof tickets>()
  for (const ticket of tickets)
    byPrice.set(ticket.price.id, [...(byPrice.get(ticket.price.id) ?? []), ticket])
  const prices = [...byPrice.values()].map((same) =>
    row(
      `${same.length} × ${same[0]?.price.name}`,
      sumOf(same, ({ price }) => price.price),
    ),
  )
  return el(
    'div',
    { class: 'quote' },
    el(
      'dl',
      {},
      ...prices,
      extra(
        text('quote.supplements'),
        sumOf(tickets, (ticket) => ticket.totalSupplements),
      ),
      extra(text('quote.discount'), -quote.totalDiscount),
      extra(
        text('quote.fees'),
        sumOf(tickets, (ticket) => ticket.totalFees),
      ),
      extra(
        text('quote.warranty'),
        sumOf(tickets, (ticket) => ticket.totalWarranty),
      ),
      row(text('quote.total'), quote.totalAmount, 'total'),
    ),
    quote.conditionsChanged &&
      el('p', { class: 'soft' }, text('quote.changed', { name: tickets[0]?.price.name ?? '' })),
  )
}
