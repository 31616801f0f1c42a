import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { expect } from 'vitest'
import { sendWebhooks } from '../../src/domain/webhook/send/send-webhooks.ts'
import type { Sale } from './sale.ts'

/** A request that a receiver got. */
export type Received = { path: string; headers: IncomingHttpHeaders; body: string }

/** Starts a webhook receiver. It responds with 204 unless a test changes that. */
export async function startReceiver(host = '127.0.0.1') {
  const received: Received[] = []
  let respond: (response: ServerResponse, got: Received) => unknown = (response) =>
    response.writeHead(204).end()
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const got = { path: request.url ?? '', headers: request.headers, body }
    received.push(got)
    respond(response, got)
  })
  server.listen(0, host)
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return {
    received,
    port,
    url: `http://127.0.0.1:${port}`,
    /** Replaces the handler of further requests. */
    respondUsing(next: typeof respond) {
      respond = next
    },
    /** Responds to further requests with this status and these headers. */
    respondWith: (status: number, headers: Record<string, string> = {}) => {
      respond = (response) => response.writeHead(status, headers).end()
    },
    /** Returns and clears the received requests. */
    take: () => received.splice(0),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

type Headers = Record<string, string>

export type Webhook = {
  id: string
  url: string
  types: string[] | null
  status: string
  disabledReason: string | null
  failingSince: string | null
  previousSecretUntil: string | null
}
type Refusal = { code: string; path: string | null; message: string; max?: number }
export type Delivery = {
  status: string
  attempts: number
  nextAttemptAt: string | null
  lastStatus: number | null
  lastError: string | null
  deliveredAt: string | null
  change: { id: string; type: string; sequence: number; subject: { name?: string } | null }
}
type Result = {
  webhook?: Webhook
  secret?: string
  replayed?: boolean
  webhookId?: string
  delivery?: Delivery
  errors?: Refusal[]
}

const webhook = 'id url types status disabledReason failingSince previousSecretUntil'
const delivery =
  'status attempts nextAttemptAt lastStatus lastError deliveredAt change { id type sequence subject { ... on TicketRate { name } } }'
const refused = '... on Refused { errors { code path message ... on LimitError { max } } }'
const secret = `webhook { ${webhook} } secret replayed`
const changed = `webhook { ${webhook} }`

// What each payload has.
const mutations = {
  registerWebhook: secret,
  rotateWebhookSecret: secret,
  updateWebhook: changed,
  enableWebhook: changed,
  disableWebhook: changed,
  deleteWebhook: 'webhookId',
  redeliverWebhook: `delivery { ${delivery} }`,
} as const

/** GraphQL client for the webhooks of one caller. */
export function webhooksOf(sale: Sale, headers: Headers = sale.channel) {
  const ask = async <Data>(query: string, variables: object): Promise<Data> => {
    const { data, errors } = await sale.graphql<Data>(query, { ...variables }, headers)
    expect(errors).toBeUndefined()
    if (!data) throw new Error('the query returned no data')
    return data
  }
  const call = async (name: keyof typeof mutations, given: object): Promise<Result> => {
    const verb = `${name[0]?.toUpperCase()}${name.slice(1)}`
    const isKeyed = name === 'registerWebhook' || name === 'rotateWebhookSecret'
    const input = { ...(isKeyed && { idempotencyKey: crypto.randomUUID() }), ...given }
    const query = `mutation ($input: ${verb}Input!) {
      ${name}(input: $input) { ${refused} ... on ${verb}Payload { ${mutations[name]} } } }`
    return (await ask<Record<string, Result>>(query, { input }))[name] ?? {}
  }
  return {
    call,
    /** Returns code and path of the problems of a refused mutation. */
    refusal: async (name: keyof typeof mutations, variables: object) =>
      (await call(name, variables)).errors?.map(({ code, path }) => (path ? `${code} ${path}` : code)).join(),
    /** Registers a webhook, which must succeed. */
    async register(url: string, types?: string[]) {
      const { webhook, secret, errors } = await call('registerWebhook', { url, types })
      expect(errors).toBeUndefined()
      return { id: webhook?.id ?? '', secret: secret ?? '' }
    },
    list: async () => (await ask<{ webhooks: Webhook[] }>(`{ webhooks { ${webhook} } }`, {})).webhooks,
    async deliveries(webhookId: string, more: { status?: string; first?: number; after?: string } = {}) {
      type Page = {
        nodes: Delivery[]
        pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; endCursor: string | null }
      }
      const query = `query ($webhookId: ID!, $status: WebhookDeliveryStatus, $first: Int! = 50, $after: String) {
        node(id: $webhookId) { ... on Webhook { deliveries(status: $status, first: $first, after: $after) {
          nodes { ${delivery} } edges { cursor } pageInfo { hasNextPage hasPreviousPage endCursor } } } } }`
      const data = await ask<{ node: { deliveries: Page } | null }>(query, { webhookId, ...more })
      return data.node?.deliveries ?? null
    },
  }
}

type SendOptions = Partial<Parameters<typeof sendWebhooks>[1]>

/** Sends all due deliveries; receivers on private addresses are allowed. */
export const sendDueWebhooks = (sale: Pick<Sale, 'db'>, options: SendOptions = {}): Promise<void> =>
  sendWebhooks(sale.db, { privateWebhooks: true, stopping: new AbortController().signal, ...options })
