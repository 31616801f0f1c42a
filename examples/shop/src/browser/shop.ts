import { el, root, show } from './dom.ts'
import { showDone } from './done.ts'
import { showEvent } from './event.ts'
import { showEvents } from './list.ts'
import { text } from './texts.ts'

// The shop: three views on one page, each with an address of its own. The address says which.

const view = (): Promise<void> => {
  const [, , kind, id] = location.pathname.split('/')
  if (kind === 'events' && id) return showEvent(decodeURIComponent(id))
  return kind === 'done' ? showDone() : showEvents()
}

/** Shows why a view cannot be shown, with a button that tries again and a link to all shows. */
function showFailure(error: unknown): void {
  const again = el('button', { type: 'button', class: 'primary' }, text('error.again'))
  again.addEventListener('click', () => location.reload())
  const reason = error instanceof Error ? error.message : text('error.other')
  const note = el('section', { class: 'notice', role: 'alert' }, el('h1', {}, text('error.title')))
  note.append(el('p', { class: 'soft' }, reason), again, el('a', { href: '/shop' }, text('event.back')))
  show(text('error.title'), note)
}

// The key is for pages of one origin: the same machine under another name is another one.
const { origin } = root.dataset
if (origin && origin !== location.origin) location.replace(origin + location.pathname + location.search)
else view().catch(showFailure)
