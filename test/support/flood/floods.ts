import { type GraphQLInputType, getNamedType, isInputObjectType, isListType, isNonNullType } from 'graphql'
import { schema } from '../../../src/app/schema.ts'
import { takeTurns } from '../../../src/engine/database/database.ts'
import { type Caller, openCallers } from '../authorization/callers.ts'
import { catalogueOfTwo } from '../authorization/catalogue.ts'
import { register } from '../authorization/sell-as.ts'
import { anEntry, mustCheckOut } from '../checkouts.ts'
import { openDoors } from '../door.ts'
import type { GatewayOptions } from '../harness.ts'
import { openPageBuyer } from '../payment-page-buyer.ts'
import { openSale, type Sale } from '../sale.ts'
import type { FloodRequest } from './flood.ts'

// A request for each mutation, which any number of clients may send at once: all of them name the same rows, as far as
// the mutation names any. `{{n}}` is a number that no other request has.

/** What a mutation may name: a ticket and a webhook of its own, an unpaid payment, and tickets for a batch. */
type Named = { ticketId: string; webhookId: string; paymentId: string; changeId: string; batch: string[] }

type MutationRequest = FloodRequest & { headers: Record<string, string>; body: string }

const idempotencyKey = 'flood-{{n}}'
const attendee = { fullName: 'Ana {{n}}', email: 'ana{{n}}@example.com' }
const items = [{ ticketRateId: 'rate_1_b', tickets: [{ priceId: 'price_1_b', attendee }] }]
const eventId = 'evt_1'

/** Inputs by mutation. Fields that the schema does not have are left out. */
export const floodInputs: Record<string, (named: Named) => object> = {
  checkout: () => ({ items, idempotencyKey }),
  cancelPayment: ({ paymentId }) => ({ paymentId }),
  sellAtBoxOffice: () => ({ items, method: 'CASH', idempotencyKey }),
  issueInvitations: () => ({ ticketRateId: 'rate_1_b', guests: [attendee], idempotencyKey }),
  updateAttendees: ({ ticketId }) => ({ attendees: [{ ticketId, address: { street: 'Street {{n}}' } }] }),
  transferTicket: ({ ticketId }) => ({ ticketId, attendee }),
  resendTickets: ({ ticketId }) => ({ of: { ticketId }, idempotencyKey }),
  refundTickets: ({ ticketId }) => ({
    of: { ticketId },
    amount: { amount: '0.01', currency: 'EUR' },
    notify: false,
    idempotencyKey,
  }),
  returnTicket: ({ ticketId }) => ({ ticketId }),
  cancelTickets: ({ ticketId }) => ({ of: { ticketId } }),
  checkInTicket: ({ ticketId }) => ({ ticket: { ticketId }, eventId, idempotencyKey }),
  checkInTickets: ({ batch }) => ({
    scans: batch.map((ticketId, index) => ({
      ticket: { ticketId },
      eventId,
      idempotencyKey: `${idempotencyKey}-${index}`,
    })),
  }),
  redeemSupplement: ({ ticketId }) => ({
    ticket: { ticketId },
    eventId,
    supplementId: 'sup_1_a',
    idempotencyKey,
  }),
  // One key, because a caller has ten webhooks at most.
  registerWebhook: () => ({ url: 'https://hooks.example/flood', idempotencyKey: 'flood' }),
  updateWebhook: ({ webhookId }) => ({ webhookId, types: ['PAYMENT_PAID'] }),
  rotateWebhookSecret: ({ webhookId }) => ({ webhookId, idempotencyKey }),
  redeliverWebhook: ({ webhookId, changeId }) => ({ webhookId, changeId }),
  disableWebhook: ({ webhookId }) => ({ webhookId }),
  enableWebhook: ({ webhookId }) => ({ webhookId }),
  deleteWebhook: ({ webhookId }) => ({ webhookId }),
}

