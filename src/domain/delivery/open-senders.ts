import type { DeliveryConfig } from '../../config/delivery.ts'
import type { Senders } from './send-deliveries.ts'
import { mailSender } from './send-mail.ts'
import { whatsAppSender } from './send-whatsapp.ts'

/** Creates the senders that the settings enable. Logs where mails are written if no server is set, and which
 *  deliveries are given up, by identifier only. */
export function openSenders(
  { mail, whatsapp }: DeliveryConfig,
  publicUrl: () => string,
  log: Record<'info' | 'warn', (facts: Record<string, unknown>, message: string) => void>,
): { senders: Senders; close(): void } {
  if (mail.smtpUrl === undefined)
    log.info({ folder: mail.folder }, 'SMTP_URL is not set: mails are written to a folder')
  const { send, close } = mailSender(mail, publicUrl, (delivery) =>
    log.info({ delivery }, 'a mail was written to the folder'),
  )
  const senders: Senders = {
    email: send,
    perHour: mail.perHour,
    whatsapp: whatsapp && whatsAppSender(whatsapp, publicUrl),
    onDead: (delivery, code) =>
      log.warn({ delivery, code }, 'a delivery is dead: npm run deliveries -- list'),
  }
  return { senders, close }
}
