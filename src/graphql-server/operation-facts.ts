import {
  type DocumentNode,
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql'
import type { Parameters } from './params.ts'
import { schema } from './schema.ts'

/** Reads an identifier from the variables of a request. They are not validated yet, so the result is a guess;
 *  null if there is none. */
type ReadId = (variables: Parameters['variables']) => string | null

/** Facts of one operation that decide how its request is answered. */
export type OperationFacts = {
  /** Name of the operation, if it has one. */
  name: string | undefined
  /** Type of the operation, and its name if the document is trusted, else its root field: one of few, whatever
   *  clients send. */
  label: string
  /** True for a query whose root fields are all marked `shared`. Its response then contains nothing that
   *  another caller with the same view may not see. */
  isCatalogueRead: boolean
  /** True for a subscription, which is answered by an event stream alone. */
  isSubscription: boolean
  /** Ticket that the operation looks up; null for any other operation. */
  ticket: ReadId | null
  /** Rate that the operation checks out or quotes; null for any other operation. */
  rate: ReadId | null
}

// Follows every fragment once.
function isShared({ selections }: SelectionSetNode, document: DocumentNode, seen: Set<string>): boolean {
  const fields = schema.getQueryType()?.getFields() ?? {}
  return selections.every((selection) => {
    if (selection.kind === Kind.FIELD) {
      const { value } = selection.name
      return value === '__typename' || fields[value]?.extensions.shared === true
    }
    if (selection.kind === Kind.INLINE_FRAGMENT) return isShared(selection.selectionSet, document, seen)
    const { value } = selection.name
    if (seen.has(value)) return true
    seen.add(value)
    return document.definitions.some(
      (definition) =>
        definition.kind === Kind.FRAGMENT_DEFINITION &&
        definition.name.value === value &&
        isShared(definition.selectionSet, document, seen),
    )
  })
}

const named = <Node extends { name: { value: string } }>(nodes: readonly Node[] | undefined, name: string) =>
  nodes?.find((node) => node.name.value === name)

const toText = (value: unknown): string | null => (typeof value === 'string' ? value : null)

function idReader(value: ValueNode | undefined): ReadId | null {
  if (value?.kind === Kind.VARIABLE) return (variables) => toText(variables?.[value.name.value])
  return value?.kind === Kind.STRING ? () => value.value : null
}

function rateIdReader(input: ValueNode | undefined): ReadId | null {
  if (input?.kind === Kind.OBJECT) return idReader(named(input.fields, 'ticketRateId')?.value)
  if (input?.kind !== Kind.VARIABLE) return null
  return (variables) => {
    const given = variables?.[input.name.value]
    return typeof given === 'object' && given && 'ticketRateId' in given ? toText(given.ticketRateId) : null
  }
}

// Lookups and checkouts, which are prefetched, select a single root field.
function onlyField({ selectionSet: { selections } }: OperationDefinitionNode): FieldNode | null {
  const [field] = selections
  return selections.length === 1 && field?.kind === Kind.FIELD ? field : null
}

const rootTypes = {
  query: schema.getQueryType(),
  mutation: schema.getMutationType(),
  subscription: schema.getSubscriptionType(),
}

function labelOf({ operation, name, selectionSet }: OperationDefinitionNode, isTrusted: boolean): string {
  if (isTrusted && name) return `${operation} ${name.value}`
  const known = rootTypes[operation]?.getFields() ?? {}
  const fields = selectionSet.selections.map((selection) =>
    selection.kind === Kind.FIELD && Object.hasOwn(known, selection.name.value)
      ? selection.name.value
      : 'other',
  )
  return `${operation} ${new Set(fields).size === 1 ? fields[0] : 'several'}`
}

function factsOf(
  operation: OperationDefinitionNode,
  document: DocumentNode,
  isTrusted: boolean,
): OperationFacts {
  const isQuery = operation.operation === OperationTypeNode.QUERY
  const field = onlyField(operation)
  const name = field?.name.value
  const isCheckout = name === 'checkout' || name === 'quoteCheckout'
  return {
    isSubscription: operation.operation === OperationTypeNode.SUBSCRIPTION,
    name: operation.name?.value,
    label: labelOf(operation, isTrusted),
    isCatalogueRead: isQuery && isShared(operation.selectionSet, document, new Set()),
    ticket: isQuery && name === 'ticket' ? idReader(named(field?.arguments, 'id')?.value) : null,
    rate: isCheckout ? rateIdReader(named(field?.arguments, 'input')?.value) : null,
  }
}

/** Maps the operations of a document by name to their facts; a single one also by the empty name. */
export function operationFacts(document: DocumentNode, isTrusted: boolean): Map<string, OperationFacts> {
  const facts = new Map<string, OperationFacts>()
  for (const definition of document.definitions)
    if (definition.kind === Kind.OPERATION_DEFINITION)
      facts.set(definition.name?.value ?? '', factsOf(definition, document, isTrusted))
  const [first] = facts.values()
  if (first && facts.size === 1) facts.set('', first)
  return facts
}
