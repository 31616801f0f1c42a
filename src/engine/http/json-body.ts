import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { readAcceptHeader } from '../base/accept-header.ts'
import { refusal } from '../base/errors.ts'
import { tryParse } from '../base/parse.ts'
import { findExcess } from '../json/json-bounds.ts'

// Leaves out a byte order mark.
const utf8 = new TextDecoder()

const unsupported = (message: string) => refusal('UNSUPPORTED_MEDIA_TYPE', message)
const malformed = (message: string) => refusal('BAD_REQUEST', message)

/** Parses JSON bodies strictly: valid UTF-8, uncompressed, and within the limits of width and depth, which
 *  are checked before any validation. Fastify's own parser would replace invalid UTF-8 with question marks,
 *  which would then be stored. Refuses bodies of any other type. Refuses: UNSUPPORTED_MEDIA_TYPE,
 *  BAD_REQUEST. */
export function readJsonStrictly(app: FastifyInstance): void {
  const parseText = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    const [type] = readAcceptHeader(request.headers['content-type'])
    if (type?.charset !== 'utf-8') return done(unsupported('Send the body in UTF-8.'))
    const encoding = request.headers['content-encoding'] ?? 'identity'
    if (encoding !== 'identity') return done(unsupported('Send the body uncompressed.'))
    if (!isUtf8(body)) return done(malformed('The body is not valid UTF-8.'))
    const text = utf8.decode(body)
    if (text.trim() === '') return done(malformed('The body is empty.'))
    // Fastify's parser catches whatever its callback throws, so processing continues outside of the callback.
    let parsed: { error: Error | null; value?: unknown } = { error: null }
    parseText(request, text, (error, value) => {
      parsed = { error, value }
    })
    if (!parsed.error) {
      const excess = findExcess(parsed.value)
      return excess === null ? done(null, parsed.value) : done(malformed(`The body ${excess}.`))
    }
    const isJson = tryParse(() => JSON.parse(text)) !== undefined
    const unsafe = 'The body must have no field named __proto__ or constructor.prototype.'
    done(malformed(isJson ? unsafe : 'The body is not valid JSON.'))
  })
}
