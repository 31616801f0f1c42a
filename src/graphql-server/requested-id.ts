import {
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type ValueNode,
} from 'graphql'

/** Identifier of the object that an operation requests: a literal, a variable, or a field of a variable. */
export type RequestedId = { id: string } | { variable: string; field?: string }

// Lookups and checkouts, which are prefetched, select a single root field.
function onlyField({ selectionSet: { selections } }: OperationDefinitionNode): FieldNode | null {
  const [field] = selections
  return selections.length === 1 && field?.kind === Kind.FIELD ? field : null
}

const argumentOf = (field: FieldNode, argument: string) =>
  field.arguments?.find(({ name }) => name.value === argument)?.value

function toRequestedId(value: ValueNode | undefined): RequestedId | null {
  if (value?.kind === Kind.VARIABLE) return { variable: value.name.value }
  return value?.kind === Kind.STRING ? { id: value.value } : null
}

/** Finds the ticket that an operation looks up; null for any other operation. */
export function requestedTicket(operation: OperationDefinitionNode): RequestedId | null {
  const field = onlyField(operation)
  if (operation.operation !== OperationTypeNode.QUERY || field?.name.value !== 'ticket') return null
  return toRequestedId(argumentOf(field, 'id'))
}

const checkouts = new Set(['checkout', 'quoteCheckout'])

/** Finds the rate that an operation checks out or quotes; null for any other operation. */
export function requestedRate(operation: OperationDefinitionNode): RequestedId | null {
  const field = onlyField(operation)
  if (!field || !checkouts.has(field.name.value)) return null
  const input = argumentOf(field, 'input')
  if (input?.kind === Kind.VARIABLE) return { variable: input.name.value, field: 'ticketRateId' }
  if (input?.kind !== Kind.OBJECT) return null
  return toRequestedId(input.fields.find(({ name }) => name.value === 'ticketRateId')?.value)
}

/** Resolves a requested identifier from the variables of a request. The variables are not validated yet, so
 *  the result is a guess; null if there is none. */
export function readRequestedId(
  requested: RequestedId,
  variables: Record<string, unknown> | null | undefined,
): string | null {
  if ('id' in requested) return requested.id
  const value = variables?.[requested.variable]
  const found =
    requested.field === undefined
      ? value
      : typeof value === 'object' && value !== null
        ? (value as Record<string, unknown>)[requested.field]
        : undefined
  return typeof found === 'string' ? found : null
}
