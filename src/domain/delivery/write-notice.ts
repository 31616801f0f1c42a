import { html } from '../../http/html.ts'
import { formatAmount } from '../../language/format.ts'
import { chooseLanguage } from '../../language/languages.ts'
import { translate } from '../../language/translate.ts'
import { localStart } from '../event/local-time.ts'
import type { Sheet } from './find-sheets.ts'
import type { Delivery } from './table.ts'
import { layOutMail, markTest } from './write-mail.ts'

const titleKeys = {
  transfer: 'notice.given',
  refund: 'notice.refunded',
  cancellation: 'notice.cancelled',
  date: 'notice.moved',
} as const

/** Writes the mail that tells of what was done with tickets, as plain text and as HTML. Names nobody and has no
 *  code and no document, because whoever paid and whoever holds a ticket may not know each other. */
export function writeNotice(
  { notice, ticketId }: Pick<Delivery, 'notice' | 'ticketId'>,
  sheets: [Sheet, ...Sheet[]],
) {
  const [sheet] = sheets
  const { event, location, organizationName: organization, organizationLanguage, ticket, rateName } = sheet
  const { about, amount, byHand, former } = { about: 'transfer' as const, ...notice }
  // The ticket speaks its holder's language; the checkout spoke a former one's.
  const language = chooseLanguage(notice ? notice.language : sheet.paymentLanguage, organizationLanguage)
  const isDead = about === 'transfer' || ticket.status !== 'active'
  const { paymentId: id } = ticket
  const title = translate(language, titleKeys[about], { event: event.name })
  const before = former && {
    startDate: new Date(former.start),
    displayDate: former.display === null ? null : new Date(former.display),
  }
  const money = { organization, amount: formatAmount(language, amount ?? 0, ticket.currency) }
  const paragraphs = [
    about === 'date' ? [] : rateName,
    before ? translate(language, 'notice.before', { start: localStart(language, before, location) }) : [],
    amount === undefined ? [] : translate(language, byHand ? 'notice.byHand' : 'notice.goesBack', money),
    isDead
      ? translate(language, 'notice.dead')
      : translate(language, 'notice.valid', { count: sheets.length }),
    translate(language, 'notice.contact', { organization, id }),
  ].flat()
  const footer =
    ticketId === null
      ? translate(language, 'order.footer', { id })
      : translate(language, 'document.footer', { order: id, ticket: ticket.id })
  const { text, markup } = layOutMail(language, sheet, {
    lines: [title, ...paragraphs].flatMap((line) => [line, '']),
    rows: html`<tr><td style="padding:22px 24px 12px;font-size:15px;line-height:22px;color:#1c1a22">
<p style="margin:0 0 14px;font-size:17px;line-height:24px;font-weight:600">${title}</p>
${paragraphs.map((line) => html`<p style="margin:0 0 14px">${line}</p>`)}</td></tr>`,
    footer,
  })
  return { subject: markTest(sheet, title), text, html: markup }
}
