import { type Client, createClient, type ExecutionResult } from 'graphql-sse'
import { expect, onTestFinished } from 'vitest'

type Headers = Record<string, string>
type Operation = { query: string; variables?: Record<string, unknown> }

/** A subscription of a client, and what it has received so far. */
export type Subscription<Data> = {
  received: Data[]
  errors: { code: unknown; path?: unknown }[]
  /** True once the server has completed it. */
  isComplete(): boolean
  /** Error that ended it, such as a refused connection. */
  failure(): unknown
  /** Resolves once the server has opened it: what happens from then on is received. */
  opened(): Promise<void>
  close(): void
  /** Resolves to the last data once they match. */
  until(matches: (data: Data) => boolean): Promise<Data>
}

/** Subscribes with the client of the protocol. It ends with the test. */
export function subscribe<Data>(
  url: string,
  headers: Headers,
  operation: Operation,
  options: { retryAttempts?: number } = {},
): Subscription<Data> {
  let isOpen = false
  const client: Client = createClient({
    url: `${url}/graphql`,
    headers,
    retryAttempts: 0,
    retry: async () => {},
    on: {
      connected() {
        isOpen = true
      },
    },
    ...options,
  })
  const received: Data[] = []
  const errors: Subscription<Data>['errors'] = []
  let isComplete = false
  let failure: unknown = null
  const close = client.subscribe<Data>(operation, {
    next({ data, errors: found }: ExecutionResult<Data>) {
      if (data) received.push(data)
      for (const { extensions } of found ?? [])
        errors.push({
          code: extensions?.code,
          ...(extensions?.path !== undefined && { path: extensions.path }),
        })
    },
    error(error) {
      failure = error
    },
    complete() {
      isComplete = true
    },
  })
  onTestFinished(() => close())
  return {
    received,
    errors,
    isComplete: () => isComplete,
    failure: () => failure,
    opened: () => expect.poll(() => isOpen, { interval: 10 }).toBe(true),
    close,
    async until(matches) {
      await expect.poll(() => received.some(matches), { interval: 10 }).toBe(true)
      return received.findLast(matches) as Data
    },
  }
}

export type RateState = {
  ticketRates: {
    id: string
    status: string
    available: boolean
    availability: { sold: number; available: number | null }
  }
}

const rateQuery = `subscription ($ids: [ID!]!) { ticketRates(of: { ids: $ids }) {
  id status available availability { sold available } } }`

/** Subscribes to rates. */
export const watchRates = (url: string, headers: Headers, ...ids: string[]) =>
  subscribe<RateState>(url, headers, { query: rateQuery, variables: { ids } })

/** Places that are left of a rate. */
export const leftIn = ({ ticketRates: { availability } }: RateState): number | null => availability.available

/** Sends a request for an event stream without the client of the protocol. Resolves with its headers. */
export async function openStream(
  url: string,
  headers: Headers,
  operation: Operation,
): Promise<{ response: Response; text(): string; isOver(): boolean; close(): void }> {
  const controller = new AbortController()
  onTestFinished(() => controller.abort())
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { accept: 'text/event-stream', 'content-type': 'application/json', ...headers },
    body: JSON.stringify(operation),
    signal: controller.signal,
  })
  let text = ''
  let isOver = false
  const read = async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk as Uint8Array).toString()
  }
  read()
    .catch(() => {})
    .finally(() => {
      isOver = true
    })
  return { response, text: () => text, isOver: () => isOver, close: () => controller.abort() }
}
