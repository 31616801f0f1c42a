import { z } from 'zod'
import { Refusal } from '../../shared/errors.ts'
import * as scalars from '../../shared/input-types.ts'
import type { CodeWithoutFacts } from '../../shared/problem-codes.ts'
import { changeType } from '../change/table.ts'
import { isPublicAddress, literalAddress } from './send/public-address.ts'

const types = z
  .array(z.enum(changeType.enumValues))
  .min(1, 'must name at least one type')
  .transform((types) => [...new Set(types)])

/** A new webhook. */
export const webhookInput = z.object({
  url: scalars.httpUrl,
  types: types.default([...changeType.enumValues]),
})

/** Changes to a webhook. */
export const webhookChanges = z.object({ url: scalars.httpUrl.optional(), types: types.optional() })

// Ports below 1024 belong to system services such as SSH and mail, which a webhook must not reach.
const isAllowedPort = ({ port }: URL) => port === '' || port === '443' || Number(port) >= 1024

// A name without a domain resolves only inside our own network.
const isSingleLabel = ({ hostname }: URL) => !hostname.replace(/\.$/, '').includes('.')

// Names that lead nowhere outside of a network or a cluster.
const isLocalName = ({ hostname }: URL) => /(^|\.)(localhost|local|internal|svc)\.?$/.test(hostname)

const refusal = (code: CodeWithoutFacts, message: string) => new Refusal({ code, message, path: ['url'] })

function requireAllowed(url: URL, privateWebhooks: boolean): void {
  if (url.username || url.password) throw refusal('INVALID', 'url must hold no user name and no password.')
  if (privateWebhooks) return
  if (url.protocol !== 'https:') throw refusal('INVALID', 'url must be an https address.')
  const address = literalAddress(url)
  if (isLocalName(url) || (address && !isPublicAddress(address)))
    throw refusal('ADDRESS_NOT_ALLOWED', 'url must lead to a public address.')
  if (!address && isSingleLabel(url))
    throw refusal('ADDRESS_NOT_ALLOWED', 'url must name its host in full, such as hooks.example.com.')
  if (!isAllowedPort(url))
    throw refusal('ADDRESS_NOT_ALLOWED', 'url must lead to port 443, or to one from 1024 on.')
}

/** Validates and normalizes a webhook URL. The IP addresses behind its name are checked on each delivery.
 *  Refuses: INVALID, ADDRESS_NOT_ALLOWED. */
export function readUrl(text: string, privateWebhooks: boolean): string {
  const url = new URL(text)
  requireAllowed(url, privateWebhooks)
  url.hash = ''
  return url.href
}
