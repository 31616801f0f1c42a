import type { FastifyReply } from 'fastify'
import { applyRefusal, type SendRefusal } from '../../engine/http/error-handler.ts'
import { type Html, html } from '../../engine/http/html.ts'
import { addVary } from '../../engine/http/public-cors.ts'
import { type Language, preferredLanguage } from './languages.ts'
import type { PlainKey } from './messages.ts'
import { sendPage } from './page.ts'
import { translate } from './translate.ts'

/** Title and text of a page that tells a person one thing. */
export type Note = [title: PlainKey, text: PlainKey]

/** Sends a note as a page, with the request id. `more` follows the text. */
export const sendNote = (
  reply: FastifyReply,
  status: number,
  language: Language,
  [title, text]: Note,
  more: Html | false = false,
): FastifyReply =>
  sendPage(reply, status, {
    language,
    title: translate(language, title),
    body: html`<main class="padded stack"><h1>${translate(language, title)}</h1>
<p class="soft">${translate(language, text)}</p>
${more}</main>
<footer>${translate(language, 'error.footer', { id: reply.request.id })}</footer>`,
  })

/** Declares that a page depends on the language that the browser prefers, and returns that language; null if
 *  it is none of ours. */
export function negotiateLanguage(reply: FastifyReply): Language | null {
  if (!String(reply.getHeader('vary')).includes('accept-language')) addVary(reply, 'accept-language')
  return preferredLanguage(reply.request.headers['accept-language'])
}

/** Answers refusals with pages in the language that the browser prefers, for addresses that people open.
 *  `noteOf` is called with the status of the refusal. */
export const sendErrorPage =
  (
    noteOf: (status: number) => Note,
    moreOf: (status: number, language: Language) => Html | false = () => false,
  ): SendRefusal =>
  (reply, refusal) => {
    const { statusCode: status } = applyRefusal(reply, refusal)
    const language = negotiateLanguage(reply) ?? 'en'
    return sendNote(reply, status, language, noteOf(status), moreOf(status, language))
  }

/** Answers 404 to a browser, with a page that leads home. */
export function sendUnknownPage(reply: FastifyReply): FastifyReply {
  const language = negotiateLanguage(reply) ?? 'en'
  const home = html`<p><a href="/">${translate(language, 'error.home')}</a></p>`
  return sendNote(reply, 404, language, ['error.pageNotFound', 'error.addressWrong'], home)
}
