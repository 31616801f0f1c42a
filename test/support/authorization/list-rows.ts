import type { Caller } from './callers.ts'
import {
  type Ask,
  graphqlAsk,
  isChannel,
  isIntegration,
  type OpenRow,
  type Row,
  type Rows,
} from './matrix-row.ts'
import { seesCatalogue, seesSale } from './oracle.ts'
import type { Thing } from './world.ts'

// Matrix rows for lists of tickets and payments, on both surfaces.

// An integration has sales of its events; a channel may have some, even of those that it no longer sees.
const seesEvent = (caller: Caller, thing: Thing) =>
  isIntegration(caller) ? seesCatalogue(caller, thing) : isChannel(caller) ? null : false
// Some rates have no sales.
const seesRate = (caller: Caller, thing: Thing) =>
  isChannel(caller) || (isIntegration(caller) && seesCatalogue(caller, thing)) ? null : false

const cursorOf = (id: string) => Buffer.from(`${id} c0`).toString('base64url')

function graphqlRows(name: 'tickets' | 'payments', type: string): Rows {
  const ask = graphqlAsk(
    'query',
    name,
    `$filter: ${type}, $first: Int, $after: String, $last: Int, $before: String`,
    'filter: $filter, first: $first, after: $after, last: $last, before: $before',
  )
  const filtered = (field: string, kind: Row['kind'], sees: Row['sees']): Row => ({
    kind,
    sees,
    ask: (_caller, id) => ask({ filter: { [field]: id }, first: 5 }),
  })
  const cursor = (name: 'after' | 'before'): Row => ({
    kind: 'ticket',
    sees: () => null,
    ask: (_caller, id) => ask({ [name]: cursorOf(id), [name === 'after' ? 'first' : 'last']: 5 }),
  })
  return {
    [`Query.${name}`]: { open: true, isFor: ['channel', 'integration'], ask: () => ask({ first: 5 }) },
    [`Query.${name}(filter.eventIds)`]: filtered('eventIds', 'event', seesEvent),
    [`Query.${name}(filter.ticketRateIds)`]: filtered('ticketRateIds', 'rate', seesRate),
    ...(name === 'tickets' && {
      'Query.tickets(filter.paymentId)': filtered('paymentId', 'payment', seesSale),
    }),
    [`Query.${name}(after)`]: cursor('after'),
    [`Query.${name}(before)`]: cursor('before'),
  }
}

export const graphqlListRows: Rows = {
  ...graphqlRows('tickets', 'TicketFilter'),
  ...graphqlRows('payments', 'PaymentFilter'),
}

const get = (url: string): Ask => ({ method: 'GET', url })

function restRows(path: string, kind: OpenRow['isFor'][number], page = '&limit=5'): Rows {
  const isFor = (caller: Caller) => caller.kind === kind
  const filtered = (name: string, of: Row['kind'], sees: Row['sees']): [string, Row] => [
    `GET ${path} ${name}`,
    {
      kind: of,
      // A process serves a few exports at once, and refuses more.
      inTurn: page === '',
      sees: (caller, thing) => (isFor(caller) ? sees(caller, thing) : false),
      ask: (_caller, id) => get(`${path}?${name}=${id}${page}`),
    },
  ]
  return {
    [`GET ${path}`]: { open: true, isFor: [kind], ask: () => get(`${path}?order_by=CREATED_DESC${page}`) },
    ...Object.fromEntries([
      filtered('event_id', 'event', seesEvent),
      filtered('ticket_rate_id', 'rate', seesRate),
      filtered('payment_id', 'payment', seesSale),
    ]),
  }
}

export const restListRows: Rows = {
  ...restRows('/tickets', 'channel'),
  ...restRows('/integrations/tickets', 'integration'),
}

/** Rows of the exports, which the OpenAPI document describes beside the lists. */
export const exportRows: Rows = Object.assign(
  {},
  ...['.csv', '.ndjson'].map((form) => ({
    ...restRows(`/tickets${form}`, 'channel', ''),
    ...restRows(`/integrations/tickets${form}`, 'integration', ''),
  })),
)
