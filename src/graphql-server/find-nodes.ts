import { changeById } from '../domain/change/loaders.ts'
import { discountById } from '../domain/discount/loaders.ts'
import { eventById } from '../domain/event/loaders.ts'
import { locationById } from '../domain/location/loaders.ts'
import { organizationById } from '../domain/organization/loaders.ts'
import { paymentById } from '../domain/payment/loaders.ts'
import { refundById } from '../domain/refund/loaders.ts'
import { ticketById } from '../domain/ticket/loaders.ts'
import { currentPrice } from '../domain/ticket-rate/current-price.ts'
import { pricesByTicketRateId, ticketRateById } from '../domain/ticket-rate/loaders.ts'
import {
  questionById,
  supplementById,
  type VisiblePrice,
  visiblePriceById,
} from '../domain/ticket-rate/part-loaders.ts'
import { findWebhooks } from '../domain/webhook/own-webhook.ts'
import type { Context } from '../request/context.ts'
import type { LoaderDefinition } from '../request/loaders.ts'
import { isInScope } from './scopes.ts'

type Row = { id: string }
type Definition = LoaderDefinition<{ load(key: string): Promise<Row | null> }>

// Types of the catalogue. Imported identifiers have any shape, so each type is queried, in one statement.
const catalogue: Record<string, Definition> = {
  Event: eventById,
  TicketRate: ticketRateById,
  Organization: organizationById,
  Location: locationById,
  Discount: discountById,
  Supplement: supplementById,
  Question: questionById,
}

// Types whose identifiers only the service makes, by their prefix.
const byPrefix = new Map<string, [typename: string, definition: Definition]>([
  ['tkt', ['Ticket', ticketById]],
  ['pay', ['Payment', paymentById]],
  ['ref', ['RefundAttempt', refundById]],
  ['chg', ['Change', changeById]],
])

const prefixOf = (id: string) => id.slice(0, id.indexOf('_') + 1).slice(0, -1)

/** Finds a price, if its rate lists it: without `showAllPrices` that is the current price alone. */
async function findPrice(id: string, { loaders, now }: Context): Promise<VisiblePrice | null> {
  const price = await loaders.load(visiblePriceById, id)
  if (!price || price.showAllPrices) return price
  const prices = await loaders.load(pricesByTicketRateId, price.ticketRateId)
  return currentPrice(prices, now)?.id === id ? price : null
}

/** Number of lookups that one identifier may cost. */
export const lookupsOfNode = Object.keys(catalogue).length + 2

type Node = Row & { __typename: string }

async function findNode(id: string, ctx: Context, webhooks: Map<string, Row>): Promise<Node | null> {
  const load = async (typename: string, definition: Definition) => ({
    typename,
    row: await ctx.loaders.load(definition, id),
  })
  const named = isInScope(ctx, 'Node of a sale') && byPrefix.get(prefixOf(id))
  const isOffered = isInScope(ctx, 'Node of a catalogue')
  const found = await Promise.all([
    ...(isOffered
      ? Object.entries(catalogue).map(([typename, definition]) => load(typename, definition))
      : []),
    { typename: 'Price', row: isOffered ? await findPrice(id, ctx) : null },
    ...(named ? [load(...named)] : []),
    { typename: 'Webhook', row: webhooks.get(id) ?? null },
  ])
  for (const { typename, row } of found) if (row) return { ...row, __typename: typename }
  return null
}

/** Finds objects of any type by their identifiers, in the order of these; null for one that does not exist or
 *  that the caller may not see. The number of statements does not depend on the number of identifiers. */
export async function findNodes(ids: readonly string[], ctx: Context): Promise<(Node | null)[]> {
  const mayOwn = ctx.caller?.kind !== 'publishable' && isInScope(ctx, 'Node of a sale')
  const webhookIds = mayOwn ? ids.filter((id) => prefixOf(id) === 'whk') : []
  const webhooks = webhookIds.length > 0 ? await findWebhooks(webhookIds, ctx) : []
  const webhookById = new Map(webhooks.map((webhook) => [webhook.id, webhook]))
  return Promise.all(ids.map((id) => findNode(id, ctx, webhookById)))
}
