import type { Caller } from './callers.ts'
import { graphqlAsk, isSelling, organizationOf, type Row, type Rows } from './matrix-row.ts'
import { ownsWebhook, seesCatalogue, seesChange, seesDiscount, seesSale } from './oracle.ts'
import { absentCursor, type Kind, type Thing } from './world.ts'

// Matrix rows for reading the catalogue and sales, and for the identifiers in a checkout.

const byId = (name: string, kind: Kind, sees: Row['sees'], only?: string): Row => {
  const ask = graphqlAsk('query', name, '$id: ID!', 'id: $id', only)
  return { kind, sees, ask: (_caller, id) => ask({ id }) }
}

const filtered = (name: string, kind: Kind): Row => {
  const ask = graphqlAsk('query', 'events', '$id: ID', `${name}: $id, first: 5`)
  return {
    kind,
    sees: seesCatalogue,
    ask: (_caller, id) => ask({ id }),
  }
}

// Kind and rule of each type that `node` and `nodes` find.
const nodeTypes: Record<string, [kind: Kind, sees: Row['sees']]> = {
  Event: ['event', seesCatalogue],
  TicketRate: ['rate', seesCatalogue],
  Location: ['location', seesCatalogue],
  Organization: ['organization', seesCatalogue],
  Ticket: ['ticket', seesSale],
  Payment: ['payment', seesSale],
  RefundAttempt: ['refund', seesSale],
  Price: ['price', seesCatalogue],
  Supplement: ['supplement', seesCatalogue],
  Question: ['question', seesCatalogue],
  Discount: ['discount', seesDiscount],
  Change: ['change', seesChange],
  Webhook: ['webhook', ownsWebhook],
}

const nodes = (type: string, kind: Kind, sees: Row['sees']): Row => {
  const ask = graphqlAsk('query', 'nodes', '$id: ID!', 'ids: [$id]', type)
  return { kind, sees, ask: (_caller, id) => ask({ id }) }
}

const nodeRows: Rows = Object.fromEntries(
  Object.entries(nodeTypes).flatMap(([type, [kind, sees]]): [string, Row][] => [
    [`Query.node(id) ${type}`, byId('node', kind, sees, type)],
    [`Query.nodes(ids) ${type}`, nodes(type, kind, sees)],
  ]),
)

const bySlug = graphqlAsk('query', 'event', '$slug: String, $id: ID', 'slug: $slug, organizationId: $id')
const organizationsAfter = graphqlAsk('query', 'organizations', '$after: String', 'after: $after, first: 5')

const eventsAfter = graphqlAsk('query', 'events', '$after: String', 'after: $after, first: 5')

// A checkout names a rate, and parts that must belong to it.
const input = {
  ticketRateId: (caller: Caller, id: string) => entryOf(organizationOf(caller), { rate: id }),
  'tickets.priceId': (caller: Caller, id: string) => entryOf(organizationOf(caller), { price: id }),
  'tickets.supplements.supplementId': (caller: Caller, id: string) =>
    entryOf(organizationOf(caller), { supplement: id }),
  'tickets.answers.questionId': (caller: Caller, id: string) =>
    entryOf(organizationOf(caller), { question: id }),
  'tickets.qrCode': (caller: Caller, id: string) => entryOf(organizationOf(caller), { code: id }),
  discountCode: (caller: Caller, id: string) => entryOf(organizationOf(caller), { discount: id }),
}
const kindOf = {
  ticketRateId: 'rate',
  'tickets.priceId': 'price',
  'tickets.supplements.supplementId': 'supplement',
  'tickets.answers.questionId': 'question',
  'tickets.qrCode': 'code',
  discountCode: 'discountCode',
} as const
export type CheckoutPlace = keyof typeof input
export const checkoutPlaces = Object.keys(input) as CheckoutPlace[]

type Named = {
  rate?: string
  price?: string
  supplement?: string
  question?: string
  code?: string
  discount?: string
}

