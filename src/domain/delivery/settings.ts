import { z } from 'zod'
import { baseUrl, path, wholeNumber } from '../../engine/config/setting-types.ts'

const mailbox = /^(?:([^<>\p{Cc}]*?)\s*<([^\s<>@]+@[^\s<>@]+)>|([^\s<>@]+@[^\s<>@]+))$/u

/** Environment variables for the delivery of tickets. */
export const deliverySettings = z.object({
  SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'must be an smtp:// or smtps:// address' }).optional(),
  MAIL_FROM: z.string().regex(mailbox, 'must be an address such as Tickets <tickets@example.com>').optional(),
  MAIL_DIR: path.optional(),
  MAILS_PER_HOUR: wholeNumber(1, 1_000_000).default(10_000),
  WHATSAPP_TOKEN: z.string().min(1).optional(),
  WHATSAPP_PHONE_NUMBER_ID: z.string().regex(/^\d+$/, 'must be digits').optional(),
  WHATSAPP_TEMPLATE: z
    .string()
    .regex(/^[a-z0-9_]+$/, 'must be the name of a template')
    .optional(),
  WHATSAPP_TEMPLATE_LANGUAGE: z
    .string()
    .regex(/^[a-z]{2,3}(_[A-Z]{2})?(,[a-z]{2,3}(_[A-Z]{2})?)*$/, 'must be codes such as en or es_MX,en')
    .default('en')
    .transform((codes) => codes.split(',') as [string, ...string[]]),
  WHATSAPP_API_BASE: baseUrl.default('https://graph.facebook.com/v23.0'),
})

/** Settings without which no message is sent by WhatsApp: all of them, or none. */
export const whatsAppSettings = ['WHATSAPP_TOKEN', 'WHATSAPP_PHONE_NUMBER_ID', 'WHATSAPP_TEMPLATE'] as const

/** Settings of the delivery channels. */
export type DeliveryConfig = ReturnType<typeof deliveryConfigOf>
export type MailConfig = DeliveryConfig['mail']
export type WhatsAppConfig = NonNullable<DeliveryConfig['whatsapp']>

/** Builds the delivery configuration. `mailFolder` is the default folder for mails without SMTP. */
export function deliveryConfigOf(settings: z.output<typeof deliverySettings>, mailFolder: string) {
  const [, name = '', address, bare] = mailbox.exec(settings.MAIL_FROM ?? '') ?? []
  const {
    WHATSAPP_TOKEN: token,
    WHATSAPP_PHONE_NUMBER_ID: phoneNumberId,
    WHATSAPP_TEMPLATE: template,
    WHATSAPP_TEMPLATE_LANGUAGE: languages,
    WHATSAPP_API_BASE: apiBase,
  } = settings
  return {
    mail: {
      /** SMTP server. If unset, each mail is written to a file in `folder`. */
      smtpUrl: settings.SMTP_URL,
      /** Sender. If it has no name, the organization's is used. Without MAIL_FROM it has a reserved domain,
       *  because mails are then only written to files. */
      from: { name: name.replace(/^"|"$/g, ''), address: address ?? bare ?? 'tickets@boxoffice.invalid' },
      folder: settings.MAIL_DIR ?? mailFolder,
      /** Mails and messages that an organization may send in an hour, besides paid tickets. */
      perHour: settings.MAILS_PER_HOUR,
    },
    /** Access to the WhatsApp Cloud API, and the template of the ticket message with its languages, the first for
     *  tickets in others. Null unless it is enabled. */
    whatsapp:
      token && phoneNumberId && template ? { token, phoneNumberId, template, languages, apiBase } : null,
  }
}
