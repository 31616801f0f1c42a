import { calendarUrl } from './calendar.ts'
import { EventDocument, PaymentDocument, type PaymentQuery, type ShownEventFragment } from './documents.ts'
import { el, show } from './dom.ts'
import { ask, pause } from './gateway.ts'
import { findOrder, type Order } from './orders.ts'
import { hasText, money, text } from './texts.ts'

const undecided = new Set(['PENDING', 'PROCESSING'])
const lookEveryMs = 2_000

// Part of the money given back leaves the rest of it paid.
const statusOf = ({ payment }: PaymentQuery) =>
  payment?.status === 'PARTIALLY_REFUNDED' ? 'PAID' : (payment?.status ?? 'UNKNOWN')

function outcome(order: Order | null, found: PaymentQuery, event: ShownEventFragment | null = null): void {
  const known = statusOf(found)
  const status = hasText(`done.${known}`) ? known : 'UNKNOWN'
  const { payment } = found
  const isPaid = known === 'PAID'
  const title = text(`done.${status}`)
  const total = payment && money(payment.totalAmount)
  const next = order && !isPaid ? `/shop/events/${encodeURIComponent(order.eventId)}` : '/shop'
  show(
    `${title} · ${text('shop.name')}`,
    el(
      'section',
      { class: `notice done ${isPaid ? 'good' : ''}`, role: 'status' },
      el('h1', {}, title),
      order &&
        el('p', { class: 'lead' }, text('done.order', { count: order.tickets, event: order.eventName })),
      isPaid && total && el('p', {}, text('done.total', { total })),
      el('p', { class: 'soft' }, text(`done.${status}.text`)),
      isPaid && order && el('a', { href: `${order.url}?tickets` }, text('done.tickets')),
      isPaid &&
        event &&
        el('a', { href: calendarUrl(event), download: `${event.id}.ics` }, text('done.calendar')),
      undecided.has(known) && order && el('a', { href: order.url }, text('done.toPage')),
      el('a', { class: 'primary', href: next }, text(order && !isPaid ? 'done.backToEvent' : 'done.more')),
    ),
  )
}

/** Shows what became of a payment once the payment page has sent the buyer back. What the address says is
 *  not believed: the payment is read by the address of its page, which this tab remembers. */
export async function showDone(): Promise<void> {
  const paymentId = new URLSearchParams(location.search).get('payment_id') ?? ''
  const order = findOrder(paymentId)
  if (!order) return outcome(null, { payment: null })
  for (;;) {
    const found = await ask(PaymentDocument, { url: order.url })
    outcome(order, found)
    if (!undecided.has(statusOf(found))) {
      const { event } = await ask(EventDocument, { id: order.eventId })
      return outcome(order, found, event)
    }
    await pause(lookEveryMs)
  }
}
