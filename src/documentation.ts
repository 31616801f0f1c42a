import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { jsonSchemaTransform } from 'fastify-type-provider-zod'
import { icon } from './html.ts'

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

/** `/openapi.json`, generated from the zod schemas that validate, and `/docs`, a page of it that needs nothing from
 *  elsewhere. To be called before the routes are added. */
export async function addDocumentation(app: FastifyInstance): Promise<void> {
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
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: policy,
    theme: { title: 'Boxoffice REST', favicon: [favicon] },
    uiConfig: { layout: 'BaseLayout', tryItOutEnabled: true, displayRequestDuration: true },
    logLevel: 'silent',
  })
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}
