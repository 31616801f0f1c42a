import type { FastifyInstance } from 'fastify'
import type { Database } from '../database/database.ts'
import { type DemoCredentials, demoOffer } from '../domain/catalogue/demo/open-demo.ts'
import type { Demo } from '../graphql-server/graphiql/tabs.ts'
import type { DemoValues } from '../rest/openapi/example-ids.ts'

const sell = `mutation ($input: SellAtBoxOfficeInput!) { sellAtBoxOffice(input: $input) { __typename } }`

/** Returns what fills the tabs of GraphiQL and the examples of the REST documentation; undefined if nothing of
 *  the demo is on sale any more. */
export async function demoTabs(
  db: Database,
  { key, integration_key: integrationKey }: DemoCredentials,
  publishableKey: string | null,
): Promise<(Demo & DemoValues) | undefined> {
  const offer = await demoOffer(db)
  if (!offer) return undefined
  const keys = { key, integrationKey, publishableKey: publishableKey ?? key }
  const { ticketId, paymentId } = offer
  return { ...offer, ...keys, ticketId: ticketId ?? 'tkt_…', paymentId: paymentId ?? 'pay_…' }
}

/** Sells a ticket of the demo at the box office, as a client does, unless one was sold: the tabs that read
 *  and scan a ticket then work as they are. */
export async function sellDemoTicket(
  app: FastifyInstance,
  db: Database,
  { integration_key }: DemoCredentials,
): Promise<void> {
  const offer = await demoOffer(db)
  if (!offer || offer.ticketId !== null) return
  const { ticketRateId, priceId } = offer
  const tickets = [{ priceId, fullName: 'Grace Hopper', email: 'grace@example.com' }]
  await app.inject({
    method: 'POST',
    url: '/graphql',
    headers: { 'x-api-key': integration_key },
    payload: { query: sell, variables: { input: { ticketRateId, tickets, method: 'CASH' } } },
  })
}
