import { getNamedType } from 'graphql'
import { schema } from '../../../src/graphql-server/schema.ts'
import { selectionOf } from '../graphql-selection.ts'
import type { Caller } from './callers.ts'
import type { Kind, Thing, World } from './world.ts'

export type Ask = {
  method: 'GET' | 'HEAD' | 'POST'
  url: string
  body?: object
}

/** An identifier that a client names, and who sees what it leads to. `sees` is true for what must be shown, false for what
 *  must be answered as if there were no such thing, null for what is told by neither: a place in a list. */
export type Row = {
  kind: Kind
  sees(caller: Caller, thing: Thing): boolean | null
  ask(caller: Caller, id: string, world: World): Ask
  /** The same identifier, of nothing; else one that differs in its last characters. */
  absent?(id: string): string
  /** Whether it may change anything: what is refused must leave every table as it was. */
  writes?: boolean
  /** Tables that note a request which is refused. */
  notes?: string[]
  /** Made anew for each request that is not to be refused, because that uses it up. */
  fresh?(caller: Caller, world: World): Promise<string>
}

/** What is asked without naming anything: only for what is shown to whom. */
export type OpenRow = { open: true; isFor: Caller['kind'][]; ask(caller: Caller): Ask; notes?: string[] }

export type Rows = Record<string, Row | OpenRow>

type Operation = 'query' | 'mutation'

const rootOf = (operation: Operation) =>
  operation === 'query' ? schema.getQueryType() : schema.getMutationType()

/** A GraphQL request for everything that a field leads to. */
export function graphqlAsk(
  operation: Operation,
  name: string,
  declared: string,
  args: string,
  only?: string,
): (variables?: object) => Ask {
  const field = rootOf(operation)?.getFields()[name]
  if (!field) throw new Error(`there is no ${operation} ${name}`)
  const type = only === undefined ? getNamedType(field.type) : schema.getType(only)
  if (!type) throw new Error(`there is no type ${only}`)
  const all = selectionOf(schema, type)
  const selection = only === undefined ? all : `... on ${only} { ${all} }`
  const query = `${operation}${declared && ` (${declared})`} { ${name}${args && `(${args})`} { ${selection} } }`
  return (variables = {}) => ({ method: 'POST', url: '/graphql', body: { query, variables } })
}

/** The number of an organization that the caller sees; of the first one where it sees none. */
export const organizationOf = ({ organizations }: Caller): string => organizations[0]?.slice(-1) ?? '1'

export const isChannel = ({ kind }: Caller) => kind === 'channel'
export const isIntegration = ({ kind }: Caller) => kind === 'integration'

/** The same row, asked for by an address. */
export const byGet = (row: Row): Row => ({
  ...row,
  ask: (...asked) => {
    const { query, variables } = row.ask(...asked).body as { query: string; variables: object }
    const parameters = new URLSearchParams({ query, variables: JSON.stringify(variables) })
    return { method: 'GET', url: `/graphql?${parameters}` }
  },
})
