import type { FastifyInstance } from 'fastify'
import { Refusal } from './errors.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

const unsupported = (message: string) => new Refusal({ code: 'UNSUPPORTED_MEDIA_TYPE', message })

/** Reads JSON bodies strictly: in UTF-8 and not compressed. Fastify's own reader would take bytes that are no UTF-8
 *  for question marks, and store them so. Refuses: UNSUPPORTED_MEDIA_TYPE, BAD_REQUEST. */
export function readJsonStrictly(app: FastifyInstance): void {
  const parseText = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    const charset = /;\s*charset="?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1]
    if (charset && !/^utf-?8$/i.test(charset))
      return done(unsupported(`Send the body in UTF-8, not in ${charset}.`))
    const encoding = request.headers['content-encoding'] ?? 'identity'
    if (encoding !== 'identity') return done(unsupported('Send the body uncompressed.'))
    try {
      parseText(request, utf8.decode(body), done)
    } catch {
      done(new Refusal({ code: 'BAD_REQUEST', message: 'The body is not valid UTF-8.' }))
    }
  })
}
