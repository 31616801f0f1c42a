import type { FastifyReply } from 'fastify'
import { retryAfterOf, statusOf } from '../shared/errors.ts'
import type { Send } from './error-handler.ts'
import { type Html, html, sendPage } from './html.ts'

/** Title and text of a page that tells a person one thing. */
export type Note = [title: string, text: string]

/** Sends a note as a page, with the request id. `more` follows the text. */
export const sendNote = (
  reply: FastifyReply,
  status: number,
  [title, text]: Note,
  more: Html | false = false,
): FastifyReply =>
  sendPage(reply, status, {
    title,
    body: html`<main class="padded stack"><h1>${title}</h1><p class="soft">${text}</p>
${more}</main>
<footer>Boxoffice · Request ${reply.request.id}</footer>`,
  })

/** Answers refusals with pages, for addresses that people open. `noteOf` is called with the status and the
 *  message of a refusal. */
export const sendErrorPage =
  (
    noteOf: (status: number, message: string) => Note,
    moreOf: (status: number) => Html | false = () => false,
  ): Send =>
  (reply, { code, message, problems }) => {
    const status = statusOf[code]
    const retryAfter = retryAfterOf(problems[0])
    if (retryAfter) reply.header('retry-after', retryAfter)
    return sendNote(reply, status, noteOf(status, message), moreOf(status))
  }
