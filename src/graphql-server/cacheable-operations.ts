import { type DocumentNode, Kind, OperationTypeNode, type SelectionSetNode } from 'graphql'
import type { Parameters } from './params.ts'
import { decideOnce } from './prepared-operation.ts'
import { schema } from './schema.ts'

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

const decide = decideOnce(
  ({ operation, selectionSet }, document) =>
    operation === OperationTypeNode.QUERY && isCatalogue(selectionSet, document, new Set()),
)

/** Whether an operation is a query whose root fields are all marked `shared` where they are defined: then its answer
 *  tells nothing that another caller with the same view may not see. Decided once for each document. */
export const isCatalogueRead = (parameters: Parameters): boolean => decide(parameters) ?? false
