import { buffer } from 'node:stream/consumers'
import PDFDocument from 'pdfkit'
import { create } from 'qrcode'
import { formatStart, formatVenue } from '../event/local-time.ts'
import type { Language } from '../language/languages.ts'
import type { PlainKey } from '../language/messages.ts'
import { translate } from '../language/translate.ts'
import { languageOfDocument, priceOf, type TicketDocument } from './find-documents.ts'
import type { Fonts } from './load-fonts.ts'
import { layOutText, normalizeText, type Style } from './set-text.ts'

type Document = PDFKit.PDFDocument

// Points: A5, which fills a phone screen or half a sheet of A4.
const page = { width: 420, height: 595 }
const margin = 34
const width = page.width - 2 * margin
const codeWidth = 196
// White margin that a scanner needs around a code, in modules.
const quietZone = 4

const ink = '#1c1a22'
const soft = '#645f6b'

/** A text, its style, and the space below it in points. */
type Line = { text: string; style: Style; gap?: number; align?: 'start' | 'center' }

/** Lays out lines below each other. Returns their total height, and a function that draws them from `top` down. */
function layOutLines(lines: Line[]) {
  let height = 0
  const blocks = lines.map(({ text, style, gap = 0, align }) => {
    const block = { y: height, ...layOutText(text, style, width, align) }
    height += block.height + gap
    return block
  })
  return {
    height,
    set(doc: Document, top: number) {
      for (const { y, set } of blocks) set(doc, margin, top + y)
    },
  }
}

function stubLines(language: Language, fonts: Fonts, document: TicketDocument): Line[] {
  const color = '#ffffff'
  const plain = (size: number): Style => ({ color, faces: fonts.regular, sizes: [size], maxLines: 2 })
  const name: Style = { color, faces: fonts.bold, sizes: [25, 21, 17, 14], maxLines: 3 }
  const mark: Style = { color: '#ffd84d', faces: fonts.bold, sizes: [16, 13], maxLines: 2 }
  return [
    ...(document.mode === 'test' ? [{ text: translate(language, 'test.mark'), style: mark, gap: 8 }] : []),
    { text: document.organizationName, style: plain(10), gap: 4 },
    { text: document.eventName, style: name, gap: 8 },
    { text: formatStart(language, document), style: plain(12) },
    { text: formatVenue(document), style: plain(12), gap: 24 },
  ]
}

function factLines(language: Language, fonts: Fonts, document: TicketDocument): Line[] {
  const { fullName, rateName, priceName } = document
  const label: Style = { faces: fonts.regular, sizes: [8.5], color: soft, maxLines: 1 }
  const value: Style = { faces: fonts.bold, sizes: [13, 11, 9], color: ink, maxLines: 2 }
  const supplements = document.supplements.map(({ label }) => label).join(', ')
  const fact = (name: PlainKey, text: string): Line[] => [
    { text: translate(language, name), style: label },
    { text, style: value, gap: 6 },
  ]
  return [
    ...fact('document.name', fullName),
    ...fact('document.ticket', `${rateName} · ${priceName} · ${priceOf(language, document)}`),
    ...(supplements ? fact('document.with', supplements) : []),
  ]
}

/** Draws the background of the stub and its perforated edge. */
function drawStub(doc: Document, height: number): void {
  const ground = doc.linearGradient(0, 0, page.width, height)
  ground.stop(0, '#2f2a6b').stop(0.65, '#5b2f8f').stop(1, '#8a2f74')
  doc.rect(0, 0, page.width, height).fill(ground)
  doc.circle(0, height, 11).circle(page.width, height, 11).fill('#ffffff')
  doc.moveTo(24, height).lineTo(page.width - 24, height)
  doc.save().lineWidth(4).lineCap('round').dash(0.01, { space: 10 }).stroke('#ffffff').restore()
}

/** Draws the QR code as squares of one vector path, which scans at any size. */
function drawCode(doc: Document, code: string, y: number): void {
  const { modules } = create(code, { errorCorrectionLevel: 'M' })
  const side = codeWidth / (modules.size + 2 * quietZone)
  const left = (page.width - codeWidth) / 2 + quietZone * side
  const top = y + quietZone * side
  for (let row = 0; row < modules.size; row++)
    for (let column = 0; column < modules.size; column++)
      if (modules.get(row, column)) doc.rect(left + column * side, top + row * side, side, side)
  doc.fill('#000000')
}

function open(language: Language, fonts: Fonts, document: TicketDocument, height: number): Document {
  const { eventName: event, position, organizationName } = document
  const title = translate(language, 'document.title', { event, number: position + 1 })
  const doc = new PDFDocument({
    size: [page.width, height],
    margin: 0,
    // No standard font, because those lack most letters.
    font: '',
    lang: language,
    info: { Title: normalizeText(title), Author: normalizeText(organizationName) },
  })
  for (const { name, font } of [...fonts.regular, ...fonts.bold]) doc.registerFont(name, font as never)
  return doc
}

/** Draws a ticket as a PDF, in the language of its attendee. Blocks the event loop for some milliseconds:
 *  use `drawTicket`. */
export function drawDocument(document: TicketDocument, fonts: Fonts): Promise<Buffer> {
  const { qrCode, paymentId, id } = document
  const language = languageOfDocument(document)
  const stub = layOutLines(stubLines(language, fonts, document))
  const codeStyle: Style = { faces: fonts.bold, sizes: [15, 12, 9, 7], color: ink, maxLines: 2 }
  const code = layOutLines([{ text: qrCode, style: codeStyle, align: 'center' }])
  const facts = layOutLines(factLines(language, fonts, document))
  const footStyle: Style = { faces: fonts.regular, sizes: [7.5], color: soft, maxLines: 1 }
  const footText = translate(language, 'document.footer', { order: paymentId, ticket: id })
  const foot = layOutLines([{ text: footText, style: footStyle }])
  const stubHeight = 26 + stub.height
  const codeTop = stubHeight + 14
  const codeTextTop = codeTop + codeWidth - 6
  const ruleTop = codeTextTop + code.height + 10
  const factsTop = ruleTop + 10
  // Long texts make the page longer.
  const height = Math.max(page.height, factsTop + facts.height + 40)
  const doc = open(language, fonts, document, height)
  const drawn = buffer(doc)
  drawStub(doc, stubHeight)
  stub.set(doc, 26)
  drawCode(doc, qrCode, codeTop)
  code.set(doc, codeTextTop)
  doc.rect(margin, ruleTop, width, 0.75).fill('#dcd7ce')
  facts.set(doc, factsTop)
  foot.set(doc, height - 30)
  doc.end()
  return drawn
}
