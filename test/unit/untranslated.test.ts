// Runs in: unit

import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

// Search for words in the code of pages, mails, documents, calendar files and messages to buyers: all of their
// text comes from the messages of src/domain/language/.

const source = new URL('../../src/', import.meta.url)
// Commands and GraphQL descriptions are for operators and developers, in English.
const isForBuyers = (file: string) =>
  /^domain\/(sale\/payment-page|delivery)\/.*\.ts$|^domain\/language\/error-page\.ts$|^domain\/event\/local-time\.ts$/.test(
    file,
  ) && !/\/(commands|graphql|table|settings|load-fonts|open-senders)\.ts$/.test(file)

// Messages of refusals whose code alone the pages use, log lines, and names of products and headers.
const notShown = new Set([
  'There is no such payment.',
  'Go back to the payment and press one of its buttons.',
  'There is no such ticket.',
  'Try again in a moment.',
  'A ticket is sent again or transferred at most \0 times a day.',
  'payment provider call failed',
  'Boxoffice',
  'private, no-store',
])

/** Reads the literals of a source file. Placeholders of templates become `\0`. */
function literalsOf(code: string): { tag: string; text: string }[] {
  const found: { tag: string; text: string }[] = []
  let at = 0
  const readUntil = (end: string): string => {
    let text = ''
    while (at < code.length && code[at] !== end) {
      if (code[at] === '\\') at++
      if (end === '`' && code.startsWith('${', at)) {
        at += 2
        readCode('}')
        text += '\0'
      } else text += code[at++]
    }
    at++
    return text
  }
  const readCode = (end: string | null): void => {
    while (at < code.length) {
      if (code.startsWith('//', at)) at = code.indexOf('\n', at)
      else if (code.startsWith('/*', at)) at = code.indexOf('*/', at) + 2
      else if (code[at] === end) {
        at++
        return
      } else if (code[at] === '{') {
        at++
        readCode('}')
      } else if (code[at] === "'" || code[at] === '`') {
        const tag = /(\w*)(?:<[^<>]*>)?$/.exec(code.slice(Math.max(0, at - 40), at))?.[1] ?? ''
        const quote = code[at++] ?? ''
        found.push({ tag: quote === '`' ? tag : '', text: readUntil(quote) })
      } else at++
    }
  }
  readCode(null)
  return found
}

const word = /\p{L}{2}/u
const readAttributes = /\s(?:aria-label|alt|title|placeholder|value)="([^"]*)"/g

function wordsInMarkup(markup: string): string[] {
  const shown = markup.replace(/<[^>]*>/g, '\n').replace(/&\w+;/g, '')
  // Values of buttons are sent and not shown.
  const attributes = [...markup.replace(/<button[^>]*>/g, '').matchAll(readAttributes)].map(
    ([, text = '']) => text,
  )
  return [...shown.split('\n'), ...attributes].map((text) => text.trim()).filter((text) => word.test(text))
}

const isStyle = (text: string) => /[{;]\s|;|@keyframes|[\w-]+:\s?[\w#]/.test(text)
const isProse = (text: string) =>
  /^\p{Lu}\p{Ll}+[.:!]?(\0|$)/u.test(text) || /\p{L}{2,}[.,:!’]?[ \0]+\p{Ll}{2,}/u.test(text)

/** Lists texts in a source file that a buyer would read. */
const untranslatedIn = (code: string): string[] =>
  literalsOf(code)
    .filter(({ tag }) => tag !== 'sql')
    .flatMap(({ tag, text }) =>
      tag === 'html' ? wordsInMarkup(text) : isProse(text) && !isStyle(text) ? [text] : [],
    )
    .filter((text) => !notShown.has(text))

test('no text that buyers read is in the code', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(isForBuyers)
  expect(files.length).toBeGreaterThan(15)
  const found = files.flatMap((file) =>
    untranslatedIn(readFileSync(new URL(file, source), 'utf8')).map((text) => `${file}: ${text}`),
  )
  expect(found).toEqual([])
})

test.each([
  ['const page = html`<p>Your order</p>`', 'Your order'],
  [`const page = html\`<p>\${name}: paid</p>\``, '\0: paid'],
  [`const page = html\`<p>\${isPaid && html\`<b>Paid</b>\`}</p>\``, 'Paid'],
  [`const page = html\`<section aria-label="Your order">\${more}</section>\``, 'Your order'],
  ["const title = 'Paid'", 'Paid'],
  [`const title = \`Pay for \${event}\``, 'Pay for \0'],
  ["const text = 'the tickets are gone'", 'the tickets are gone'],
  ["const facts = { name: 'Name' }", 'Name'],
])('reports text in the code: %s', (code, text) => {
  expect(untranslatedIn(code)).toEqual([text])
})

test.each([
  "// Your order is paid, isn't it?\nconst key = 'order.total'",
  '/** The tickets are gone. */',
  `const page = html\`<p class="soft">\${translate(language, key)}</p>&nbsp;\``,
  "const style = 'margin:0;font-size:15px;color:#efeafc'",
  `const page = html\`<button name="action" value="pay">\${amount}</button>\``,
])('accepts code without text: %s', (code) => {
  expect(untranslatedIn(code)).toEqual([])
})
