import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Headers } from '../authorization/callers.ts'
import { anEntry, type Checkout } from '../checkouts.ts'

// What another organization does meanwhile: it sells, is paid, scans, looks up and refunds.

/** Times of each kind of request in milliseconds, and answers that were no success. */
export type Measured = { times: Record<string, number[]>; failures: string[] }

export const medianOf = (times: number[]): number =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? Number.POSITIVE_INFINITY

/** Opens the neighbour, who has connections of its own. */
export function openNeighbour(url: string, channel: Headers, integration: Headers) {
  const agent = new Agent({ keepAlive: true })
  let number = 0

  async function send(path: string, method: string, headers: Headers, body?: string) {
    const asked = request(`${url}${path}`, { method, agent, headers })
    asked.end(body)
    const [answer] = await once(asked, 'response')
    return { status: Number(answer.statusCode), said: await text(answer) }
  }

  /** Lets the neighbour sell a ticket and go through all that follows, that many times. */
  async function measure(rounds: number): Promise<Measured> {
    const times: Measured['times'] = {}
    const failures: string[] = []
    const timed = async (name: string, ...asked: Parameters<typeof send>) => {
      const start = performance.now()
      const answer = await send(...asked)
      const taken = performance.now() - start
      times[name] = [...(times[name] ?? []), taken]
      const isRefused = answer.status >= 400 || /"errors":|"Refused"/.test(answer.said)
      if (isRefused) failures.push(`${name}: ${answer.status} ${answer.said.slice(0, 300)}`)
      return answer.said
    }
    const mutate = (name: string, input: object) => {
      const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input!`
      const query = `mutation ($input: ${type}) { ${name}(input: $input) {
        __typename ... on Refused { errors { code message } } } }`
      const headers = { ...integration, 'content-type': 'application/json' }
      return timed(name, '/graphql', 'POST', headers, JSON.stringify({ query, variables: { input } }))
    }
    for (let round = 0; round < rounds; round++) {
      const json = { ...channel, 'content-type': 'application/json' }
      const body = JSON.stringify({ ticket_rate_id: 'rate_2_b', tickets: [anEntry('price_2_b')] })
      const said = await timed('checkout', '/tickets/checkout', 'POST', json, body)
      const { payment_url, tickets } = (JSON.parse(said) as { data: Checkout }).data
      const ticketId = tickets[0]?._id ?? ''
      const form = { 'content-type': 'application/x-www-form-urlencoded' }
      await timed('payment', new URL(payment_url).pathname, 'POST', form, 'action=pay')
      const idempotencyKey = `neighbour-${++number}`
      await mutate('checkInTicket', { ticket: { ticketId }, eventId: 'evt_2', idempotencyKey })
      await timed('lookup', `/integrations/tickets/${ticketId}`, 'GET', integration)
      await mutate('refundTickets', { of: { ticketId }, idempotencyKey, notify: false })
    }
    return { times, failures }
  }
  return { measure, close: () => agent.destroy() }
}
