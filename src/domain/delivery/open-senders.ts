import type { Senders } from './send-deliveries.ts'
import { composeMail, folderTransport, smtpTransport } from './send-mail.ts'
import { whatsAppSender } from './send-whatsapp.ts'
import type { DeliveryConfig } from './settings.ts'

/** Creates the senders that the settings enable: mails go over SMTP, or into a folder if no server is set. Logs where
 *  mails are written then, and which deliveries are given up, by identifier only. */
export function openSenders(
  { mail: { smtpUrl, from, folder, perHour }, whatsapp }: DeliveryConfig,
  publicUrl: () => string,
  log: Record<'info' | 'warn', (facts: Record<string, unknown>, message: string) => void>,
): { senders: Senders; close(): void } {
  if (smtpUrl === undefined) log.info({ folder }, 'SMTP_URL is not set: mails are written to a folder')
  const onWritten = (delivery: string) => log.info({ delivery }, 'a mail was written to the folder')
  const { deliver, close } =
    smtpUrl === undefined ? folderTransport(folder, onWritten) : smtpTransport(smtpUrl)
  const senders: Senders = {
    email: async (delivery, documents) =>
      deliver(delivery.id, await composeMail(delivery, documents, from, publicUrl())),
    whatsapp: whatsapp && whatsAppSender(whatsapp, publicUrl),
    perHour,
    onDead: (delivery, code) =>
      log.warn({ delivery, code }, 'a delivery is dead: npm run deliveries -- list'),
  }
  return { senders, close }
}
