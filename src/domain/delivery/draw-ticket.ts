import { setImmediate } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Sheet } from './find-sheets.ts'
import { trackCpu } from './yield-to-requests.ts'

// Loaded with the first ticket: a service that starts has nothing to draw yet.
const load = () => Promise.all([import('./draw-sheet.ts'), import('./load-fonts.ts')])

const oneAtATime = pLimit(1)

/** A ticket as a PDF of one page: what it is for, in the time of the place, whom it is for, and the code that is
 *  scanned at the door. Names are shown in whatever letters they are written. */
export const drawTicket = (sheet: Sheet): Promise<Buffer> =>
  oneAtATime(async () => {
    // Each takes the processor for some milliseconds without a pause. Whatever else has come is done before the next.
    await setImmediate()
    const [{ drawSheet }, { loadFonts }] = await load()
    const fonts = await loadFonts()
    return trackCpu(() => drawSheet(sheet, fonts))
  })
