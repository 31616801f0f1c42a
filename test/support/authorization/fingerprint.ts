import type { LightMyRequestResponse } from 'fastify'

/** All that a client is told, but for the moment, the request's own id, and the identifier that it sent itself. */
export function fingerprint(
  { statusCode, headers, body }: Pick<LightMyRequestResponse, 'statusCode' | 'headers' | 'body'>,
  sent: string,
): string {
  const { date: _date, 'x-request-id': requestId, ...rest } = headers
  const told = JSON.stringify({ statusCode, headers: rest, body })
  const anonymous = told.replaceAll(String(requestId), '<request>')
  return sent === '' ? anonymous : anonymous.replaceAll(sent, '<sent>')
}

/** Where two answers part, with what is around it: an answer itself is pages long. */
export function difference(one: string, other: string): string {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  const around = (text: string) => text.slice(Math.max(0, at - 60), at + 60)
  return `«${around(one)}» and «${around(other)}»`
}

/** An identifier of the same shape and length, of nothing. */
export const absentId = (id: string): string =>
  id.length < 12 ? id.replace(/\d/, '0') : `${id.slice(0, -6)}${id.includes('_') ? '000000' : 'ZZZZZZ'}`
