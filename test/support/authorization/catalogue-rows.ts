import type { GraphQLObjectType } from 'graphql'
import { schema } from '../../../src/app/schema.ts'
import { selectionOf } from '../graphql-selection.ts'
import type { Caller } from './callers.ts'
import { type Ask, graphqlAsk, isSelling, organizationOf, type Row, type Rows } from './matrix-row.ts'
import {
  ownsWebhook,
  seesCatalogue,
  seesChange,
  seesChannel,
  seesCheckIn,
  seesDiscount,
  seesIntegration,
  seesSale,
} from './oracle.ts'
import { absentCursor, type Kind, type Thing } from './world.ts'

// Matrix rows for reading the catalogue and sales, and for the identifiers in a checkout.

const byId = (name: string, kind: Kind, sees: Row['sees'], only?: string): Row => {
  const ask = graphqlAsk('query', name, '$id: ID!', 'id: $id', only)
  return { kind, sees, ask: (_caller, id) => ask({ id }) }
}

const by = (name: 'event' | 'organization'): Row => {
  const ask = graphqlAsk('query', name, '$id: ID!', 'by: { id: $id }')
  return { kind: name, sees: seesCatalogue, ask: (_caller, id) => ask({ id }) }
}

const bySlug = (name: 'event' | 'organization', declared: string, slug: string): Row => {
  const ask = graphqlAsk('query', name, declared, `by: { slug: ${slug} }`)
  return {
    kind: 'slug',
    sees: seesCatalogue,
    absent: () => 'mk-absent',
    ask: (_caller, slug) => ask({ slug, night: `${slug}-night` }),
  }
}

