import ical, { ICalCalendarMethod } from 'ical-generator'
import { type Html, html } from '../../engine/http/html.ts'
import { formatStart, formatVenue } from '../event/local-time.ts'
import { formatAmount } from '../language/format.ts'
import { chooseLanguage, type Language } from '../language/languages.ts'
import { translate } from '../language/translate.ts'
import { documentUrl } from '../ticket/views.ts'
import { languageOfDocument, priceOf, type TicketDocument } from './find-documents.ts'
import type { Notice } from './table.ts'

function detailsOf(language: Language, document: TicketDocument) {
  const { rateName, priceName, supplements } = document
  const labels = supplements.map(({ label }) => label)
  return [`${rateName} · ${priceName}`, ...labels, priceOf(language, document)].join(', ')
}

function discountOf(language: Language, document: TicketDocument): string | null {
  const { discountName, discountAmount, currency } = document
  if (discountAmount === 0) return null
  const amount = formatAmount(language, -discountAmount, currency)
  return translate(language, 'mail.discount', { name: discountName ?? '', amount })
}

const ticketLines = (language: Language, document: TicketDocument, publicUrl: string) => [
  document.fullName,
  detailsOf(language, document),
  discountOf(language, document),
  `${translate(language, 'mail.code')} ${document.qrCode}`,
  documentUrl(document, publicUrl),
  '',
]

// Mail clients need table layouts and inline styles.
const font = "font-family:'Segoe UI',Roboto,Helvetica,Arial,sans-serif;word-break:break-word"

function card(language: Language, document: TicketDocument, publicUrl: string): Html {
  const url = documentUrl(document, publicUrl)
  const discount = discountOf(language, document)
  return html`<tr><td style="padding:20px 24px;border-top:1px solid #e6e1d8">
<p style="margin:0;font-size:17px;line-height:24px;font-weight:600;color:#1c1a22">${document.fullName}</p>
<p style="margin:2px 0 0;font-size:14px;line-height:20px;color:#645f6b">${detailsOf(language, document)}</p>
${discount !== null && html`<p style="margin:2px 0 0;font-size:14px;line-height:20px;color:#645f6b">${discount}</p>`}
<p style="margin:10px 0 0;font-size:14px;line-height:20px;color:#645f6b">${translate(language, 'mail.code')} <span style="font-family:Consolas,Menlo,monospace;font-size:15px;color:#1c1a22">${document.qrCode}</span></p>
${
  url !== null &&
  html`<p style="margin:14px 0 0"><a href="${url}" style="display:inline-block;padding:10px 18px;border-radius:10px;background-color:#4a35b5;color:#ffffff;font-size:15px;line-height:20px;font-weight:600;text-decoration:none">${translate(language, 'mail.open')}</a></p>`
}
</td></tr>`
}

type Content = { subject: string; lines: (string | null)[]; rows: Html | Html[]; footer: string }

/** Lays out a mail about an event: its name, start and place, then `rows` of a table, or `lines` of the text. The subject
 *  of one about a test ticket is marked the same in every language. */
