import createClient from 'openapi-fetch'
import { patientFetch } from '../patient-fetch.ts'
import type { components, paths } from './generated/openapi.ts'

type Order = components['schemas']['CheckoutRequest']

/** Connects with a channel's key, on a server. */
export function connect({ url, key }: { url: string; key: string }) {
  const client = createClient<paths, 'application/json'>({
    baseUrl: url,
    headers: { 'X-Api-Key': key },
    fetch: patientFetch(),
  })

  return {
    /** Turns the pages by their `Link`: each is asked for once its first event is needed. */
    async *listEvents(search: string) {
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query = { search, limit: 20, populate: '*', cursor }
        const { data, error, response } = await client.GET('/events', { params: { query } })
        if (error) throw new Error(error.message, { cause: error })
        yield* data.data
        const link: string = response.headers.get('Link') ?? ''
        const next: string | undefined = /<([^>]+)>; rel="next"/.exec(link)?.[1]
        cursor = next ? new URL(next).searchParams.get('cursor') : null
      }
    },
    /** Repeated with the same key and order, it is the same checkout. */
    async checkOut(order: Order, idempotencyKey: string) {
      const { data, error } = await client.POST('/tickets/checkout', {
        params: { header: { 'Idempotency-Key': idempotencyKey } },
        body: order,
      })
      return data ? { checkout: data.data } : { refused: error.errors }
    },
    async readPayment(paymentId: string) {
      const { data, error } = await client.GET('/payments/{paymentId}', { params: { path: { paymentId } } })
      if (error) throw new Error(error.message, { cause: error })
      return data.data
    },
    async listTickets(paymentId: string) {
      const query = { payment_id: paymentId }
      const { data, error } = await client.GET('/tickets', { params: { query } })
      if (error) throw new Error(error.message, { cause: error })
      return data.data
    },
  }
}
