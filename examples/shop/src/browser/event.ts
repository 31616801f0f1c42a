import { EventDocument, PlacesDocument, type ShownEventFragment } from './documents.ts'
import { el, fill, show } from './dom.ts'
import { ask } from './gateway.ts'
import { follow } from './live.ts'
import { openOrder } from './order.ts'
import { rateCard } from './rate.ts'
import { longDate, text } from './texts.ts'

const fact = (name: string, value: string | null) =>
  value && el('div', {}, el('dt', {}, name), el('dd', {}, value))

function about({ name, startDate, displayDate, location: place, ...event }: ShownEventFragment): HTMLElement {
  const where = [place?.name, place?.address, place?.city].filter(Boolean).join(', ')
  const start = longDate(displayDate ?? startDate, place?.timezone ?? 'UTC')
  return el(
    'header',
    { class: 'about' },
    el('a', { href: '/shop', class: 'back' }, text('event.back')),
    el('h1', {}, name),
    el('p', { class: 'when' }, el('time', { datetime: startDate }, start)),
    where && el('p', { class: 'soft' }, where),
    event.description && el('p', { class: 'lead' }, event.description),
    el(
      'dl',
      { class: 'facts' },
      fact(text('event.artists'), event.artists.map((artist) => artist.name).join(', ')),
      fact(
        text('event.age'),
        event.minimumAge === null ? null : text('event.fromAge', { age: event.minimumAge }),
      ),
      fact(text('event.outfit'), event.outfit),
      fact(text('event.organizer'), event.organization.name),
    ),
  )
}

/** Dot and word that say whether the numbers move by themselves now. */
function liveSign() {
  const sign = el('span', { class: 'live', role: 'status' }, text('live.connecting'))
  return {
    sign,
    tell(isLive: boolean): void {
      const word = text(isLive ? 'live.on' : 'live.waiting')
      // A status is read out when it changes, so that it is set only then.
      if (sign.textContent !== word) fill(sign, word)
      sign.classList.toggle('on', isLive)
    },
  }
}

/** Shows an event with its ticket rates. The places left follow the gateway, whoever buys. */
export async function showEvent(id: string): Promise<void> {
  const { event } = await ask(EventDocument, { id })
  if (!event) throw new Error(text('event.missing'))
  const { sign, tell } = liveSign()
  const cards = new Map(event.ticketRates.map((rate) => [rate.id, rateCard(rate, event)]))
  const order = el('div', { class: 'order-place' })
  const rates = el(
    'fieldset',
    { class: 'rates' },
    el('legend', {}, el('span', {}, text('event.tickets')), sign),
    ...[...cards.values()].map(({ element }) => element),
  )
  let leave = () => {}
  rates.addEventListener('change', ({ target }) => {
    const rate = event.ticketRates.find(
      (rate) => target instanceof HTMLInputElement && rate.id === target.value,
    )
    if (!rate) return
    leave()
    leave = openOrder(order, event, rate, () => cards.get(rate.id)?.left() ?? null)
  })
  const poster = event.imageUrl
    ? el('img', {
        src: event.imageUrl,
        alt: text('event.poster', { name: event.name }),
        width: 600,
        height: 800,
      })
    : null
  const aside = el('div', { class: 'poster' }, poster)
  show(
    `${event.name} · ${text('shop.name')}`,
    el('article', { class: 'event' }, aside, about(event), rates, order),
  )

  const page = new AbortController()
  addEventListener('pagehide', () => page.abort())
  // A page that comes back from the browser's cache has old numbers and no stream.
  addEventListener('pageshow', (shown) => shown.persisted && location.reload())
  await follow(
    PlacesDocument,
    { eventId: id },
    {
      onData: ({ ticketRates: places }) => cards.get(places.id)?.update(places),
      onState: tell,
      signal: page.signal,
    },
  )
}