const filtered = (name: string, kind: Kind): Row => {
  const ask = graphqlAsk('query', 'events', '$id: ID', `filter: { ${name}: $id }, first: 5`)
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
  Refund: ['refund', seesSale],
  CheckIn: ['checkIn', seesCheckIn],
  Channel: ['channel', seesChannel],
  Integration: ['integration', seesIntegration],
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

const salesBy = (groupBy: string): [string, Row] => {
  const rows = selectionOf(schema, schema.getType('SalesRowConnection') as GraphQLObjectType)
  const query = `query ($id: ID!) { event(by: { id: $id }) { __typename id sales(groupBy: ${groupBy}) { ${rows} } } }`
  const ask = (_caller: Caller, id: string): Ask => ({
    method: 'POST',
    url: '/graphql',
    body: { query, variables: { id } },
  })
  return [`Event.sales(groupBy: ${groupBy})`, { kind: 'event', sees: seesCatalogue, ask }]
}

/** Rows of a field that needs an argument: what leads to everything leaves it out. */
export const salesRows: Rows = Object.fromEntries(['RATE', 'PRICE', 'CHANNEL'].map(salesBy))

const organizationsAfter = graphqlAsk('query', 'organizations', '$after: String', 'after: $after, first: 5')

const eventsAfter = graphqlAsk('query', 'events', '$after: String', 'after: $after, first: 5')

// A checkout names a rate, and parts that must belong to it.
const input = {
  'items.ticketRateId': (caller: Caller, id: string) => entryOf(organizationOf(caller), { rate: id }),
  'items.tickets.priceId': (caller: Caller, id: string) => entryOf(organizationOf(caller), { price: id }),
  'items.tickets.supplements.supplementId': (caller: Caller, id: string) =>
    entryOf(organizationOf(caller), { supplement: id }),
  'items.tickets.answers.questionId': (caller: Caller, id: string) =>
    entryOf(organizationOf(caller), { question: id }),
  'items.tickets.answers.answer.optionId': (caller: Caller, id: string) =>
    entryOf(organizationOf(caller), { option: id }),
  'items.tickets.qrCode': (caller: Caller, id: string) => entryOf(organizationOf(caller), { code: id }),
  discountCode: (caller: Caller, id: string) => entryOf(organizationOf(caller), { discount: id }),
}
const kindOf = {
  'items.ticketRateId': 'rate',
  'items.tickets.priceId': 'price',
  'items.tickets.supplements.supplementId': 'supplement',
  'items.tickets.answers.questionId': 'question',
  'items.tickets.answers.answer.optionId': 'option',
  'items.tickets.qrCode': 'code',
  discountCode: 'discountCode',
} as const
export type CheckoutPlace = keyof typeof input
export type InputOf = (caller: Caller, id: string) => ReturnType<typeof entryOf>
export const checkoutPlaces = Object.keys(input) as CheckoutPlace[]

type Named = {
  rate?: string
  price?: string
  supplement?: string
  question?: string
  option?: string
  code?: string
  discount?: string
}

function entryOf(organization: string, { rate, price, supplement, question, option, code, discount }: Named) {
  // IDs of a rate and its parts share their suffix.
  const suffix = rate?.slice(4) ?? `_${organization}_a`
  const ticket = {
    priceId: price ?? `price${suffix}`,
    attendee: { fullName: 'mk-sale-matrix', email: 'matrix@example.com' },
    ...(code && { qrCode: code }),
    ...(supplement && { supplements: [{ supplementId: supplement }] }),
    ...(question && { answers: [{ questionId: question, answer: { text: 'x' } }] }),
    ...(option && { answers: [{ questionId: `size${suffix}`, answer: { optionId: option } }] }),
  }
  return {
    items: [{ ticketRateId: rate ?? `rate_${organization}_a`, tickets: [ticket] }],
    ...(discount && { discountCode: discount }),
  }
}

// A quote is asked for without attendees.
const toQuote = ({ items, ...rest }: ReturnType<typeof entryOf>) => ({
  ...rest,
  items: items.map(({ ticketRateId, tickets }) => ({
    ticketRateId,
    tickets: tickets.map(({ attendee: _, ...ticket }) => ticket),
  })),
})

/** Row of an identifier in a checkout: which callers may use it, and the GraphQL input that contains it. */
export const checkoutRow = (place: CheckoutPlace, isSeller = isSelling) => ({
  kind: kindOf[place],
  sees: (caller: Caller, thing: Thing): boolean | null => {
    if (!isSeller(caller) || caller.organizations.length === 0) return false
    // A code must be unique within its event, whichever caller used it.
    if (place === 'items.tickets.qrCode') return null
    // A part of another rate is refused even if the caller sees both rates.
    return (
      seesCatalogue(caller, thing) &&
      (['rate', 'discountCode', 'option'].includes(kindOf[place]) || thing.id.endsWith('_a'))
    )
  },
  inputOf: input[place],
})

const quote = graphqlAsk('query', 'quoteCheckout', '$input: QuoteCheckoutInput!', 'input: $input')
const keyed = graphqlAsk('mutation', 'checkout', '$input: CheckoutInput!', 'input: $input')
const checkOut = ({ input }: { input: object }) =>
  keyed({ input: { ...input, idempotencyKey: crypto.randomUUID() } })

const rowsOf = (
  root: string,
  places: CheckoutPlace[],
  more: (inputOf: InputOf) => Pick<Row, 'ask' | 'writes'>,
) =>
  Object.fromEntries(
    places.map((place): [string, Row] => {
      const { inputOf, ...row } = checkoutRow(place)
      return [`${root}(input.${place})`, { ...row, ...more(inputOf) }]
    }),
  )

const quoteRows = rowsOf(
  'Query.quoteCheckout',
  checkoutPlaces.filter((place) => !/answers|qrCode/.test(place)),
  (inputOf) => ({ ask: (caller, id) => quote({ input: toQuote(inputOf(caller, id)) }) }),
)
const checkoutRows = rowsOf('Mutation.checkout', checkoutPlaces, (inputOf) => ({
  writes: true,
  ask: (caller, id) => checkOut({ input: inputOf(caller, id) }),
}))

/** Requests that are refused with objects among the reasons: a rate that is sold out, and a total. */
export const refusedRows: Rows = {
  'a quote of a rate that is sold out': {
    open: true,
    isFor: ['channel', 'publishable'],
    ask: () => quote({ input: toQuote(entryOf('1', { rate: 'rate_1_full' })) }),
  },
  'a checkout of a higher total than the buyer was shown': {
    open: true,
    isFor: ['channel', 'publishable'],
    ask: () =>
      checkOut({ input: { ...entryOf('1', {}), expectedTotal: { amount: '0.01', currency: 'EUR' } } }),
  },
}

export const catalogueRows: Rows = {
  'Query.paymentByUrl': {
    open: true,
    isFor: ['channel', 'publishable'],
    ask: () => graphqlAsk('query', 'paymentByUrl', '', 'url: "https://shop.example/pay/x"')(),
  },
  'Query.organization(by.id)': by('organization'),
  'Query.organization(by.slug)': bySlug('organization', '$slug: String!', '$slug'),
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
  'Query.event(by.id)': by('event'),
  'Query.event(by.slug)': bySlug(
    'event',
    '$slug: String!, $night: String!',
    '{ organizationSlug: $slug, slug: $night }',
  ),
  'Query.ticketRate(id)': byId('ticketRate', 'rate', seesCatalogue),
  'Query.ticket(id)': byId('ticket', 'ticket', seesSale),
  'Query.payment(id)': byId('payment', 'payment', seesSale),
  ...nodeRows,
  'Query.events': {
    open: true,
    isFor: ['channel', 'publishable', 'integration'],
    ask: () => graphqlAsk('query', 'events', '', 'first: 5')(),
  },
  'Query.events(filter.organizationId)': filtered('organizationId', 'organization'),
  'Query.events(filter.locationId)': filtered('locationId', 'location'),
  'Query.events(after)': {
    kind: 'eventCursor',
    sees: (caller, thing) => (seesCatalogue(caller, thing) ? null : false),
    absent: (cursor) => absentCursor(cursor, 'evt_0'),
    ask: (_caller, after) => eventsAfter({ after }),
  },
  ...quoteRows,
  ...checkoutRows,
}
