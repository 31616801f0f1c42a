import createClient from 'openapi-fetch'
import type { components, paths } from './generated/openapi.ts'

type Order = components['schemas']['CheckoutRequest']

/** Connects with a channel's key, on a server. */
export function connect({ url, key }: { url: string; key: string }) {
  const client = createClient<paths, 'application/json'>({ baseUrl: url, headers: { 'X-Api-Key': key } })

  return {
    async listEvents(search: string) {
      const query = { search, limit: 20, populate: '*' }
      const { data, error } = await client.GET('/events', { params: { query } })
      if (error) throw new Error(error.message, { cause: error })
      return data.data
    },
    /** Repeated with the same key and order, it is the same checkout. */
    async checkOut(order: Order, idempotencyKey: string) {
      const { data, error } = await client.POST('/tickets/checkout', {
        params: { header: { 'Idempotency-Key': idempotencyKey } },
        body: order,
      })
      return data ? { checkout: data.data } : { refused: error.errors }
    },
    async listTickets(paymentId: string) {
      const query = { payment_id: paymentId }
      const { data, error } = await client.GET('/tickets', { params: { query } })
      if (error) throw new Error(error.message, { cause: error })
      return data.data
    },
  }
}
