import type { PlacesFragment, PriceFragment, RateFragment, ShownEventFragment } from './documents.ts'
import { el, fill } from './dom.ts'
import { longDate, money, shortDate, text } from './texts.ts'

/** Card of a ticket rate: a radio button with all that decides between rates. */
type RateCard = {
  element: HTMLElement
  /** Places left; null if unlimited. */
  left(): number | null
  update(places: PlacesFragment): void
}

const isOver = ({ validUntil }: PriceFragment) => validUntil !== null && new Date(validUntil) <= new Date()

/** Steps of the price in their order: those that are over, the current one, and those to come. */
function stepsOf({ prices, currentPrice }: RateFragment, zone: string): HTMLElement | null {
  if (prices.length < 2) return null
  const current = prices.findIndex(({ id }) => id === currentPrice?.id)
  const steps = prices.map((price, index) => {
    const amount = `${price.name} ${money(price.total)}`
    if (index === current) return el('li', { class: 'now', 'aria-current': 'step' }, amount)
    if (isOver(price) || index < current) return el('li', {}, el('s', {}, amount))
    const before = prices[index - 1]
    const from = before?.validUntil && text('rate.fromDay', { day: shortDate(before.validUntil, zone) })
    return el('li', {}, [amount, from].filter(Boolean).join(' '))
  })
  return el('ol', { class: 'steps' }, ...steps)
}

/** Reason why a rate cannot be bought; null if it can. */
function reasonOf({ status, validFrom }: PlacesFragment, zone: string): string | null {
  if (status === 'ON_SALE') return null
  if (status === 'SOLD_OUT') return text('rate.soldOut')
  if (status === 'NOT_YET' && validFrom) return text('rate.opens', { date: longDate(validFrom, zone) })
  return text(status === 'ENDED' ? 'rate.ended' : 'rate.closed')
}

// Places of a rate that runs out.
const few = 20

/** Creates the card of a rate. */
export function rateCard(rate: RateFragment, event: ShownEventFragment): RateCard {
  const zone = event.location?.timezone ?? 'UTC'
  const radio = el('input', { type: 'radio', name: 'rate', value: rate.id })
  const number = el('strong', { class: 'left' })
  const { currentPrice: price } = rate
  const label = el(
    'span',
    { class: 'what' },
    el('strong', { class: 'name' }, rate.name),
    rate.admits > 1 && el('span', { class: 'soft' }, text('rate.admits', { count: rate.admits })),
    rate.minPerCheckout > 1 &&
      el('span', { class: 'soft' }, text('rate.min', { count: rate.minPerCheckout })),
    price?.includes && el('span', { class: 'soft' }, price.includes),
    price?.additionalInfo && el('span', { class: 'soft' }, price.additionalInfo),
    stepsOf(rate, zone),
  )
  const cost = price && (Number(price.total.amount) === 0 ? text('list.free') : money(price.total))
  const element = el(
    'label',
    { class: 'rate', 'data-rate': rate.id },
    radio,
    label,
    el('span', { class: 'cost' }, cost && el('strong', { class: 'price' }, cost), number),
  )
  let known: number | null | undefined

  const update: RateCard['update'] = (places) => {
    const { available: left } = places.availability
    const reason = reasonOf(places, zone)
    const available = reason === null
    radio.disabled = !available
    element.classList.toggle('off', !available)
    element.classList.toggle('few', available && left !== null && left <= few)
    fill(number, reason ?? (left === null ? text('rate.unlimited') : text('rate.left', { count: left })))
    if (known !== undefined && known !== left) {
      number.classList.remove('moved')
      // The animation begins anew only after a frame without it.
      requestAnimationFrame(() => requestAnimationFrame(() => number.classList.add('moved')))
    }
    known = left
  }
  update(rate)
  return { element, left: () => known ?? null, update }
}
