import { toSnakeCase } from '../../../src/engine/rest/snake-case.ts'
import { checkoutPlaces, checkoutRow, type InputOf } from './catalogue-rows.ts'
import { exportRows, restListRows } from './list-rows.ts'
import { type Ask, isIntegration, type Row, type Rows } from './matrix-row.ts'
import { seesCatalogue, seesSale } from './oracle.ts'

// Matrix rows for REST: each operation of the OpenAPI document, and each identifier that it takes.

function inSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inSnakeCase)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [toSnakeCase(name), inSnakeCase(field)]),
  )
}

const get = (url: string): Ask => ({ method: 'GET', url })

const filtered = (name: string, kind: Row['kind']): Row => ({
  kind,
  sees: seesCatalogue,
  ask: (_caller, id) => get(`/events?${name}=${id}&populate=*`),
})

// REST has one rate in a checkout, the fields of an attendee beside those of its ticket, and answers in words.
const toBody = ({ items, ...rest }: ReturnType<InputOf>) => {
  const [item] = items
  const tickets = item?.tickets.map(({ attendee, answers, ...ticket }) => ({
    ...ticket,
    ...attendee,
    ...(answers && { answers: answers.map(({ questionId }) => ({ questionId, answer: 'x' })) }),
  }))
  return inSnakeCase({ ...rest, ticketRateId: item?.ticketRateId, tickets }) as object
}

const checkoutRows = Object.fromEntries(
  checkoutPlaces.flatMap((place): [string, Row][] => {
    if (place.endsWith('optionId')) return []
    const { inputOf, ...row } = checkoutRow(place)
    const at = `POST /tickets/checkout ${place.replace('items.', '').split('.').map(toSnakeCase).join('.')}`
    const ask: Row['ask'] = (caller, id) => ({
      method: 'POST',
      url: '/tickets/checkout',
      body: toBody(inputOf(caller, id)),
    })
    return [[at, { ...row, writes: true, ask }]]
  }),
)

const lookup: Row = {
  kind: 'ticket',
  sees: (caller, thing) => isIntegration(caller) && seesSale(caller, thing),
  ask: (_caller, id) => get(`/integrations/tickets/${id}`),
}

export const restRows: Rows = {
  'GET /events': {
    open: true,
    isFor: ['channel', 'publishable', 'integration'],
    ask: () => get('/events?populate=*'),
  },
  'GET /events organization_id': filtered('organization_id', 'organization'),
  'GET /events location_id': filtered('location_id', 'location'),
  'GET /events/{eventId}': {
    open: true,
    isFor: ['channel', 'publishable', 'integration'],
    ask: () => get('/events/evt_0'),
  },
  'GET /events/{eventId} eventId': {
    kind: 'event',
    sees: seesCatalogue,
    ask: (_caller, id) => get(`/events/${id}?populate=*`),
  },
  'GET /payments/{paymentId}': {
    open: true,
    isFor: ['channel', 'integration'],
    ask: () => get('/payments/pay_0'),
  },
  'GET /payments/{paymentId} paymentId': {
    kind: 'payment',
    sees: seesSale,
    ask: (_caller, id) => get(`/payments/${id}`),
  },
  'POST /tickets/checkout': {
    open: true,
    isFor: ['channel', 'publishable'],
    ask: (): Ask => ({ method: 'POST', url: '/tickets/checkout', body: {} }),
  },
  ...checkoutRows,
  ...restListRows,
  'GET /integrations/tickets/{ticketId}': {
    open: true,
    isFor: ['integration'],
    ask: () => get('/integrations/tickets/tkt_0'),
  },
  'GET /integrations/tickets/{ticketId} ticketId': lookup,
  'GET /integrations/events/{eventId}/scan-list': {
    open: true,
    isFor: ['integration'],
    ask: () => get('/integrations/events/evt_0/scan-list'),
  },
  'GET /integrations/events/{eventId}/scan-list eventId': {
    kind: 'event',
    sees: (caller, thing) => isIntegration(caller) && seesCatalogue(caller, thing),
    ask: (_caller, id) => get(`/integrations/events/${id}/scan-list`),
  },
}

/** The GET rows as `HEAD` requests, which could leak through headers. */
export const headRows: Record<string, Row> = Object.fromEntries(
  Object.entries({ ...restRows, ...exportRows }).flatMap(([at, row]): [string, Row][] => {
    if ('open' in row || !at.startsWith('GET ')) return []
    // A stream has no length, by which a HEAD request could tell what the export shows.
    const sees: Row['sees'] = (...cell) => (row.sees(...cell) === false ? false : null)
    return [
      [
        `HEAD ${at.slice(4)}`,
        {
          ...row,
          ...(at in exportRows && { sees }),
          ask: (...asked) => ({ ...row.ask(...asked), method: 'HEAD' }),
        },
      ],
    ]
  }),
)

/** Authorization of a route. `keyed`: by an API key, checked by the rows above, `HEAD` like `GET`.
 *  `graphql`: checked by the GraphQL rows. `token`: by a secret in its URL. `signed`: by a signature of the
 *  body. `public`: not at all. */
export type RouteKind = 'keyed' | 'graphql' | 'token' | 'signed' | 'public'

const both = (url: string, kind: RouteKind): [string, RouteKind][] => [
  [`GET ${url}`, kind],
  [`HEAD ${url}`, kind],
]

export const routeKinds: Record<string, RouteKind> = Object.fromEntries([
  ...both('/', 'public'),
  ...both('/health', 'public'),
  ...both('/ready', 'public'),
  ...both('/schema.graphql', 'public'),
  ...both('/docs', 'public'),
  ...both('/docs/*', 'public'),
  ...both('/openapi.json', 'public'),
  ['GET /graphql', 'graphql'],
  ['POST /graphql', 'graphql'],
  ...both('/events', 'keyed'),
  ...both('/events/:eventId', 'keyed'),
  ...both('/payments/:paymentId', 'keyed'),
  ['POST /tickets/checkout', 'keyed'],
  ...['', '.csv', '.ndjson'].flatMap((form) => both(`/tickets${form}`, 'keyed')),
  ...['', '.csv', '.ndjson'].flatMap((form) => both(`/integrations/tickets${form}`, 'keyed')),
  ...both('/integrations/tickets/:ticketId', 'keyed'),
  ...both('/integrations/events/:eventId/scan-list', 'keyed'),
  ...both('/pay/*', 'token'),
  ['POST /pay/*', 'token'],
  ...both('/tickets/:token.pdf', 'token'),
  ['POST /webhooks/stripe', 'signed'],
])
