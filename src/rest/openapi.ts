import fastify, { type FastifyInstance, type RouteOptions } from 'fastify'
import { icon } from '../http/html.ts'

const header = (name: string, description: string) => ({
  type: 'apiKey' as const,
  in: 'header' as const,
  name,
  description,
})

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

// Creates a separate application, which documents the routes and serves none of them. Loaded on the first
// request for the documentation, to keep startup fast.
async function openDocumentation(routes: RouteOptions[]): Promise<FastifyInstance> {
  const [{ default: swagger }, { default: swaggerUi }, { jsonSchemaTransform }] = await Promise.all([
    import('@fastify/swagger'),
    import('@fastify/swagger-ui'),
    import('fastify-type-provider-zod'),
  ])
  const app = fastify()
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => (body) => JSON.stringify(body))
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Boxoffice',
        version: '1.0.0',
        description: 'List events, check out tickets, look a ticket up. GraphQL is at `/graphql`.',
      },
      components: {
        securitySchemes: {
          apiKey: header('X-Api-Key', 'Method v2: key of a channel or an integration.'),
          integrationId: header('integration_id', 'Method v1: identifier of the integration.'),
          secret: header('secret', 'Method v1: secret of the integration.'),
        },
      },
    },
    transform: jsonSchemaTransform,
  })
  for (const { method, url, schema } of routes) app.route({ method, url, schema, handler: () => {} })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: policy,
    theme: { title: 'Boxoffice REST', favicon: [favicon] },
    uiConfig: { layout: 'BaseLayout', tryItOutEnabled: true, displayRequestDuration: true },
    logLevel: 'silent',
  })
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
  await app.ready()
  return app
}

/** Adds `/openapi.json`, generated from the zod schemas that validate requests, and `/docs`, its page, which
 *  loads nothing from other hosts. Call it before the routes are added. */
export function addDocumentation(app: FastifyInstance): void {
  const routes: RouteOptions[] = []
  let opened: Promise<FastifyInstance> | undefined
  app.addHook('onRoute', (route) => {
    if (!route.schema?.hide && route.method !== 'HEAD') routes.push(route)
  })
  for (const url of ['/docs', '/docs/*', '/openapi.json'])
    app.get(url, { schema: { hide: true } }, async ({ url, headers }, reply) => {
      opened ??= openDocumentation(routes)
      const documentation = await opened
      const answer = await documentation.inject({ method: 'GET', url, headers })
      if (answer.statusCode === 404) return reply.callNotFound()
      // Headers of the injected response that do not hold for this connection.
      const { connection: _connection, 'transfer-encoding': _encoding, date: _date, ...rest } = answer.headers
      return reply
        .code(answer.statusCode)
        .headers(rest)
        .send(answer.rawPayload.length > 0 ? answer.rawPayload : undefined)
    })
}
