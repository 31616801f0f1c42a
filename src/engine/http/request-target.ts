import type { FastifyInstance } from 'fastify'
import { refusal } from '../base/errors.ts'
import { tryParse } from '../base/parse.ts'

// No identifier in a path is longer.
const maxParamLength = 200

const absolute = /^https?:\/\/([^/?]*)(.*)$/i

// A slash at the end, below any base path, unless an identifier is missing behind it: that is a lookup and no list.
const slashAtEnd = /^(\/[^?]*[^/?])(?<!\/(?:tickets|payments|pay))\/(?=\?|$)/

// Address that no route has: what can't be read is limited like any unknown address, and refused by the hook below.
const unreadable = '*unreadable'

const isDecodable = (text: string): boolean =>
  !text.includes('%') || tryParse(() => decodeURIComponent(text)) !== undefined

const isHost = (text: string): boolean =>
  /^(?:[\w.~!$&'()*+,;=%-]+|\[[\da-f:.]+\])(?::\d*)?$/i.test(text) && URL.canParse(`http://${text}`)

/** Reads a request target (RFC 9112, 3.2): returns its path, without a slash at the end, and its query. The authority of
 *  an absolute target is left out. */
export function readTarget(target: string): string {
  const [, authority = null, rest = target] = target.startsWith('/') ? [] : (absolute.exec(target) ?? [])
  const url = authority !== null && !rest.startsWith('/') ? `/${rest}` : rest
  const isReadable =
    url.startsWith('/') &&
    (!url.includes('%') || isDecodable(url.replace(/\?.*/, ''))) &&
    (authority === null || isHost(authority))
  return isReadable ? url.replace(slashAtEnd, '$1') : unreadable
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
