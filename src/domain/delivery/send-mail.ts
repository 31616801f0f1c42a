import { mkdir } from 'node:fs/promises'
import type { SendMailOptions } from 'nodemailer'
import { localFiles } from '../../engine/base/files.ts'
import { documentName, fileName } from './document-name.ts'
import { drawTicket } from './draw-ticket.ts'
import { mailFile } from './mail-folder.ts'
import { type Sender, Undelivered } from './send-deliveries.ts'
import type { MailConfig } from './settings.ts'
import { writeCalendar, writeMail, writeNotice } from './write-mail.ts'

type Sent = Parameters<Sender>
type Transport = { deliver(id: string, mail: SendMailOptions): Promise<void>; close(): void }

// Encodes a text that looks encoded (RFC 2047): as it is, a mail program would show what it means decoded.
const asSubject = async (text: string) =>
  text.includes('=?') ? (await import('nodemailer/lib/mime-funcs')).encodeWord(text, 'B', 52) : text

// Cleans the name of a sender of what has a meaning in an address, even within quotes to some mail servers (RFC 5322,
// 3.2.3), or looks like one, and of what looks encoded.
const asSender = (name: string) =>
  name
    .replace(/[()<>[\]:;@＠﹫\\,"]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replaceAll('=?', '= ?')

/** Writes the mail of a delivery. Tickets come as PDFs; they and a new date come with a file for the calendar. `publicUrl`
 *  is the base URL of links. */
export async function composeMail(
  { id, notice, recipient, ticketId }: Sent[0],
  documents: Sent[1],
  from: MailConfig['from'],
  publicUrl: string,
): Promise<SendMailOptions> {
  const [first] = documents
  const domain = from.address.split('@')[1] ?? ''
  const attachments: SendMailOptions['attachments'] = []
  for (const document of notice ? [] : documents) {
    const content = await drawTicket(document)
    attachments.push({ filename: documentName(document), content, contentType: 'application/pdf' })
  }
  if (!notice || notice.about === 'date')
    attachments.push({
      filename: fileName(first, '.ics'),
      content: writeCalendar(first, domain, notice ? 'order.seller' : 'calendar.description'),
      contentType: 'text/calendar; charset=utf-8; method=PUBLISH',
      // Base64 keeps the CRLF line ends that iCalendar requires.
      contentTransferEncoding: 'base64',
    })
  const { subject, ...written } = notice
    ? writeNotice(notice, ticketId, documents)
    : writeMail(documents, publicUrl)
  return {
    ...written,
    subject: await asSubject(subject),
    attachments,
    from: { name: asSender(from.name || first.organizationName), address: from.address },
    to: { name: '', address: recipient },
    // Stable across attempts, so that mail clients can drop duplicates.
    messageId: `<${id}@${domain}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

// SMTP login errors, which no single mail causes and the operator must fix.
const loginErrors = new Set([530, 534, 535, 538])

function toUndelivered(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { code, responseCode } = error as Error & { code?: unknown; responseCode?: unknown }
  if (typeof responseCode === 'number') {
    const isAboutThisMail = code === 'EENVELOPE' || code === 'EMESSAGE'
    const isPermanent = isAboutThisMail && responseCode >= 500 && !loginErrors.has(responseCode)
    return new Undelivered(`SMTP_${responseCode}`, isPermanent)
  }
  // A malformed address, rejected before any server was asked.
  if (code === 'EENVELOPE') return new Undelivered('SMTP_ADDRESS', true)
  return typeof code === 'string' ? new Undelivered(code, false) : error
}

const sendSeconds = 60

// Loaded on the first mail, to keep startup fast.
const nodemailer = () => import('nodemailer')

const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 }

async function openPool(url: string) {
  const { createTransport } = await nodemailer()
  return createTransport({ url, pool: true, maxConnections: 4, maxRequeues: 0, ...timeouts })
}

/** Connects to a mail server, greets it and logs in. Returns the code of a failure, null if there is none. */
export async function tryMailServer(url: string): Promise<string | null> {
  const { createTransport } = await nodemailer()
  const smtp = createTransport({ url, ...timeouts } as { url: string })
  try {
    await smtp.verify()
    return null
  } catch (error) {
    const failure = toUndelivered(error)
    return failure instanceof Undelivered ? failure.message : 'UNKNOWN'
  } finally {
    smtp.close()
  }
}

/** Sends mails over SMTP. */
export function smtpTransport(url: string): Transport {
  let pool: ReturnType<typeof openPool> | undefined
  return {
    async deliver(_id, mail) {
      pool ??= openPool(url)
      const smtp = await pool
      const signal = AbortSignal.timeout(sendSeconds * 1000)
      await smtp.sendMail({ ...mail, signal } as SendMailOptions).catch((error: unknown) => {
        throw toUndelivered(error)
      })
    },
    close: () => void pool?.then((smtp) => smtp.close()),
  }
}

/** Writes each mail to a file named after its delivery, so that a retry overwrites it, and tells so. */
export const folderTransport = (folder: string, onWritten: (deliveryId: string) => void): Transport => ({
  async deliver(id, mail) {
    const { createTransport } = await nodemailer()
    const stream = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
    const { message } = await stream.sendMail(mail)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await localFiles.write(mailFile(folder, id), message as Buffer)
    onWritten(id)
  },
  close() {},
})
