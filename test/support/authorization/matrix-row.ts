import { getNamedType } from 'graphql'
import { schema } from '../../../src/app/schema.ts'
import { selectionOf } from '../graphql-selection.ts'
import type { Caller } from './callers.ts'
import type { Kind, Thing, World } from './world.ts'

export type Ask = {
  method: 'GET' | 'HEAD' | 'POST'
  url: string
  body?: object
}

/** An identifier in a request, and who may see its object. `sees` is true if the object must be shown, false
 *  if the response must equal that for an absent object, null if neither can be told, as for a cursor. */
export type Row = {
  kind: Kind
  sees(caller: Caller, thing: Thing): boolean | null
  ask(caller: Caller, id: string, world: World): Ask
  /** Returns an absent identifier of the same shape. Defaults to one with other last characters. */
  absent?(id: string): string
  /** True if it may write. A refused request must leave every table unchanged. */
  writes?: boolean
  /** Tables that record even refused requests. */
  notes?: string[]
  /** True if few of these requests may run at once. */
  inTurn?: boolean
  /** Creates a new object for each permitted request, for requests that use it up. */
  fresh?(caller: Caller, world: World): Promise<string>
}

/** A request without identifiers, and the kinds of caller that may send it. */
export type OpenRow = { open: true; isFor: Caller['kind'][]; ask(caller: Caller): Ask; notes?: string[] }

export type Rows = Record<string, Row | OpenRow>

type Operation = 'query' | 'mutation' | 'subscription'

const roots = {
  query: schema.getQueryType(),
  mutation: schema.getMutationType(),
  subscription: schema.getSubscriptionType(),
}

/** Builds a GraphQL request that selects everything below a root field. */
export function graphqlAsk(
  operation: Operation,
  name: string,
  declared: string,
  args: string,
  only?: string,
): (variables?: object) => Ask {
  const field = roots[operation]?.getFields()[name]
  if (!field) throw new Error(`there is no ${operation} ${name}`)
  const type = only === undefined ? getNamedType(field.type) : schema.getType(only)
  if (!type) throw new Error(`there is no type ${only}`)
  const all = selectionOf(schema, type)
  const selection = only === undefined ? all : `... on ${only} { ${all} }`
  const query = `${operation}${declared && ` (${declared})`} { ${name}${args && `(${args})`} { ${selection} } }`
  return (variables = {}) => ({ method: 'POST', url: '/graphql', body: { query, variables } })
}

/** Number of an organization that the caller sees, or 1 if it sees none. */
export const organizationOf = ({ organizations }: Caller): string => organizations[0]?.slice(-1) ?? '1'

export const isChannel = ({ kind }: Caller) => kind === 'channel'
/** A channel, or a page with a publishable key of one. */
export const isSelling = ({ kind }: Caller) => kind === 'channel' || kind === 'publishable'
export const isIntegration = ({ kind }: Caller) => kind === 'integration'

/** The same row as a GET request. */
export const byGet = (row: Row): Row => ({
  ...row,
  ask: (...asked) => {
    const { query, variables } = row.ask(...asked).body as { query: string; variables: object }
    const parameters = new URLSearchParams({ query, variables: JSON.stringify(variables) })
    return { method: 'GET', url: `/graphql?${parameters}` }
  },
})
