import { createHash } from 'node:crypto'

/** Safe markup. Only `html` creates it, and escapes everything that is not markup itself. */
export class Html {
  readonly markup: string

  constructor(markup: string) {
    this.markup = markup
  }
}

type Content = Html | string | number | null | false | Content[]

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function toMarkup(content: Content): string {
  if (content === null || content === false) return ''
  if (Array.isArray(content)) return content.map(toMarkup).join('')
  if (content instanceof Html) return content.markup
  return String(content).replace(/[&<>"']/g, (character) => entities[character] ?? '')
}

/** Template tag for markup. Escapes everything that is not Html, for use in elements and in quoted
 *  attributes. */
export const html = (literals: TemplateStringsArray, ...contents: Content[]): Html =>
  new Html(String.raw({ raw: literals }, ...contents.map(toMarkup)))

/** Source of a content security policy that allows a script or a style by its hash. */
export const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Content security policy of a page that loads and does nothing but what these directives allow. */
export const policyOf = (...directives: string[]): string =>
  ["default-src 'none'", ...directives, "base-uri 'none'", "frame-ancestors 'none'"].join('; ')
