import type { LightMyRequestResponse } from 'fastify'

/** Serializes a response without its date, its request ID, the identifiers of scans, which each request makes anew, and the
 *  identifier that the client sent. Equal
 *  fingerprints mean that a client cannot tell two responses apart. */
export function fingerprint(
  { statusCode, headers, body }: Pick<LightMyRequestResponse, 'statusCode' | 'headers' | 'body'>,
  sent: string,
): string {
  const { date: _date, 'x-request-id': requestId, ...rest } = headers
  const serialized = JSON.stringify({ statusCode, headers: rest, body })
  const anonymous = serialized.replaceAll(String(requestId), '<request>')
  const named = sent === '' ? anonymous : anonymous.replaceAll(sent, '<sent>')
  return named.replaceAll(/chk_\w{26}/g, '<scan>')
}

/** Shows the surroundings of the first difference; whole responses would be pages long. */
export function difference(first: string, second: string): string {
  let at = 0
  while (at < first.length && first[at] === second[at]) at++
  const around = (text: string) => text.slice(Math.max(0, at - 60), at + 60)
  return `«${around(first)}» and «${around(second)}»`
}

/** Returns an absent identifier of the same shape and length. */
export const absentId = (id: string): string =>
  id.length < 12 ? id.replace(/\d/, '0') : `${id.slice(0, -6)}${id.includes('_') ? '000000' : 'ZZZZZZ'}`
