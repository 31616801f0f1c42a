import { z } from 'zod'
import { type Problem, refuseIf } from '../../shared/errors.ts'
import * as scalars from '../../shared/input-types.ts'
import { changeType } from '../change/table.ts'
import { isPublicAddress, literalAddress } from './send/public-address.ts'

const types = z
  .array(z.enum(changeType.enumValues))
  .min(1, 'must name at least one type')
  .transform((types) => [...new Set(types)])

/** Where to tell, and of what. */
export const webhookInput = z.object({
  url: scalars.httpUrl,
  types: types.default([...changeType.enumValues]),
})

/** What is to be different. */
export const webhookChanges = z.object({ url: scalars.httpUrl.optional(), types: types.optional() })

// Below 1024 are the services of a host's own, such as SSH and mail, which must not be spoken to in our name.
const isAllowedPort = ({ port }: URL) => port === '' || port === '443' || Number(port) >= 1024

// A name without a domain resolves by the search list of our own network alone.
const isSingleLabel = ({ hostname }: URL) => !hostname.replace(/\.$/, '').includes('.')

const notAllowed = (message: string) => ({ code: 'ADDRESS_NOT_ALLOWED' as const, message })

const isLocalName = ({ hostname }: URL) => /(^|\.)localhost\.?$/.test(hostname)

function problemOf(url: URL, privateWebhooks: boolean): Omit<Problem, 'path'> | null {
  if (url.username || url.password)
    return { code: 'INVALID', message: 'url must hold no user name and no password.' }
  if (privateWebhooks) return null
  if (url.protocol !== 'https:') return { code: 'INVALID', message: 'url must be an https address.' }
  const address = literalAddress(url)
  if (isLocalName(url) || (address && !isPublicAddress(address)))
    return notAllowed('url must lead to a public address.')
  if (!address && isSingleLabel(url))
    return notAllowed('url must name its host in full, such as hooks.example.com.')
  return isAllowedPort(url) ? null : notAllowed('url must lead to port 443, or to one from 1024 on.')
}

/** The address as it is called. What its name leads to is looked at each time that something is sent there. Refuses:
 *  INVALID, ADDRESS_NOT_ALLOWED. */
export function readUrl(given: string, privateWebhooks: boolean): string {
  const url = new URL(given)
  const problem = problemOf(url, privateWebhooks)
  refuseIf(problem ? [{ ...problem, path: ['url'] }] : [])
  url.hash = ''
  return url.href
}
