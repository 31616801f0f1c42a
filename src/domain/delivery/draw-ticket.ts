import { performance } from 'node:perf_hooks'
import { setImmediate, setTimeout } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { TicketDocument } from './find-documents.ts'

// Share of time that requests may use before deliveries pause. A pause is four times as long as the drawing before it, a
// tenth of a second at most, so that paid tickets go out while people buy: deliveries have a fifth of the time of a
// process, however busy it is.
const maxBusy = 0.6
const pauses = { perDrawing: 4, minMs: 20, maxMs: 100 }
// Shorter intervals are too noisy to measure.
const minMilliseconds = 50

// Milliseconds of drawing, which do not count as busy.
let worked = 0
let lastSeen = { loop: performance.eventLoopUtilization(), worked }

/** Pauses if requests kept the process busy since the last call: buyers wait for their checkouts. */
export async function yieldToRequests(): Promise<void> {
  const loop = performance.eventLoopUtilization()
  const { active, idle } = performance.eventLoopUtilization(loop, lastSeen.loop)
  if (active + idle < minMilliseconds) return
  const drawn = worked - lastSeen.worked
  lastSeen = { loop, worked }
  if ((active - drawn) / (active + idle) <= maxBusy) return
  await setTimeout(Math.min(pauses.maxMs, Math.max(pauses.minMs, drawn * pauses.perDrawing)))
}

// Loaded on the first ticket, to keep startup fast.
const load = () => Promise.all([import('./draw-document.ts'), import('./load-fonts.ts')])

const oneAtATime = pLimit(1)

/** Draws a ticket as a one-page PDF: the event with its local time, the attendee, and the code to scan at the
 *  door. Names may be in any script. */
export const drawTicket = (document: TicketDocument): Promise<Buffer> =>
  oneAtATime(async () => {
    // Each ticket blocks the event loop for some milliseconds, so pending requests run before the next one.
    await setImmediate()
    const [{ drawDocument }, { loadFonts }] = await load()
    const fonts = await loadFonts()
    const begun = performance.now()
    try {
      return drawDocument(document, fonts)
    } finally {
      worked += performance.now() - begun
    }
  })
