import { type Html, html } from '../../http/html.ts'
import { localStart, placeOf } from '../event/local-time.ts'
import type { Sheet } from './find-sheets.ts'

// Facts that the former holder knows already: nothing of the new holder, no code and no document.
type Notice = Pick<Sheet, 'event' | 'location' | 'organizationName' | 'rateName'> & { paymentId: string }

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()

const paragraphsOf = ({ event, location, organizationName, rateName, paymentId }: Notice): string[] => {
  const place = placeOf(location)
  return [
    `Your ticket for ${oneLine(event.name)} was given to another person.`,
    [rateName, localStart(event, location), ...(place === '' ? [] : [place])].map(oneLine).join(' · '),
    'Its code and its document that you have no longer admit anybody.',
    `If you did not ask for this, write to ${oneLine(organizationName)} and name the order ${paymentId}.`,
  ]
}

const toHtml = (title: string, paragraphs: string[]): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
</head>
<body style="margin:0;padding:24px;background-color:#f3f1ec;font-family:'Segoe UI',Roboto,Helvetica,Arial,sans-serif">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:520px;margin:0 auto;text-align:left;background-color:#fffefb;border-radius:18px">
<tr><td style="padding:28px 32px">
${paragraphs.map((text) => html`<p style="margin:0 0 14px;font-size:15px;line-height:22px;color:#1c1a22">${text}</p>`)}
</td></tr>
</table>
</body>
</html>
`

/** Writes the mail that tells the former holder of a ticket that it was transferred, as plain text and as HTML. Names
 *  nobody, because nothing of the former holder but the address is kept. */
export function writeTransferNotice(notice: Notice) {
  const subject = oneLine(`Your ticket for ${notice.event.name} was given to another person`)
  const paragraphs = paragraphsOf(notice)
  return { subject, text: paragraphs.join('\n\n'), html: toHtml(subject, paragraphs).markup }
}
