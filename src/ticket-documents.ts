import { Kind, OperationTypeNode } from 'graphql'
import { decideOnce } from './decide-once.ts'
import type { Parameters } from './graphql-params.ts'

type Named = { variable: string } | { id: string }

// Of queries for one ticket and nothing else, as a door asks.
const ticketIn = decideOnce(({ operation, selectionSet: { selections } }): Named | null => {
  const [field] = selections
  if (operation !== OperationTypeNode.QUERY || selections.length > 1 || field?.kind !== Kind.FIELD)
    return null
  const value = field.arguments?.find(({ name }) => name.value === 'id')?.value
  if (field.name.value !== 'ticket' || !value) return null
  if (value.kind === Kind.VARIABLE) return { variable: value.name.value }
  return value.kind === Kind.STRING ? { id: value.value } : null
})

/** The ticket that an operation is going to ask for, as far as can be told before it is run; else null. */
export function ticketAskedFor(parameters: Parameters): string | null {
  const named = ticketIn(parameters)
  if (!named) return null
  const id = 'id' in named ? named.id : parameters.variables?.[named.variable]
  return typeof id === 'string' ? id : null
}
