import { type Html, html } from '../../http/html.ts'
import { chooseLanguage, type Language } from '../../language/languages.ts'
import { translate } from '../../language/translate.ts'
import { localStart, placeOf } from '../event/local-time.ts'
import type { Sheet } from './find-sheets.ts'
import { font } from './write-mail.ts'

// Facts that the former holder knows already: nothing of the new holder, no code and no document.
type Notice = Pick<
  Sheet,
  'event' | 'location' | 'organizationName' | 'organizationLanguage' | 'paymentLanguage' | 'rateName'
> & { paymentId: string }

// The ticket speaks its new holder's language; the checkout spoke the former one's.
const languageOf = ({ paymentLanguage, organizationLanguage }: Notice): Language =>
  chooseLanguage(paymentLanguage, organizationLanguage)

function paragraphsOf(language: Language, notice: Notice): string[] {
  const { event, location, organizationName, rateName, paymentId: id } = notice
  const place = placeOf(location)
  const facts = [rateName, localStart(language, event, location), ...(place === '' ? [] : [place])]
  return [
    translate(language, 'notice.given', { event: event.name }),
    facts.join(' · '),
    translate(language, 'notice.dead'),
    translate(language, 'notice.contact', { organization: organizationName, id }),
  ]
}

const toHtml = (language: Language, title: string, paragraphs: string[]): Html => html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
</head>
<body style="margin:0;padding:24px;background-color:#f3f1ec;${font}">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:520px;margin:0 auto;text-align:left;background-color:#fffefb;border-radius:18px">
<tr><td style="padding:28px 32px">
${paragraphs.map((text) => html`<p style="margin:0 0 14px;font-size:15px;line-height:22px;color:#1c1a22">${text}</p>`)}
</td></tr>
</table>
</body>
</html>
`

/** Writes the mail that tells the former holder of a ticket that it was transferred, as plain text and as
 *  HTML. Names nobody, because nothing of the former holder but the address is kept. */
export function writeTransferNotice(notice: Notice) {
  const language = languageOf(notice)
  const subject = translate(language, 'notice.subject', { event: notice.event.name })
  const paragraphs = paragraphsOf(language, notice)
  return { subject, text: paragraphs.join('\n\n'), html: toHtml(language, subject, paragraphs).markup }
}