function layOutMail(language: Language, document: TicketDocument, { subject, lines, rows, footer }: Content) {
  const { eventName, organizationName } = document
  const [start, place] = [formatStart(language, document), formatVenue(document)]
  const mark = document.mode === 'test' ? translate(language, 'test.mark') : null
  const line = 'margin:0;font-size:15px;line-height:22px;color:#efeafc'
  const { markup } = html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<title>${eventName}</title>
</head>
<body style="margin:0;padding:0;background-color:#f3f1ec;${font}">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="background-color:#f3f1ec">
<tr><td align="center" style="padding:24px 12px;${font}">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:520px;text-align:left;background-color:#fffefb;border-radius:18px;overflow:hidden">
<tr><td bgcolor="#41307c" style="padding:28px 24px;background-color:#41307c;background-image:linear-gradient(135deg,#2f2a6b,#5b2f8f 65%,#8a2f74);border-radius:18px 18px 0 0">
${mark !== null && html`<p style="margin:0 0 12px;padding:4px 10px;background-color:#ffd84d;font-size:14px;line-height:20px;font-weight:700;color:#1c1a22">${mark}</p>`}
<p style="margin:0 0 6px;font-size:13px;line-height:18px;color:#efeafc">${organizationName}</p>
<h1 style="margin:0 0 12px;font-size:26px;line-height:31px;font-weight:700;color:#ffffff">${eventName}</h1>
<p style="${line}">${start}</p>
${place !== '' && html`<p style="${line}">${place}</p>`}
</td></tr>
${rows}
<tr><td style="height:8px;line-height:8px;font-size:8px">&nbsp;</td></tr>
</table>
<p style="margin:18px 0 0;font-size:12px;line-height:18px;color:#645f6b">${footer}</p>
</td></tr>
</table>
</body>
</html>
`
  const text = [mark, eventName, start, place, '', ...lines, footer].filter((line) => line !== null)
  return { subject: mark === null ? subject : `[TEST] ${subject}`, text: text.join('\n'), html: markup }
}

/** Writes the mail with the tickets of one checkout, as plain text and as HTML, in the language of the first
 *  ticket. `publicUrl` is the base of the links to their PDFs. */
export function writeMail(documents: [TicketDocument, ...TicketDocument[]], publicUrl: string) {
  const [first] = documents
  const language = languageOfDocument(first)
  const [count, event, id] = [documents.length, first.eventName, first.paymentId]
  const attached = translate(language, 'mail.attached', { count })
  const show = translate(language, 'mail.show')
  const lead = html`<tr><td style="padding:22px 24px;font-size:15px;line-height:22px;color:#1c1a22">${attached} ${show}</td></tr>`
  const tickets = documents.flatMap((document) => ticketLines(language, document, publicUrl))
  const totalAmount = documents.reduce((sum, document) => sum + document.totalAmount, 0)
  const amount = formatAmount(language, totalAmount, first.currency)
  const total = translate(language, 'mail.total', { amount })
  const sum = html`<tr><td style="padding:16px 24px;border-top:1px solid #e6e1d8;font-size:15px;line-height:22px;font-weight:600;color:#1c1a22">${total}</td></tr>`
  return layOutMail(language, first, {
    subject: translate(language, 'mail.subject', { count, event }),
    lines: [attached, '', ...tickets, total, '', show, ''],
    rows: [lead, ...documents.map((document) => card(language, document, publicUrl)), sum],
    footer: translate(language, 'mail.order', { id, organization: first.organizationName }),
  })
}

/** Writes an event as an iCalendar file, in the language of the ticket, with times in UTC so that every
 *  calendar shows them right. The UID is stable, and the sequence that of its dates, so that sending it again
 *  updates the same entry; `domain` is its namespace. */
export function writeCalendar(
  document: TicketDocument,
  domain: string,
  description: 'calendar.description' | 'order.seller',
): string {
  const { organizationName: organization, latitude: lat, longitude: lon } = document
  const language = languageOfDocument(document)
  const calendar = ical({
    prodId: { company: 'Boxoffice', product: 'tickets', language: language.toUpperCase() },
    method: ICalCalendarMethod.PUBLISH,
  })
  const title = formatVenue(document)
  calendar.createEvent({
    id: `${document.eventId}@${domain}`,
    sequence: document.sequence,
    start: document.startDate,
    end: document.endDate,
    summary: document.eventName,
    description: translate(language, description, { organization }),
    location: title === '' ? null : { title, ...(lat !== null && lon !== null && { geo: { lat, lon } }) },
  })
  return `${calendar.toString()}\r\n`
}

/** Writes the mail that tells of what was done with tickets, as plain text and as HTML. Names nobody and has no
 *  code and no document, because whoever paid and whoever holds a ticket may not know each other. */
export function writeNotice(
  { about, amount, byHand, former, ...spoken }: Notice,
  ticketId: string | null,
  documents: [TicketDocument, ...TicketDocument[]],
) {
  const [document] = documents
  const { organizationName: organization, paymentId: id, eventName: event } = document
  // The ticket has its present attendee's language, the checkout that of a former one.
  const language = chooseLanguage(
    spoken.language === undefined ? document.paymentLanguage : spoken.language,
    document.organizationLanguage,
  )
  const isDead = about === 'transfer' || document.status !== 'active'
  const title = translate(language, `notice.${about}`, { event })
  const before = former && {
    startDate: new Date(former.start),
    displayDate: former.display === null ? null : new Date(former.display),
    timezone: document.timezone,
  }
  const money = { organization, amount: formatAmount(language, amount ?? 0, document.currency) }
  const paragraphs = [
    about === 'date' ? [] : document.rateName,
    before ? translate(language, 'notice.before', { start: formatStart(language, before) }) : [],
    amount === undefined ? [] : translate(language, byHand ? 'notice.byHand' : 'notice.goesBack', money),
    isDead
      ? translate(language, 'notice.dead')
      : translate(language, 'notice.valid', { count: documents.length }),
    translate(language, 'notice.contact', { organization, id }),
  ].flat()
  const footer =
    ticketId === null
      ? translate(language, 'order.footer', { id })
      : translate(language, 'document.footer', { order: id, ticket: document.id })
  return layOutMail(language, document, {
    subject: title,
    lines: [title, ...paragraphs].flatMap((line) => [line, '']),
    rows: html`<tr><td style="padding:22px 24px 12px;font-size:15px;line-height:22px;color:#1c1a22">
<p style="margin:0 0 14px;font-size:17px;line-height:24px;font-weight:600">${title}</p>
${paragraphs.map((line) => html`<p style="margin:0 0 14px">${line}</p>`)}</td></tr>`,
    footer,
  })
}
