import type { FastifySchema } from 'fastify'
import { type ExampleValues, withExampleIds } from '../../../domain/contract/example-ids.ts'
import { type DocumentedWebhook, toWebhooks } from '../../../domain/webhook/openapi-webhooks.ts'
import { headerComponents } from './headers.ts'
import { createSchemas } from './json-schemas.ts'
import { type Operation, toOperation } from './operation.ts'
import { type Refusals, refusalsWith } from './refusals.ts'

export type DocumentedRoute = { method: string | string[]; url: string; schema?: FastifySchema }

type DocumentOptions = {
  routes: readonly DocumentedRoute[]
  webhooks: readonly DocumentedWebhook[]
  /** Address of the service, without a slash at its end. */
  publicUrl: string
  version: string
  examples?: ExampleValues
  refusals: Refusals
}

const inHeader = (name: string, description: string) => ({
  type: 'apiKey' as const,
  in: 'header',
  name,
  description,
})

/** Ways to authenticate, by which `security` of a route names them. */
const securitySchemes = {
  channelKey: inHeader('X-Api-Key', 'Method v2: key of a channel.'),
  integrationKey: inHeader('X-Api-Key', 'Method v2: key of an integration.'),
  integrationId: inHeader('integration_id', 'Method v1: identifier of the integration.'),
  secret: inHeader('secret', 'Method v1: secret of the organization, or one of the integration alone.'),
}

const tags = [
  { name: 'Channels', description: 'What a channel may do: read events, sell their tickets, read payments.' },
  {
    name: 'Integrations',
    description: "What an organization's integration may do: read its events, payments and tickets.",
  },
  {
    name: 'Webhooks',
    description:
      'Messages to the address that `registerWebhook` of the GraphQL interface was given, in the form of [Standard Webhooks](https://www.standardwebhooks.com). Verify them with one of its libraries.',
  },
]

const description = `List events, check out tickets, read payments and tickets back. All else is GraphQL, at \`/graphql\`, with the same keys,
codes and limits:

| need | operation |
|---|---|
| price a checkout without holding anything | \`quoteCheckout\` |
| end an unpaid checkout, cancel a ticket | \`cancelPayment\`, \`cancelTickets\` |
| refund a ticket, give it back by its warranty | \`refundTickets\`, \`returnTicket\` |
| correct an attendee, give a ticket to another person, send it again | \`updateAttendees\`, \`transferTicket\`, \`resendTickets\` |
| check tickets in, hand out what was bought with them | \`checkInTicket\`, \`checkInTickets\`, \`redeemSupplement\` |
| sell at the box office, give tickets away | \`sellAtBoxOffice\`, \`issueInvitations\` |
| sums of an event, discounts, lists of payments | \`Event.sales\`, \`discounts\`, \`payments\` |
| register webhooks, read what they would have sent | \`registerWebhook\`, \`webhooks\`, \`changes\` |
| watch places, payments and scans live | \`ticketRates\`, \`payment\`, \`checkIns\` |
| read a payment in a browser, by a publishable key | \`paymentByUrl\` |

- Bodies are JSON in UTF-8. Times are ISO 8601 in UTC with milliseconds, amounts are in major units of their currency.
- An unknown parameter or field is refused. Responses may get new fields, and lists of values new values: ignore what is
  unknown.
- A refusal has the body \`Error\`, with a code for programs. A status lists its codes; a request may break several rules at
  once, and the status is that of the first. Retry 429 and 503 after \`Retry-After\` seconds.`

const toPath = (url: string) => url.replace(/:(\w+)/g, '{$1}')

function toPaths(routes: readonly DocumentedRoute[], toOne: (schema: FastifySchema) => Operation) {
  const paths: Record<string, Record<string, Operation>> = {}
  for (const { method, url, schema } of routes)
    if (schema) paths[toPath(url)] = { ...paths[toPath(url)], [String(method).toLowerCase()]: toOne(schema) }
  return paths
}

/** Builds the OpenAPI 3.1 document of these routes and webhooks. */
export function toOpenApiDocument({
  routes,
  webhooks,
  publicUrl,
  version,
  examples,
  refusals,
}: DocumentOptions) {
  const schemas = createSchemas()
  const refusalsOf = refusalsWith(refusals, schemas)
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Boxoffice',
      version,
      description,
      contact: { name: 'Operator of the service', url: publicUrl },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl, description: 'This service.' }],
    tags,
    paths: toPaths(routes, (schema) => toOperation(schema, schemas, refusalsOf)),
    webhooks: toWebhooks(webhooks, schemas),
    components: {
      securitySchemes,
      headers: headerComponents,
      schemas: schemas.components() as Record<string, object>,
    },
  }
  return examples ? withExampleIds(document, examples) : document
}

export type OpenApiDocument = ReturnType<typeof toOpenApiDocument>
