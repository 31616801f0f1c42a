import { z } from 'zod'
import * as scalars from '../../engine/base/input-types.ts'
import { changeTypes } from '../change/list-changes.ts'
import { refusal } from '../contract/problem-codes.ts'
import { isPublicAddress, literalAddress } from './send/public-address.ts'

const types = changeTypes.transform((types) => [...new Set(types)])
const webhookId = scalars.id.describe('Webhook identifier.')
const idempotencyKey = scalars.idempotencyKey.describe(
  'Key of the request, chosen by the client, which makes retries safe: for 24 hours, and until the webhook gets another secret, the same key and input return the same secret.',
)

/** A new webhook. */
export const webhookInput = z
  .strictObject({
    url: scalars.httpUrl.describe(
      'URL to post changes to: an https address on the public internet, without user name and password. A service that runs with `WEBHOOKS_TO_PRIVATE_ADDRESSES=true`, for tests, takes any.',
    ),
    types: types
      .nullish()
      .transform((types) => types ?? null)
      .describe('Types of change to receive; all, also those that are added later, if null or omitted.'),
    idempotencyKey,
  })
  .describe('Webhook to register.')

/** Changes to a webhook. */
export const webhookUpdateInput = z
  .strictObject({
    webhookId,
    url: scalars.httpUrl
      .optional()
      .describe('New URL, an https address on the public internet. Cannot be cleared.'),
    types: types
      .nullish()
      .describe('New types of change; null makes it all, also those that are added later.'),
  })
  .describe('Changes to a webhook. Fields that are omitted stay as they are.')

/** A webhook that exists. `description` says what for. */
export const webhookIdInput = (description: string) => z.strictObject({ webhookId }).describe(description)

/** A webhook that is to get a new secret. */
export const rotationInput = z
  .strictObject({ webhookId, idempotencyKey })
  .describe('Webhook to give a new secret.')

/** A delivery that is to be repeated. */
export const deliveryInput = z
  .strictObject({
    webhookId,
    changeId: scalars.id.describe('Change identifier, the `webhook-id` of its messages.'),
  })
  .describe('Delivery to repeat.')

// Ports below 1024 belong to system services such as SSH and mail, which a webhook must not reach.
const isAllowedPort = ({ port }: URL) => port === '' || port === '443' || Number(port) >= 1024

// A name without a domain resolves only inside our own network.
const isSingleLabel = ({ hostname }: URL) => !hostname.replace(/\.$/, '').includes('.')

// Names that lead nowhere outside of a network or a cluster: those reserved for special use (RFC 6761, 6762, 7686, 8375,
// 9476), but `.example`, and those that ICANN delegates to nobody, because networks use them. By their last label.
const localNames =
  /(^|\.)(alt|arpa|corp|home|internal|intranet|invalid|lan|local|localdomain|localhost|mail|onion|private|svc|test)\.?$/
const isLocalName = ({ hostname }: URL) => localNames.test(hostname)

const unlessAllowed = 'unless the service runs with WEBHOOKS_TO_PRIVATE_ADDRESSES=true'

const refused = (code: 'INVALID' | 'ADDRESS_NOT_ALLOWED', message: string) => refusal(code, message, ['url'])

/** Validates and normalizes a webhook URL. The IP addresses behind its name are checked on each delivery.
 *  Refuses: INVALID, ADDRESS_NOT_ALLOWED. */
export function readWebhookUrl(text: string, privateWebhooks: boolean): string {
  const url = new URL(text)
  url.hash = ''
  if (url.username || url.password) throw refused('INVALID', 'url must hold no user name and no password.')
  if (privateWebhooks) return url.href
  if (url.protocol !== 'https:') throw refused('INVALID', `url must be an https address, ${unlessAllowed}.`)
  const address = literalAddress(url)
  if (isLocalName(url) || (address && !isPublicAddress(address)))
    throw refused('ADDRESS_NOT_ALLOWED', `url must lead to a public address, ${unlessAllowed}.`)
  if (!address && isSingleLabel(url))
    throw refused('ADDRESS_NOT_ALLOWED', 'url must name its host in full, such as hooks.example.com.')
  if (!isAllowedPort(url))
    throw refused('ADDRESS_NOT_ALLOWED', 'url must lead to port 443, or to one from 1024 on.')
  return url.href
}
