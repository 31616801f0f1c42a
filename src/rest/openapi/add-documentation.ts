import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { type Representation, toRepresentation } from '../../http/representation.ts'
import { sendRepresentation } from '../../http/send-representation.ts'
import { type DocumentedRoute, toDocument } from './document.ts'
import { openPage } from './documentation-page.ts'
import type { FindDemoValues } from './example-ids.ts'
import { type PageFiles, readPageFiles } from './page-files.ts'
import type { DocumentedWebhook } from './webhooks.ts'

type DocumentationOptions = {
  /** Messages that the service sends. */
  webhooks: readonly DocumentedWebhook[]
  publicUrl: () => string
  /** Finds what fills the examples, if the demo catalogue is seeded. */
  findDemo?: FindDemoValues
}

type Documentation = { document: Representation; app: FastifyInstance } & PageFiles

const packageFile = new URL('../../../package.json', import.meta.url)

async function readVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(packageFile, 'utf8')) as { version: string }
  return version
}

async function open(
  routes: readonly DocumentedRoute[],
  { webhooks, publicUrl, findDemo }: DocumentationOptions,
): Promise<Documentation> {
  const [version, demo] = await Promise.all([readVersion(), findDemo?.()])
  const document = toDocument({ routes, webhooks, publicUrl: publicUrl(), version, demo })
  const bytes = toRepresentation({
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: Buffer.from(JSON.stringify(document)),
    isShareable: true,
  })
  const app = await openPage(document, demo)
  return { document: bytes, app, ...(await readPageFiles(app)) }
}

/** Adds `/openapi.json`, made from the zod schemas that validate requests, and `/docs`, its page, which loads
 *  nothing from other hosts. Both are made on the first request, to keep startup fast. Call it before the
 *  routes are added. */
export function addDocumentation(app: FastifyInstance, options: DocumentationOptions): void {
  const routes: DocumentedRoute[] = []
  let opened: Promise<Documentation> | undefined
  // A failure of the database, which tells the demo's values, must not last.
  const documentation = () => {
    opened ??= open(routes, options).catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
  app.addHook('onRoute', (route) => {
    if (!route.schema?.hide && route.method !== 'HEAD') routes.push(route)
  })
  const hidden = { schema: { hide: true } }
  app.get('/openapi.json', hidden, (request, reply) =>
    sendRepresentation(
      request,
      reply,
      documentation().then(({ document }) => document),
    ),
  )
  for (const url of ['/docs', '/docs/*'])
    app.get<{ Querystring: { v?: string } }>(url, hidden, async (request, reply) => {
      const { url, headers, query } = request
      const { app, page, files } = await documentation()
      const [path = ''] = url.split('?')
      const known = files.get(path)
      if (known?.version === query.v) reply.header('cache-control', 'public, max-age=31536000, immutable')
      const file = known?.file ?? (/^\/docs\/?$/.test(path) ? page : null)
      if (file) {
        sendRepresentation(request, reply, Promise.resolve(file))
        return reply
      }
      const answer = await app.inject({ method: 'GET', url, headers })
      if (answer.statusCode === 404) return reply.callNotFound()
      // Headers of the injected response that do not hold for this connection.
      const { connection: _connection, 'transfer-encoding': _encoding, date: _date, ...rest } = answer.headers
      return reply
        .code(answer.statusCode)
        .headers(rest)
        .send(answer.rawPayload.length > 0 ? answer.rawPayload : undefined)
    })
}
