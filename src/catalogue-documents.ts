import {
  type DefinitionNode,
  type DocumentNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  type SelectionSetNode,
} from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Parameters } from './graphql-params.ts'
import { schema } from './schema.ts'

// What has more is refused when it is run.
const maxTokens = 2000

// Through all fragments, each of which is looked at once.
function isCatalogue({ selections }: SelectionSetNode, document: DocumentNode, seen: Set<string>): boolean {
  const fields = schema.getQueryType()?.getFields() ?? {}
  return selections.every((selection) => {
    if (selection.kind === Kind.FIELD) {
      const { value } = selection.name
      return value === '__typename' || fields[value]?.extensions.shared === true
    }
    if (selection.kind === Kind.INLINE_FRAGMENT) return isCatalogue(selection.selectionSet, document, seen)
    const { value } = selection.name
    if (seen.has(value)) return true
    seen.add(value)
    return document.definitions.some(
      (definition) =>
        definition.kind === Kind.FRAGMENT_DEFINITION &&
        definition.name.value === value &&
        isCatalogue(definition.selectionSet, document, seen),
    )
  })
}

const isOperation = (definition: DefinitionNode): definition is OperationDefinitionNode =>
  definition.kind === Kind.OPERATION_DEFINITION

// The names of the operations that can be shared; '' for the one that needs no name.
function decide(query: string): ReadonlySet<string> {
  try {
    const document = parse(query, { maxTokens, noLocation: true })
    const operations = document.definitions.filter(isOperation)
    const shareable = operations.filter(
      ({ operation, selectionSet }) =>
        operation === OperationTypeNode.QUERY && isCatalogue(selectionSet, document, new Set()),
    )
    const names = shareable.map(({ name }) => name?.value ?? '')
    return new Set(operations.length === 1 && names.length === 1 ? [...names, ''] : names)
  } catch {
    // No document, which the GraphQL server says better.
    return new Set()
  }
}

const decided = new LRUCache<string, ReadonlySet<string>>({
  maxSize: 2 ** 20,
  sizeCalculation: (_names, query) => query.length,
})

/** Whether an operation is a query whose root fields are all marked `shared` where they are defined: then its answer
 *  tells nothing that another caller with the same view may not see. Decided once for each document. */
export function isCatalogueRead({ query, operationName }: Parameters): boolean {
  const known = decided.get(query)
  const names = known ?? decide(query)
  if (!known) decided.set(query, names)
  return names.has(operationName ?? '')
}
