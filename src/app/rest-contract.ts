import { type ExampleValues, withExampleIds } from '../domain/contract/ids.ts'
import { documentedRefusals } from '../domain/contract/problem-codes.ts'
import { icon } from '../domain/language/page.ts'
import { toWebhooks } from '../domain/webhook/messages-rest.ts'
import type { RestContract } from '../engine/rest/openapi/openapi-document.ts'

const apiKey = { type: 'apiKey', in: 'header' } as const
const inHeader = (name: string, description: string) => ({ ...apiKey, name, description })

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

const description = `List events, check out tickets, read payments and tickets back.

- Bodies are JSON in UTF-8. Times are ISO 8601 in UTC with milliseconds, amounts are in major units of their currency.
- An unknown parameter or field is refused. Responses may get new fields, and lists of values new values: ignore what is
  unknown.
- A refusal has the body \`Refusal\`, with a code for programs. A status lists its codes; a request may break several rules at
  once, and the status is that of the first. Retry 429 and 503 after \`Retry-After\` seconds.

<details><summary>All else is GraphQL, with the same keys, codes and limits</summary>

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

</details>`

/** Contract of REST, for `addDocumentation`. */
export const restContract: RestContract<ExampleValues> = {
  title: 'Boxoffice',
  description,
  tags,
  securitySchemes,
  refusals: documentedRefusals,
  link: '<https://tickets.example/events?limit=20&offset=20>; rel="next"',
  partsOf: (schemas) => ({ webhooks: toWebhooks(schemas) }),
  fill: withExampleIds,
  icon,
  keysOf: ({ key, integrationKey }) => ({ channelKey: key, integrationKey }),
}