function entryOf(organization: string, { rate, price, supplement, question, code, discount }: Named) {
  // IDs of a rate and its parts share their suffix.
  const suffix = rate?.slice(4) ?? `_${organization}_a`
  return {
    ticketRateId: rate ?? `rate_${organization}_a`,
    ...(discount && { discountCode: discount }),
    tickets: [
      {
        priceId: price ?? `price${suffix}`,
        fullName: 'mk-sale-matrix',
        email: 'matrix@example.com',
        ...(code && { qrCode: code }),
        ...(supplement && { supplements: [{ supplementId: supplement }] }),
        ...(question && { answers: [{ questionId: question, answer: 'x' }] }),
      },
    ],
  }
}

/** Row of an identifier in a checkout: which callers may use it, and the GraphQL input that contains it. */
export const checkoutRow = (place: CheckoutPlace, isSeller = isSelling) => ({
  kind: kindOf[place],
  sees: (caller: Caller, thing: Thing): boolean | null => {
    if (!isSeller(caller) || caller.organizations.length === 0) return false
    // A code must be unique within its event, whichever caller used it.
    if (place === 'tickets.qrCode') return null
    // A part of another rate is refused even if the caller sees both rates.
    return (
      seesCatalogue(caller, thing) &&
      (['ticketRateId', 'discountCode'].includes(place) || thing.id.endsWith('_a'))
    )
  },
  inputOf: input[place],
})

const inCheckout = (operation: 'query' | 'mutation', name: string) =>
  Object.fromEntries(
    checkoutPlaces.map((place): [string, Row] => {
      const { inputOf, ...row } = checkoutRow(place)
      const ask = graphqlAsk(operation, name, '$input: CheckoutInput!', 'input: $input')
      const root = operation === 'query' ? 'Query' : 'Mutation'
      return [
        `${root}.${name}(input.${place})`,
        {
          ...row,
          writes: operation === 'mutation',
          ask: (caller, id) => ask({ input: inputOf(caller, id) }),
        },
      ]
    }),
  )

export const catalogueRows: Rows = {
  'Query.paymentByUrl': {
    open: true,
    isFor: ['channel', 'publishable'],
    ask: () => graphqlAsk('query', 'paymentByUrl', '', 'url: "https://shop.example/pay/x"')(),
  },
  'Query.event': {
    open: true,
    isFor: ['channel', 'publishable', 'integration'],
    ask: () => graphqlAsk('query', 'event', '', '')(),
  },
  'Query.event(organizationId)': {
    kind: 'organization',
    sees: seesCatalogue,
    ask: (_caller, id) => bySlug({ id, slug: `mk-catalogue-${id.slice(-1)}-night` }),
  },
  'Query.organizations': {
    open: true,
    isFor: ['channel', 'publishable', 'integration'],
    ask: () => organizationsAfter(),
  },
  'Query.organizations(after)': {
    kind: 'organization',
    sees: () => null,
    ask: (_caller, id) => organizationsAfter({ after: Buffer.from(id).toString('base64url') }),
  },
  'Query.viewer': {
    open: true,
    isFor: ['channel', 'publishable', 'integration'],
    ask: () => graphqlAsk('query', 'viewer', '', '')(),
  },
  'Query.event(id)': byId('event', 'event', seesCatalogue),
  'Query.ticketRate(id)': byId('ticketRate', 'rate', seesCatalogue),
  'Query.ticket(id)': byId('ticket', 'ticket', seesSale),
  'Query.payment(id)': byId('payment', 'payment', seesSale),
  ...nodeRows,
  'Query.events': {
    open: true,
    isFor: ['channel', 'publishable', 'integration'],
    ask: () => graphqlAsk('query', 'events', '', 'first: 5')(),
  },
  'Query.events(organizationId)': filtered('organizationId', 'organization'),
  'Query.events(locationId)': filtered('locationId', 'location'),
  'Query.events(after)': {
    kind: 'eventCursor',
    sees: (caller, thing) => (seesCatalogue(caller, thing) ? null : false),
    absent: (cursor) => absentCursor(cursor, 'evt_0'),
    ask: (_caller, after) => eventsAfter({ after }),
  },
  ...inCheckout('query', 'quoteCheckout'),
  ...inCheckout('mutation', 'checkout'),
}
