import { type DocumentNode, Kind, type OperationDefinitionNode, parse } from 'graphql'
import { TrialCache } from '../cache/trial-cache.ts'
import { requestLimits } from '../shared/request-limits.ts'
import type { Parameters } from './params.ts'

// What has more is refused when it is run.
const maxTokens = requestLimits.maxDocumentTokens

const maxBytes = 2 ** 20
// Of what is found in one operation, and of its name.
const bytesOfOperation = 256

const caches: { keep(query: string): void }[] = []

/** Keeps what was found in a document, because somebody who may be here has a use for it: what strangers send, which is
 *  looked at before anybody knows who they are, must not push it out. */
export function keepDecisions(query: string): void {
  for (const cache of caches) cache.keep(query)
}

/** What `decide` finds in the operation that is asked for, once for each document: null where there is no such
 *  operation, which the GraphQL server says better. What it finds must be small: it is kept. */
export function decideOnce<Found>(
  decide: (operation: OperationDefinitionNode, document: DocumentNode) => Found,
): (parameters: Pick<Parameters, 'query' | 'operationName'>) => Found | null {
  const decided = new TrialCache<ReadonlyMap<string, Found>>({
    maxBytes,
    bytesOf: ({ size }) => size * bytesOfOperation,
  })
  caches.push(decided)

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
