import { z } from 'zod'
import { errorCode } from '../../engine/base/errors.ts'
import { formatStart } from '../event/local-time.ts'
import { chooseLanguage } from '../language/languages.ts'
import { documentUrl } from '../ticket/views.ts'
import { documentName } from './document-name.ts'
import { languageOfDocument, type TicketDocument } from './find-documents.ts'
import { type Sender, Undelivered } from './send-deliveries.ts'
import type { WhatsAppConfig } from './settings.ts'

const sendSeconds = 20

// Rate limits and expired tokens, which are no fault of this message.
const temporaryStatuses = new Set([401, 403, 408, 429])
const temporaryCodes = new Set([4, 80007, 130429, 131048, 131056])

const errorResponse = z.object({ error: z.object({ code: z.number() }) })

// Template parameters must be a single line. Cut by code points: half of a surrogate pair is no text.
const parameter = (text: string) => ({
  type: 'text',
  text: [...text.replace(/\s+/g, ' ').trim()].slice(0, 500).join(''),
})

const baseOf = (code: string) => code.split('_')[0]

type Sent = Parameters<Sender>[0]

function messageOf(document: TicketDocument, link: string, { id, recipient }: Sent, config: WhatsAppConfig) {
  const { template, languages } = config
  // A template is approved for each language: without one in the ticket's language, the first is sent.
  const code = languages.find((code) => baseOf(code) === languageOfDocument(document)) ?? languages[0]
  const start = formatStart(chooseLanguage(baseOf(code)), document)
  const file = { type: 'document', document: { link, filename: documentName(document) } }
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: recipient,
    biz_opaque_callback_data: id,
    type: 'template',
    template: {
      name: template,
      language: { code },
      components: [
        { type: 'header', parameters: [file] },
        { type: 'body', parameters: [document.eventName, start].map(parameter) },
      ],
    },
  }
}

async function refusalOf(response: Response): Promise<Undelivered> {
  const { status } = response
  const body = errorResponse.safeParse(await response.json().catch(() => null))
  const code = body.data?.error.code
  const isPermanent =
    status >= 400 && status < 500 && !temporaryStatuses.has(status) && !temporaryCodes.has(code ?? 0)
  const isOurs = status === 401 || status === 403
  return new Undelivered(code === undefined || isOurs ? `HTTP_${status}` : `WHATSAPP_${code}`, isPermanent)
}

const networkCode = (error: unknown): string =>
  error instanceof Error && error.name === 'TimeoutError' ? 'ETIMEDOUT' : (errorCode(error) ?? 'ECONNECTION')

/** Creates a sender that sends one template message per ticket, with a link to its PDF, which WhatsApp
 *  fetches from `publicUrl`, in the language of the ticket if the template has it. The template needs a
 *  document header and two body parameters: the event's name and its start. */
export function whatsAppSender(config: WhatsAppConfig, publicUrl: () => string): Sender {
  return async (delivery, documents) => {
    for (const document of documents) {
      const link = documentUrl(document, publicUrl())
      if (link === null) continue
      const response = await fetch(`${config.apiBase}/${config.phoneNumberId}/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${config.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(messageOf(document, link, delivery, config)),
        redirect: 'error',
        signal: AbortSignal.timeout(sendSeconds * 1000),
      }).catch((error: unknown) => {
        throw new Undelivered(networkCode(error), false)
      })
      if (!response.ok) throw await refusalOf(response)
      await response.body?.cancel()
    }
  }
}
