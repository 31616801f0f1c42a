import type { FastifyInstance } from 'fastify'
import { refusal } from '../base/errors.ts'
import { tryParse } from '../base/parse.ts'

// No identifier in a path is longer.
const maxParamLength = 200

const absolute = /^https?:\/\/([^/?]*)(.*)$/i

// Address that no route has: what can't be read is limited like any unknown address, and refused by the hook below.
const unreadable = '*unreadable'

const isDecodable = (text: string): boolean =>
  !text.includes('%') || tryParse(() => decodeURIComponent(text)) !== undefined

const isHost = (text: string): boolean =>
  /^(?:[\w.~!$&'()*+,;=%-]+|\[[\da-f:.]+\])(?::\d*)?$/i.test(text) && URL.canParse(`http://${text}`)

/** Makes the reader of request targets (RFC 9112, 3.2). It returns the path, without a slash at the end, and the query; the
 *  authority of an absolute target is left out. The slash stays, below any base path, behind one of `lookups`, where an
 *  identifier is missing. */
export function targetReader(lookups: readonly string[]): (target: string) => string {
  const slashAtEnd = new RegExp(`^(/[^?]*[^/?])(?<!/(?:${lookups.join('|')}))/(?=\\?|$)`)
  return (target) => {
    const [, authority = null, rest = target] = target.startsWith('/') ? [] : (absolute.exec(target) ?? [])
    const url = authority !== null && !rest.startsWith('/') ? `/${rest}` : rest
    const isReadable =
      url.startsWith('/') &&
      (!url.includes('%') || isDecodable(url.replace(/\?.*/, ''))) &&
      (authority === null || isHost(authority))
    return isReadable ? url.replace(slashAtEnd, '$1') : unreadable
  }
}

const isLong = (params: unknown): boolean =>
  Object.entries(params as Record<string, string>).some(
    ([name, value]) => name !== '*' && value.length > maxParamLength,
  )

/** Refuses requests whose target or whose `Host` is malformed, after the limits have counted them. Fastify would take a
 *  query that is not percent-encoded UTF-8 literally. Needs `joinDuplicateHeaders`, without which Node would leave out a
 *  second `Host`. Refuses: BAD_REQUEST. */
export function refuseMalformedRequests(app: FastifyInstance): void {
  // Most requests name the same.
  let known: string | undefined
  app.addHook('preParsing', ({ url, params, headers: { host }, raw }, _reply, _body, done) => {
    if (url === unreadable || !isDecodable(url) || isLong(params))
      return done(refusal('BAD_REQUEST', 'The address is malformed.'))
    if (host !== undefined && host !== known && isHost(host)) known = host
    // HTTP/1.0 has no such header.
    if (host === undefined ? raw.httpVersion === '1.0' : host === known) return done()
    done(refusal('BAD_REQUEST', 'Send one Host header: the name of the service, and its port if it has one.'))
  })
}
