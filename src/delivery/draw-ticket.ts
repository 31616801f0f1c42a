import { buffer } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import pLimit from 'p-limit'
import PDFDocument from 'pdfkit'
import { create } from 'qrcode'
import { localStart, placeOf } from '../event/local-time.ts'
import type { Sheet } from './find-sheets.ts'
import { type Fonts, loadFonts } from './load-fonts.ts'
import { laidText, type Style, settable } from './set-text.ts'

type Document = PDFKit.PDFDocument

// Points. A sheet of A5 fills a phone, and half a sheet of paper.
const page = { width: 420, height: 595 }
const margin = 34
const width = page.width - 2 * margin
const codeWidth = 196
// What a scanner needs of white around a code, in modules.
const quietZone = 4

const ink = '#1c1a22'
const soft = '#645f6b'

// What a text is set in, and what is left free below it.
type Line = { text: string; style: Style; gap?: number; align?: 'left' | 'center' }
/** Lines one below the other: how high they are, and what sets them from `top` on. */
type Block = { height: number; set(doc: Document, top: number): void }

function laidLines(lines: Line[]): Block {
  const laid = lines.map(({ text, style, gap = 0, align }) => {
    const { height, set } = laidText(text, style, width, align)
    return { height: height + gap, set }
  })
  return {
    height: laid.reduce((sum, { height }) => sum + height, 0),
    set(doc, top) {
      let y = top
      for (const { height, set } of laid) {
        set(doc, margin, y)
        y += height
      }
    },
  }
}

function drawStub(doc: Document, fonts: Fonts, { event, location, organizationName }: Sheet): number {
  const plain = (...sizes: Style['sizes']): Style => ({
    color: '#ffffff',
    faces: fonts.regular,
    sizes,
    most: 2,
  })
  const name: Style = { color: '#ffffff', faces: fonts.bold, sizes: [25, 21, 17, 14], most: 3 }
  const lines = laidLines([
    { text: organizationName, style: plain(10), gap: 4 },
    { text: event.name, style: name, gap: 8 },
    { text: localStart(event, location), style: plain(12) },
    { text: placeOf(location), style: plain(12), gap: 24 },
  ])
  const top = 26
  const height = top + lines.height
  const ground = doc.linearGradient(0, 0, page.width, height)
  ground.stop(0, '#2f2a6b').stop(0.65, '#5b2f8f').stop(1, '#8a2f74')
  doc.rect(0, 0, page.width, height).fill(ground)
  lines.set(doc, top)
  // Where it is torn off.
  doc.circle(0, height, 11).circle(page.width, height, 11).fill('#ffffff')
  doc
    .save()
    .moveTo(24, height)
    .lineTo(page.width - 24, height)
    .lineWidth(4)
    .lineCap('round')
    .dash(0.01, { space: 10 })
    .stroke('#ffffff')
    .restore()
  return height
}

/** The code as squares of one path, which scans at any size, and below it as text. */
function drawCode(doc: Document, fonts: Fonts, code: string, y: number): number {
  const { modules } = create(code, { errorCorrectionLevel: 'M' })
  const side = codeWidth / (modules.size + 2 * quietZone)
  const left = (page.width - codeWidth) / 2 + quietZone * side
  const top = y + quietZone * side
  for (let row = 0; row < modules.size; row++)
    for (let column = 0; column < modules.size; column++)
      if (modules.get(row, column)) doc.rect(left + column * side, top + row * side, side, side)
  doc.fill('#000000')
  const style: Style = { faces: fonts.bold, sizes: [15, 12, 9, 7], color: ink, most: 2 }
  const text = laidLines([{ text: code, style, align: 'center' }])
  const below = y + codeWidth - 6
  text.set(doc, below)
  return below + text.height
}

function factLines(fonts: Fonts, { ticket, rateName, priceName }: Sheet): Line[] {
  const label: Style = { faces: fonts.regular, sizes: [8.5], color: soft, most: 1 }
  const value: Style = { faces: fonts.bold, sizes: [13, 11, 9], color: ink, most: 2 }
  const supplements = ticket.supplements.map(({ label }) => label).join(', ')
  const facts = {
    Name: ticket.fullName,
    Ticket: `${rateName} · ${priceName}`,
    ...(supplements && { With: supplements }),
  }
  return Object.entries(facts).flatMap(([name, text]) => [
    { text: name, style: label },
    { text, style: value, gap: 6 },
  ])
}

async function draw(sheet: Sheet): Promise<Buffer> {
  const { ticket, event, organizationName } = sheet
  const fonts = await loadFonts()
  const doc = new PDFDocument({
    size: [page.width, page.height],
    margin: 0,
    // None of the standard fonts, which lack most letters.
    font: '',
    lang: 'en',
    info: {
      Title: settable(`${event.name}: ticket ${ticket.position + 1}`),
      Author: settable(organizationName),
    },
  })
  const drawn = buffer(doc)
  for (const { name, font } of [...fonts.regular, ...fonts.bold]) doc.registerFont(name, font as never)
  const stub = drawStub(doc, fonts, sheet)
  const code = drawCode(doc, fonts, ticket.qrCode, stub + 14)
  doc.rect(margin, code + 10, width, 0.75).fill('#dcd7ce')
  laidLines(factLines(fonts, sheet)).set(doc, code + 20)
  const foot: Style = { faces: fonts.regular, sizes: [7.5], color: soft, most: 1 }
  setLines(
    doc,
    [{ text: `Order ${ticket.paymentId}  ·  Ticket ${ticket.id}`, style: foot }],
    page.height - 30,
  )
  doc.end()
  return drawn
}

const oneAtATime = pLimit(1)

/** A ticket as a PDF of one page: what it is for, in the time of the place, whom it is for, and the code that is scanned at
 *  the door. Names are shown in whatever letters they are written. */
export const drawTicket = (sheet: Sheet): Promise<Buffer> =>
  oneAtATime(async () => {
    // Each takes the processor for some milliseconds without a pause. Whatever else has come is done before the next.
    await setImmediate()
    return draw(sheet)
  })
