import { EventsDocument, type ListedEventFragment } from './documents.ts'
import { el, fill, show } from './dom.ts'
import { ask } from './gateway.ts'
import { money, shortDate, text } from './texts.ts'

/** Address of the view of an event. */
const eventUrl = (id: string) => `/shop/events/${encodeURIComponent(id)}`

/** Lowest price, with its fee, at which an event can be bought now, or that it cannot. */
function offerOf({ priceRange }: ListedEventFragment): HTMLElement {
  if (!priceRange) return el('p', { class: 'offer none' }, text('list.none'))
  if (Number(priceRange.min.amount) === 0) return el('p', { class: 'offer' }, text('list.free'))
  return el('p', { class: 'offer' }, text('list.from', { price: money(priceRange.min) }))
}

function card(event: ListedEventFragment): HTMLElement {
  const { id, name, imageUrl, location, startDate, displayDate } = event
  const day = shortDate(displayDate ?? startDate, location?.timezone ?? 'UTC')
  return el(
    'li',
    {},
    el(
      'a',
      { class: 'card', href: eventUrl(id) },
      // The poster says nothing that the text beside it does not.
      imageUrl
        ? el('img', { src: imageUrl, alt: '', width: 600, height: 800, loading: 'lazy', class: 'poster' })
        : el('span', { class: 'poster' }),
      el('p', { class: 'when' }, [day, location?.city].filter(Boolean).join(' · ')),
      el('h2', {}, name),
      offerOf(event),
    ),
  )
}

/** Shows the events that can be visited, with a search and further pages. */
export async function showEvents(): Promise<void> {
  const search = new URLSearchParams(location.search).get('search')?.trim() ?? ''
  const list = el('ul', { class: 'events' })
  const more = el('button', { type: 'button', class: 'primary more' }, text('list.more'))
  let after: string | null = null

  async function load(): Promise<void> {
    const { events } = await ask(EventsDocument, { search: search || null, after })
    const { nodes = [], pageInfo } = events ?? {}
    const first = list.children.length
    list.append(...nodes.map(card))
    after = pageInfo?.endCursor ?? null
    more.hidden = !pageInfo?.hasNextPage
    // Focus goes on where the new events begin; the button may be gone.
    if (first > 0) list.children[first]?.querySelector('a')?.focus()
  }

  await load()
  const problem = el('p', { class: 'problem', role: 'alert' })
  more.addEventListener('click', () => {
    more.disabled = true
    fill(problem)
    load()
      .catch((error: Error) => fill(problem, error.message))
      .finally(() => {
        more.disabled = false
      })
  })
  const field = el('input', {
    type: 'search',
    name: 'search',
    value: search,
    'aria-label': text('list.search'),
    placeholder: text('list.search'),
    maxlength: 100,
  })
  const button = el('button', { class: 'primary' }, text('list.find'))
  show(
    text('list.title'),
    el(
      'header',
      { class: 'hero' },
      el('h1', {}, text('list.heading')),
      el('form', { role: 'search', action: '/shop', class: 'search' }, field, button),
    ),
    list.children.length > 0
      ? list
      : el('p', { class: 'notice', role: 'status' }, text('list.empty', { search })),
    problem,
    more,
  )
}
