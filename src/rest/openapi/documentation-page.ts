import fastify, { type FastifyInstance } from 'fastify'
import { icon } from '../../http/html.ts'
import type { OpenApiDocument } from './document.ts'
import type { DemoValues } from './example-ids.ts'

const favicon = { filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: icon }

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
 *  fills in the demo's keys. */
function fillInKeys({ key, integrationKey }: DemoValues): () => void {
  const keys = Object.entries({ channelKey: key, integrationKey })
  const calls = keys.map((given) => `ui.preauthorizeApiKey(${given.map((text) => JSON.stringify(text))})`)
  return Object.assign(() => {}, { toString: () => `() => { ${calls.join('; ')} }` })
}

/** Opens a separate application that serves the documentation page of an OpenAPI document below `/docs`. The
 *  page sends its requests to where it was loaded from, by whatever name. */
export async function openPage(
  document: OpenApiDocument,
  demo: DemoValues | undefined,
): Promise<FastifyInstance> {
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
      title: 'Boxoffice REST',
      favicon: [favicon],
      css: [{ filename: 'page.css', content: css }],
      js: [{ filename: 'page.js', content: js }],
    },
    uiConfig: {
      layout: 'BaseLayout',
      tryItOutEnabled: true,
      displayRequestDuration: true,
      ...(demo && { onComplete: fillInKeys(demo) }),
    },
    logLevel: 'silent',
  })
  await app.ready()
  return app
}
