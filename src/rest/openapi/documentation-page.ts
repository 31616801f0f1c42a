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
    theme: { title: 'Boxoffice REST', favicon: [favicon] },
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
