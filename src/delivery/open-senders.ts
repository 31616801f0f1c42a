import type { DeliveryConfig } from '../delivery-settings.ts'
import type { Senders } from './send-deliveries.ts'
import { mailSender } from './send-mail.ts'
import { whatsAppSender } from './send-whatsapp.ts'

type Log = { info(facts: Record<string, unknown>, message: string): void }

/** What deliveries are sent by, as the settings say. The log says where mails go that no server takes. */
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
  return { senders: { email: send, whatsapp: whatsapp && whatsAppSender(whatsapp, publicUrl) }, close }
}
