import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import jsqr from 'jsqr'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buyDeliverable, deliveryCatalogue } from '../support/deliveries.ts'
import { sharedSale } from '../support/sale.ts'

// The ticket document as rendered by poppler. Its code is read with another library than the one that drew
// it.

const run = promisify(execFile)
// The types of this package treat the module itself as its default export.
const readCode = jsqr as unknown as typeof jsqr.default

let folder: string
const sale = sharedSale(deliveryCatalogue)
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-pdf-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Buys a ticket and renders its document. Returns the code as scanned, the text and the fonts. */
async function printed(entry: Record<string, unknown>, more: Record<string, unknown> = {}) {
  const { tickets } = await buyDeliverable(sale, [entry], more)
  const [ticket] = tickets
  const query = 'query ($id: ID!) { ticket(id: $id) { documentUrl } }'
  const { data } = await sale.graphql<{ ticket: { documentUrl: string } }>(
    query,
    { id: ticket?._id },
    sale.channel,
  )
  const document = await sale.rest('GET', new URL(data?.ticket.documentUrl ?? '').pathname)
  const file = join(folder, `${ticket?._id}.pdf`)
  await writeFile(file, document.rawPayload)
  const [raw, listed, info] = await Promise.all([
    run('pdftotext', ['-raw', file, '-']),
    run('pdffonts', [file]),
    run('pdfinfo', [file]),
    run('pdftoppm', ['-r', '100', '-png', '-singlefile', file, file]),
  ])
  const { data: pixels, width, height } = PNG.sync.read(await readFile(`${file}.png`))
  return {
    code: ticket?.qr_code,
    // Dark on light, as every scanner reads it.
    scanned: readCode(new Uint8ClampedArray(pixels), width, height, { inversionAttempts: 'dontInvert' })
      ?.data,
    text: raw.stdout.replace(/\s+/g, ' '),
    fonts: listed.stdout.split('\n').slice(2).filter(Boolean),
    pages: info.stdout.match(/^Pages: +(\d+)$/m)?.[1],
  }
}

test('the code scans, and the text is complete', async () => {
  const { code, scanned, text, pages, fonts } = await printed({ full_name: 'Ana Núñez' })
  expect(scanned).toBe(code)
  expect(pages).toBe('1')
  for (const told of [
    'Noche de Ñandú & <friends>',
    'Sunday, 12 July 2099, 00:30 CEST',
    'Sala Ñ, Gran Vía, 1, Madrid',
    'Entrance · Early · €22.00',
    'Ana Núñez',
    code,
  ])
    expect(text).toContain(told)
  // Fonts must be embedded, so that the document looks the same everywhere.
  for (const font of fonts) expect(font).toMatch(/ yes yes yes /)
})

test.each([
  [
    'de',
    ['Sonntag, 12. Juli 2099, 00:30 MESZ', 'Dazu Cloakroom', 'Bestellung pay_'],
    ['Order', 'Sunday', 'With'],
  ],
  [
    'es',
    [
      'domingo, 12 de julio de 2099, 00:30 CEST',
      'Entrada Entrance · Early',
      'Nombre Ana Núñez',
      'Pedido pay_',
    ],
    ['Order', 'Sunday', 'Ticket'],
  ],
])('a ticket in %s scans, and its text is in that language', async (language, told, untold) => {
  const entry = { full_name: 'Ana Núñez', supplements: [{ supplement_id: 'sup_1' }] }
  const { code, scanned, text, pages, fonts } = await printed(entry, { language })
  expect(scanned).toBe(code)
  expect(pages).toBe('1')
  for (const part of told) expect(text).toContain(part)
  for (const part of untold) expect(text).not.toContain(part)
  expect(fonts.length).toBeGreaterThan(0)
})

test.each([
  ['Polish', 'Łukasz Żółć'],
  ['Chinese', '李小明'],
  ['Russian', 'Дмитрий Щукин'],
  ['Greek', 'Ωμέγα Ψαρράς'],
  ['Vietnamese', 'Nguyễn Thị Hương'],
  ['Turkish', 'Işıl Güneş'],
  ['Korean', '김철수'],
  ['Thai', 'สมชาย'],
  ['letters and combining accents', 'Ana Nu\u0301n\u0303ez'],
])('a name in %s is rendered correctly', async (_name, full_name) => {
  const { scanned, code, text } = await printed({ full_name })
  expect(text).toContain(full_name.normalize('NFC'))
  expect(scanned).toBe(code)
})

// Words of a line as they are read, without marks of direction and without forms of letters.
const wordsOf = (text: string) => text.replace(/[\u200c-\u202e]/g, '').normalize('NFKC')

test.each([
  ['Hebrew', 'דוד בן־גוריון (Smith) 12', ['דוד', 'בן־גוריון'], 'NotoSansHebrew'],
  ['Arabic', 'محمد الأحمد (John) ٢٠٢٧', ['محمد', 'الأحمد', '٢٠٢٧'], 'Vazirmatn'],
  ['Persian', 'می\u200cخواهم پگاه ۱۴۰۶', ['خواهم', 'پگاه', '۱۴۰۶'], 'Vazirmatn'],
  ['Japanese', '𠮷田 髙橋ライブ', ['𠮷田', '髙橋ライブ'], 'NotoSansJP'],
])('a name in %s is set in its own letters, in reading order', async (_name, full_name, words, font) => {
  const { scanned, code, text, fonts } = await printed({ full_name })
  for (const word of words) expect(wordsOf(text)).toContain(word)
  expect(fonts.join()).toContain(font)
  expect(fonts.join()).not.toContain('nifont')
  expect(scanned).toBe(code)
})

test('characters without a glyph are left out or shown as unknown', async () => {
  const { text } = await printed({ full_name: 'Ana 🎉 \u{20000}田' })
  expect(text).toContain('Ana \ufffd田')
})

test('a channel’s own code of the maximum length scans', async () => {
  const qr_code = `https://door.example/?t=${'x7_Y'.repeat(10)}`
  const { scanned } = await printed({ qr_code })
  expect(scanned).toBe(qr_code)
})

test('long text is truncated without overlap', async () => {
  const full_name =
    'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft '.repeat(2)
  const { scanned, code, text, pages } = await printed({ full_name: full_name.trim() })
  expect(scanned).toBe(code)
  expect(pages).toBe('1')
  expect(text).toMatch(/Donaudampf.*… ?Ticket Entrance/)
})
