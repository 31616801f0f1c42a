import { resolve } from 'node:path'
import { z } from 'zod'

const mailbox = /^(?:([^<>\p{Cc}]*?)\s*<([^\s<>@]+@[^\s<>@]+)>|([^\s<>@]+@[^\s<>@]+))$/u

/** What tickets are sent by, as the environment says it. */
export const deliverySettings = z.object({
  SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'must be an smtp:// or smtps:// address' }).optional(),
  MAIL_FROM: z.string().regex(mailbox, 'must be an address such as Tickets <tickets@example.com>').optional(),
  MAIL_DIR: z
    .string()
    .min(1)
    .transform((path) => resolve(path))
    .optional(),
  WHATSAPP_TOKEN: z.string().min(1).optional(),
  WHATSAPP_PHONE_NUMBER_ID: z.string().regex(/^\d+$/, 'must be digits').optional(),
  WHATSAPP_TEMPLATE: z
    .string()
    .regex(/^[a-z0-9_]+$/, 'must be the name of a template')
    .optional(),
  WHATSAPP_TEMPLATE_LANGUAGE: z
    .string()
    .regex(/^[a-z]{2,3}(_[A-Z]{2})?$/, 'must be a code such as en or es_MX')
    .default('en'),
  WHATSAPP_API_BASE: z
    .url({ protocol: /^https?$/, error: 'must be an http(s) address' })
    .transform((url) => url.replace(/\/+$/, ''))
    .default('https://graph.facebook.com/v23.0'),
})

type Settings = z.output<typeof deliverySettings>

export type MailConfig = {
  /** Where mails are handed in; without it each becomes a file in `folder`. */
  smtpUrl: string | undefined
  /** Who they are from. Without a name they bear the organization's. */
  from: { name: string; address: string }
  folder: string
}

/** The WhatsApp Cloud API, and the template that its account has for a ticket. */
export type WhatsAppConfig = {
  token: string
  phoneNumberId: string
  template: string
  language: string
  apiBase: string
}

/** What tickets are sent by. `whatsapp` is null where it is not enabled. */
export type DeliveryConfig = { mail: MailConfig; whatsapp: WhatsAppConfig | null }

const needed = ['WHATSAPP_TOKEN', 'WHATSAPP_PHONE_NUMBER_ID', 'WHATSAPP_TEMPLATE'] as const

/** What is wrong with settings that are right each by itself. */
export function deliveryContradictionsIn(settings: Settings & { PUBLIC_URL?: string }): string[] {
  const mistakes: string[] = []
  if (settings.SMTP_URL && !settings.MAIL_FROM)
    mistakes.push('MAIL_FROM: SMTP_URL needs to know whom mails are from')
  if (!needed.some((name) => settings[name])) return mistakes
  const missing = needed.filter((name) => !settings[name])
  mistakes.push(...missing.map((name) => `${name}: WhatsApp needs all of ${needed.join(', ')}`))
  if (!settings.PUBLIC_URL) mistakes.push('PUBLIC_URL: WhatsApp fetches the tickets from there')
  return mistakes
}

/** The settings as the service goes by them. `mailFolder` is where mails are written where nothing else is said. */
export function deliveryConfigOf(settings: Settings, mailFolder: string): DeliveryConfig {
  const [, name = '', address, bare] = mailbox.exec(settings.MAIL_FROM ?? '') ?? []
  const {
    WHATSAPP_TOKEN: token,
    WHATSAPP_PHONE_NUMBER_ID: phoneNumberId,
    WHATSAPP_TEMPLATE: template,
  } = settings
  return {
    mail: {
      smtpUrl: settings.SMTP_URL,
      // A domain that nobody has: these mails are for files.
      from: { name: name.replace(/^"|"$/g, ''), address: address ?? bare ?? 'tickets@boxoffice.invalid' },
      folder: settings.MAIL_DIR ?? mailFolder,
    },
    whatsapp:
      token && phoneNumberId && template
        ? {
            ...{ token, phoneNumberId, template },
            language: settings.WHATSAPP_TEMPLATE_LANGUAGE,
            apiBase: settings.WHATSAPP_API_BASE,
          }
        : null,
  }
}
