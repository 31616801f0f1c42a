import { type DocumentNode, Kind, type OperationDefinitionNode, parse } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Parameters } from './graphql-params.ts'

// What has more is refused when it is run.
const maxTokens = 2000

/** What `decide` finds in the operation that is asked for, once for each document: null where there is no such
 *  operation, which the GraphQL server says better. What it finds must be small: it is kept. */
export function decideOnce<Found>(
  decide: (operation: OperationDefinitionNode, document: DocumentNode) => Found,
): (parameters: Pick<Parameters, 'query' | 'operationName'>) => Found | null {
  const decided = new LRUCache<string, ReadonlyMap<string, Found>>({
    maxSize: 2 ** 20,
    sizeCalculation: (_found, query) => query.length,
  })

  // By the operation's name; '' for the one that needs no name.
  function decideAll(query: string): ReadonlyMap<string, Found> {
    try {
      const document = parse(query, { maxTokens, noLocation: true })
      const operations = document.definitions.flatMap((definition) =>
        definition.kind === Kind.OPERATION_DEFINITION ? [definition] : [],
      )
      const found = operations.map(
        (operation) => [operation.name?.value ?? '', decide(operation, document)] as const,
      )
      const [only] = found
      return new Map(only && found.length === 1 ? [only, ['', only[1]]] : found)
    } catch {
      return new Map()
    }
  }

  return ({ query, operationName }) => {
    const known = decided.get(query)
    const found = known ?? decideAll(query)
    if (!known) decided.set(query, found)
    return found.get(operationName ?? '') ?? null
  }
}
