import type { DeliveryConfig } from '../../config/delivery.ts'
import type { Senders } from './send-deliveries.ts'
import { mailSender } from './send-mail.ts'
import { whatsAppSender } from './send-whatsapp.ts'

type Write = (facts: Record<string, unknown>, message: string) => void
type Log = { info: Write; warn: Write }

/** What deliveries are sent by, as the settings say. The log says where mails go that no server takes, and what is
 *  given up: by identifiers alone. */
export function openSenders(
  { mail, whatsapp }: DeliveryConfig,
  publicUrl: () => string,
  log: Log,
): { senders: Senders; close(): void } {
  if (mail.smtpUrl === undefined)
    log.info({ folder: mail.folder }, 'SMTP_URL is not set: mails are written to a folder')
  const { send, close } = mailSender(mail, publicUrl, (delivery) =>
    log.info({ delivery }, 'a mail was written to the folder'),
  )
  const senders: Senders = {
    email: send,
    whatsapp: whatsapp && whatsAppSender(whatsapp, publicUrl),
    onDead: (delivery, code) =>
      log.warn({ delivery, code }, 'a delivery is dead: npm run deliveries -- list'),
  }
  return { senders, close }
}
