import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { jsonSchemaTransform } from 'fastify-type-provider-zod'

const header = (name: string, description: string) => ({
  type: 'apiKey' as const,
  in: 'header' as const,
  name,
  description,
})

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
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true, logLevel: 'silent' })
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}
