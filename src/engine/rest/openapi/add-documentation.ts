import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { makeOnce, perInstance } from '../../base/make-once.ts'
import { type Answer, Representation, sendRepresentation } from '../../http/representation.ts'
import {
  type DocumentedRoute,
  type OpenApiDocument,
  type RestContract,
  toOpenApiDocument,
} from './openapi-document.ts'

const favicon = { filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any' }

// Allows only its own files. Omits `upgrade-insecure-requests`, which would block them over plain HTTP.
const policy = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
}

// Colours with enough contrast for its small print, a layout for phones, and no choice of one server.
const css = `
.swagger-ui .info .title small { background: #5a6170 }
.swagger-ui .info .title small.version-stamp { background: #3f6212 }
.swagger-ui .info :is(a, .url), .swagger-ui .authorization__btn { color: #1d5fae }
.swagger-ui .btn.authorize { border-color: #0a6b3d; color: #0a6b3d }
.swagger-ui .btn.cancel { border-color: #b3261e; color: #b3261e }
.swagger-ui .opblock.opblock-get .opblock-summary-method, .swagger-ui .btn.execute { background: #1d5fae; border-color: #1d5fae }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #0a6b3d }
.swagger-ui :is(.parameter__in, .prop-format, .json-schema-2020-12-expand-deep-button) { color: #555 }
.swagger-ui .microlight span[style*='211, 99, 99'] { color: #ff9d9d !important }
.swagger-ui .scheme-container .schemes > .schemes-server-container { display: none }
.swagger-ui .opblock-body { overflow-x: auto }
@media (max-width: 44rem) { .swagger-ui .wrapper { padding: 0 12px } }`

// The library names none of these fields, scrolls code that no key reaches, and leaves out a level of headings.
const js = `new MutationObserver(() => {
  for (const field of document.querySelectorAll('select, textarea'))
    if (!field.labels.length) field.ariaLabel ??= field.closest('[data-param-name]')?.dataset.paramName ?? (field.matches('select') ? 'Example' : 'Request body')
  for (const code of document.querySelectorAll('.microlight')) code.tabIndex = 0
  for (const heading of document.querySelectorAll('h3, h4, h5')) heading.ariaLevel = heading.tagName[1] - 1
}).observe(document, { childList: true, subtree: true })`

/** Returns a function that the library writes into the page's script, beside the variable `ui`, as text. It
 *  fills in the keys. */
function fillInKeys(examples: Record<string, string>): () => void {
  const keys = Object.entries(examples).filter(([, key]) => key !== '')
  const calls = keys.map((given) => `ui.preauthorizeApiKey(${given.map((text) => JSON.stringify(text))})`)
  return Object.assign(() => {}, { toString: () => `() => { ${calls.join('; ')} }` })
}

/** Opens a separate application that serves the documentation page of an OpenAPI document below `/docs`. The
 *  page sends its requests to where it was loaded from, by whatever name. */
async function openPage(document: OpenApiDocument, icon: string, keys: Record<string, string> | undefined) {
  const [{ default: swagger }, { default: swaggerUi }] = await Promise.all([
    import('@fastify/swagger'),
    import('@fastify/swagger-ui'),
  ])
  const app = fastify()
  await app.register(swagger, {
    mode: 'static',
    specification: { document: { ...document, servers: [{ url: '/', description: 'This service.' }] } },
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: policy,
    theme: {
      title: `${document.info.title} REST`,
      favicon: [{ ...favicon, content: icon }],
      css: [{ filename: 'page.css', content: css }],
      js: [{ filename: 'page.js', content: js }],
    },
    uiConfig: {
      layout: 'BaseLayout',
      tryItOutEnabled: true,
      displayRequestDuration: true,
      ...(keys && { onComplete: fillInKeys(keys) }),
    },
    logLevel: 'silent',
  })
  await app.ready()
  return app
}

const address = /(?<==")\/docs\/static\/[^"?]+/g

async function read(app: FastifyInstance, url: string): Promise<Answer> {
  const { headers, rawPayload } = await app.inject(url)
  return {
    headers: {
      'content-type': String(headers['content-type']),
      'content-security-policy': String(headers['content-security-policy']),
    },
    body: rawPayload,
    isShareable: true,
  }
}

// Part of the hash of a file's content, by which the page names it.
const versionOf = (file: Representation | undefined) => file?.etag('identity').slice(1, 17)

/** Reads a page of the library and the files that it loads, by their paths, which are then compressed once. The page
 *  names each file with a hash of its content, so that browsers may keep it for good. */
async function readPageFiles(app: FastifyInstance): Promise<Map<string, Representation>> {
  const page = await read(app, '/docs')
  const given = page.body.toString()
  const files = new Map<string, Representation>()
  // The page asks for the document by itself.
  for (const path of ['/docs/json', ...(given.match(address) ?? [])])
    files.set(path, new Representation(await read(app, path)))
  const html = given
    .replace(address, (path) => `${path}?v=${versionOf(files.get(path))}`)
    .replace('<head>', '<head><meta name="viewport" content="width=device-width, initial-scale=1">')
    .replace('<div id="swagger-ui"></div>', '<main id="swagger-ui"></main>')
  const named = new Representation({ ...page, body: Buffer.from(html) })
  return files.set('/docs', named).set('/docs/', named)
}

type Find<Examples> = () => Promise<Examples | undefined>

/** Makes the document and its page, by their paths. */
async function open<Examples>(
  contract: RestContract<Examples>,
  routes: readonly DocumentedRoute[],
  publicUrl: () => string,
  findExamples: Find<Examples>,
) {
  const { icon, fill, keysOf } = contract
  const examples = await findExamples()
  const documented = toOpenApiDocument(contract, routes, publicUrl())
  const document = examples ? fill(documented, examples) : documented
  const app = await openPage(document, icon, examples && keysOf(examples))
  const files = await readPageFiles(app)
  await app.close()
  const bytes = new Representation({
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: Buffer.from(JSON.stringify(document)),
    isShareable: true,
  })
  return files.set('/openapi.json', bytes)
}

/** Adds `/openapi.json`, made from the zod schemas that validate requests, and `/docs`, its page, which loads
 *  nothing from other hosts. Both are made on the first request, to keep startup fast. `examplesOf` tells what fills the
 *  examples, in place of identifiers that nothing has. Call it before the routes are added. */
export function addDocumentation<Examples>(
  app: FastifyInstance,
  contract: RestContract<Examples>,
  publicUrl: () => string,
  examplesOf: (request: FastifyRequest) => Find<Examples>,
): void {
  const routes: DocumentedRoute[] = []
  const documentationWith = perInstance((find: Find<Examples>) =>
    makeOnce(() => open(contract, routes, publicUrl, find)),
  )
  app.addHook('onRoute', (route) => {
    if (!route.schema?.hide && route.method !== 'HEAD') routes.push(route)
  })
  const hidden = { schema: { hide: true } }
  for (const url of ['/openapi.json', '/docs', '/docs/*'])
    app.get<{ Querystring: { v?: string } }>(url, hidden, async (request, reply) => {
      const [path = ''] = request.url.split('?')
      const file = (await documentationWith(examplesOf(request))()).get(path)
      if (!file) return reply.callNotFound()
      if (versionOf(file) === request.query.v)
        reply.header('cache-control', 'public, max-age=31536000, immutable')
      sendRepresentation(request, reply, Promise.resolve(file))
      return reply
    })
}
