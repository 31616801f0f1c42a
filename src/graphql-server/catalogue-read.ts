import {
  type DocumentNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql'
import { schema } from './schema.ts'

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

/** Reports whether an operation is a query whose root fields are all marked `shared`. Its response then
 *  contains nothing that another caller with the same view may not see. */
export const isCatalogueRead = (
  { operation, selectionSet }: OperationDefinitionNode,
  document: DocumentNode,
): boolean => operation === OperationTypeNode.QUERY && isShared(selectionSet, document, new Set())