function keepKnown(value: unknown, type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return keepKnown(value, type.ofType)
  if (isListType(type))
    return Array.isArray(value) ? value.map((item) => keepKnown(item, type.ofType)) : value
  if (!isInputObjectType(type) || typeof value !== 'object' || value === null) return value
  const fields = type.getFields()
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, given]) => {
      const field = fields[name]
      return field ? [[name, keepKnown(given, field.type)]] : []
    }),
  )
}

const mutations = schema.getMutationType()?.getFields() ?? {}
/** Names of all mutations. */
export const mutationNames = Object.keys(mutations)

/** A request of a mutation, with everything that is named in it. */
export function floodOf(name: string, named: Named, { headers }: Pick<Caller, 'headers'>): MutationRequest {
  const argument = mutations[name]?.args[0]
  const inputOf = floodInputs[name]
  if (!argument || !inputOf) throw new Error(`there is no flood of ${name}`)
  const query = `mutation ($input: ${argument.type}) { ${name}(input: $input) {
    __typename ... on Refused { errors { code message } } } }`
  const input = keepKnown(inputOf(named), getNamedType(argument.type) as GraphQLInputType)
  const json = { 'content-type': 'application/json', accept: 'application/json' }
  return { headers: { ...headers, ...json }, body: JSON.stringify({ query, variables: { input } }) }
}

// Tickets of a checkout.
const perCheckout = 10

async function sellTo(sale: Sale, { headers }: Caller, count: number) {
  const buyer = openPageBuyer(sale)
  const sold: string[] = []
  const entry = anEntry('price_1_a', { supplements: [{ supplement_id: 'sup_1_a' }], warranty: true })
  while (sold.length < count) {
    const tickets = Array.from({ length: perCheckout }, () => entry)
    const checkout = await mustCheckOut(sale, { ticket_rate_id: 'rate_1_a', tickets }, headers)
    await buyer.pay(checkout)
    sold.push(...checkout.tickets.map(({ _id }) => _id))
  }
  return sold
}

/** Opens two organizations on a gateway that listens. The first one's callers flood: `shop`, `tester`, `door` and `page`;
 *  `foreign` and `far` are the other's. `namedFor` gives what a mutation may name, in the mode of its caller. */
export async function openFloodedSale({
  inTurns = true,
  ...options
}: GatewayOptions & { inTurns?: boolean } = {}) {
  const sale = await openSale(catalogueOfTwo(), { listen: true, ...options, settings: openDoors })
  // Control: all owners are one on the pool, without a bound.
  const { client } = sale.db._.session as unknown as { client: object }
  if (!inTurns) takeTurns(sale.db, () => client)
  const { callers } = await openCallers(sale.db)
  const { shop, tester, door, page } = callers
  const names = Object.keys(floodInputs)
  async function sellIn(caller: Caller) {
    const tickets = await sellTo(sale, caller, names.length)
    const entry = { ticket_rate_id: 'rate_1_a', tickets: [anEntry('price_1_a')] }
    const { payment_id: paymentId } = await mustCheckOut(sale, entry, caller.headers)
    return { tickets, paymentId, batch: await sellTo(sale, caller, 200) }
  }
  const sold = { live: await sellIn(shop), test: await sellIn(tester) }
  /** Flood of a mutation, on its own ticket or another. */
  const floodAs = async (name: string, caller: Caller, other?: string): Promise<MutationRequest> => {
    const { tickets, paymentId, batch } = sold[caller.mode]
    const ticketId = other ?? tickets[names.indexOf(name)] ?? ''
    // A caller has ten at most.
    const isOfWebhook = /Webhook/.test(name) && name !== 'registerWebhook' && caller.kind !== 'publishable'
    const webhookId = isOfWebhook ? await register(sale, caller) : 'whk_0'
    return floodOf(name, { ticketId, webhookId, paymentId, changeId: 'chg_0', batch }, caller)
  }
  /** A ticket of each of twenty payments. */
  const ofPayments = sold.live.batch.filter((_, index) => index % perCheckout === 0)
  return { sale, callers, flooders: { shop, tester, door, page }, floodAs, ofPayments }
}
