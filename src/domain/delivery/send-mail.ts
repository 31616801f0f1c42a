import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SendMailOptions } from 'nodemailer'
import type { MailConfig } from '../../config/delivery.ts'
import { documentName, fileName } from './document-url.ts'
import { drawTicket } from './draw-ticket.ts'
import type { Sheet } from './find-sheets.ts'
import type { Delivery } from './table.ts'
import { Undelivered } from './undelivered.ts'
import { writeCalendar } from './write-calendar.ts'
import { writeMail } from './write-mail.ts'

/** Hands the tickets of a delivery on. What can't be delivered is thrown as Undelivered. */
export type Sender = (
  delivery: Pick<Delivery, 'id' | 'recipient'>,
  sheets: [Sheet, ...Sheet[]],
) => Promise<void>

type HandIn = (id: string, mail: SendMailOptions) => Promise<void>
type MailSender = { send: Sender; close(): void }

async function composed(
  { id, recipient }: Parameters<Sender>[0],
  sheets: [Sheet, ...Sheet[]],
  from: MailConfig['from'],
  publicUrl: string,
): Promise<SendMailOptions> {
  const [{ event, organizationName }] = sheets
  const domain = from.address.split('@')[1] ?? ''
  const documents: { filename: string; content: Buffer; contentType: string }[] = []
  for (const sheet of sheets)
    documents.push({
      filename: documentName(sheet),
      content: await drawTicket(sheet),
      contentType: 'application/pdf',
    })
  const calendar = {
    filename: fileName(event, '.ics'),
    content: writeCalendar(sheets[0], domain),
    contentType: 'text/calendar; charset=utf-8; method=PUBLISH',
    // As text it would lose the ends of lines that its format asks for.
    contentTransferEncoding: 'base64' as const,
  }
  return {
    ...writeMail(sheets, publicUrl),
    from: { name: from.name || organizationName, address: from.address },
    to: { name: '', address: recipient },
    // The same however often it is sent, so that who gets it twice can tell.
    messageId: `<${id}@${domain}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    attachments: [...documents, calendar],
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

// What concerns our own login concerns no single mail, and is put right by whoever runs this.
const ourOwnFault = new Set([530, 534, 535, 538])

function toUndelivered(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { code, responseCode } = error as Error & { code?: unknown; responseCode?: unknown }
  if (typeof responseCode === 'number') {
    const isOfThisMail = code === 'EENVELOPE' || code === 'EMESSAGE'
    return new Undelivered(
      `SMTP_${responseCode}`,
      isOfThisMail && responseCode >= 500 && !ourOwnFault.has(responseCode),
    )
  }
  // An address that no server was asked about, because it is none.
  if (code === 'EENVELOPE') return new Undelivered('SMTP_ADDRESS', true)
  return typeof code === 'string' ? new Undelivered(code, false) : error
}

const sendSeconds = 60

// Loaded for the first mail: a service that starts needs nothing of it.
const nodemailer = () => import('nodemailer')

async function openPool(url: string) {
  const { createTransport } = await nodemailer()
  return createTransport({
    ...{ url, pool: true as const, maxConnections: 4, maxRequeues: 0 },
    ...{ connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 },
  })
}

function handInOverSmtp(url: string): { handIn: HandIn; close(): void } {
  let pool: ReturnType<typeof openPool> | undefined
  return {
    async handIn(_id, mail) {
      pool ??= openPool(url)
      const transport = await pool
      const signal = AbortSignal.timeout(sendSeconds * 1000)
      await transport.sendMail({ ...mail, signal } as SendMailOptions).catch((error: unknown) => {
        throw toUndelivered(error)
      })
    },
    close: () => void pool?.then((transport) => transport.close()),
  }
}

/** A file of each mail, under the name of its delivery: written again, it is the same file. */
function handInToFolder(folder: string): HandIn {
  return async (id, mail) => {
    const { createTransport } = await nodemailer()
    const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
    const { message } = await transport.sendMail(mail)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const file = join(folder, `${id}.eml`)
    await writeFile(`${file}.part`, message, { mode: 0o600 })
    await rename(`${file}.part`, file)
  }
}

/** Sends mails with the tickets as PDF and the event for a calendar: over SMTP, or into a folder where no server is
 *  set. `publicUrl` is where the service is reached; `onWritten` is told of each that was written. */
export function mailSender(
  { smtpUrl, from, folder }: MailConfig,
  publicUrl: () => string,
  onWritten: (deliveryId: string) => void,
): MailSender {
  const smtp = smtpUrl === undefined ? null : handInOverSmtp(smtpUrl)
  const handIn = smtp?.handIn ?? handInToFolder(folder)
  return {
    async send(delivery, sheets) {
      await handIn(delivery.id, await composed(delivery, sheets, from, publicUrl()))
      if (!smtp) onWritten(delivery.id)
    },
    close: () => smtp?.close(),
  }
}
