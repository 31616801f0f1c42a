import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { type Representation, toRepresentation } from '../../http/representation.ts'

/** The page as HTML, and its files by their paths. */
export type PageFiles = {
  page: Representation
  files: Map<string, { version: string; file: Representation }>
}

const address = /(?<==")\/docs\/static\/[^"?]+/g

async function read(app: FastifyInstance, url: string, change = (body: Buffer) => body) {
  const { headers, rawPayload } = await app.inject(url)
  return toRepresentation({
    status: 200,
    headers: {
      'content-type': String(headers['content-type']),
      'content-security-policy': String(headers['content-security-policy']),
    },
    body: change(rawPayload),
    isShareable: true,
  })
}

/** Reads a page of the library and the files that it loads, which are then compressed once. The page names each
 *  file with a hash of its content, so that browsers may keep it for good. */
export async function readPageFiles(app: FastifyInstance): Promise<PageFiles> {
  const { body } = await app.inject('/docs')
  const files: PageFiles['files'] = new Map()
  for (const [path] of body.matchAll(address)) {
    const file = await read(app, path)
    const version = createHash('sha256').update(file.body).digest('base64url').slice(0, 16)
    files.set(path, { version, file })
  }
  const finish = (html: Buffer) =>
    Buffer.from(
      html
        .toString()
        .replace(address, (path) => `${path}?v=${files.get(path)?.version}`)
        .replace('<head>', '<head><meta name="viewport" content="width=device-width, initial-scale=1">')
        .replace('<div id="swagger-ui"></div>', '<main id="swagger-ui"></main>'),
    )
  return { page: await read(app, '/docs', finish), files }
}
