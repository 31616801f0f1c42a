import fastify, { type FastifyInstance, type RouteOptions } from 'fastify'
import { icon } from '../http/html.ts'

const header = (name: string, description: string) => ({
  type: 'apiKey' as const,
  in: 'header' as const,
  name,
  description,
})

const favicon = { filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: icon }

// Its own files and nothing else. Not upgraded to https: on a plain address there would be nothing to load then.
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

// An application of its own, which has the routes to show them and serves none of them. Loaded and made with the first
// reader: a service that starts needs nothing of it.
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
          apiKey: header('X-Api-Key', 'Method v2: the key of a channel or an integration.'),
          integrationId: header('integration_id', 'Method v1: the identifier of the integration.'),
          secret: header('secret', 'Method v1: its secret.'),
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

/** `/openapi.json`, generated from the zod schemas that validate, and `/docs`, a page of it that needs nothing from
 *  elsewhere. To be called before the routes are added. */
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
      // Of the connection, which is another.
      const {
        connection: _connection,
        'transfer-encoding': _encoding,
        date: _date,
        ...about
      } = answer.headers
      return reply
        .code(answer.statusCode)
        .headers(about)
        .send(answer.rawPayload.length > 0 ? answer.rawPayload : undefined)
    })
}
