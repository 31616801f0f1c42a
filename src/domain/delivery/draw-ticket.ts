import { setImmediate } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Sheet } from './find-sheets.ts'
import { trackCpu } from './yield-to-requests.ts'

// Loaded on the first ticket, to keep startup fast.
const load = () => Promise.all([import('./draw-sheet.ts'), import('./load-fonts.ts')])

const oneAtATime = pLimit(1)

/** Draws a ticket as a one-page PDF: the event with its local time, the attendee, and the code to scan at the
 *  door. Names may be in any script. */
export const drawTicket = (sheet: Sheet): Promise<Buffer> =>
  oneAtATime(async () => {
    // Each ticket blocks the event loop for some milliseconds, so pending requests run before the next one.
    await setImmediate()
    const [{ drawSheet }, { loadFonts }] = await load()
    const fonts = await loadFonts()
    return trackCpu(() => drawSheet(sheet, fonts))
  })
