import type { Caller } from '../auth/caller.ts'
import { TrialCache } from '../cache/trial-cache.ts'
import { refusal } from '../shared/errors.ts'
import { sha256 } from '../shared/ids.ts'
import type { Parameters, SentParameters } from './params.ts'

const maxBytes = 16 * 2 ** 20

type Named = { id: string; path: string[]; isHash: boolean }

// Forms in which clients name a document: that of Apollo's persisted queries, and fields of the body.
function namedBy({ extensions, documentId, id, doc_id }: SentParameters): Named[] {
  const hash = extensions?.persistedQuery?.sha256Hash
  const fields = Object.entries({ documentId, id, doc_id }).flatMap(([field, id]) =>
    id == null ? [] : [{ id, path: [field], isHash: false }],
  )
  if (hash == null) return fields
  return [{ id: hash, path: ['extensions', 'persistedQuery', 'sha256Hash'], isHash: true }, ...fields]
}

/** Finds documents that clients name by an identifier: trusted ones, and those that clients have sent before
 *  with their SHA-256 (automatic persisted queries). The latter are kept in 16 MB, and what strangers and
 *  publishable keys send evicts only what such have sent. `trusted` has the documents that the operator trusts, by
 *  identifier; with `trustedOnly` no other is executed. */
export function persistDocuments(trusted: ReadonlyMap<string, string>, trustedOnly: boolean) {
  const trustedTexts = new Set(trusted.values())
  const automatic = new TrialCache<{ text: string }>({ maxBytes, bytesOf: ({ text }) => 2 * text.length })

  function find({ id, path }: Named): string {
    // Content-addressed identifiers of GraphQL over HTTP have the name of the hash in front.
    const hash = id.replace(/^sha256:/, '')
    const text = trusted.get(id) ?? trusted.get(hash) ?? automatic.get(hash)?.text
    // Clients of persisted queries recognize this very message.
    if (text === undefined) throw refusal('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound', path)
    return text
  }

  function register({ id, path, isHash }: Named, query: string): void {
    if (!isHash) throw refusal('INVALID', 'Send the document or its identifier, and not both.', path)
    // A trusted document may have an identifier of any kind.
    if (trusted.get(id) === query) return
    if (sha256(query) !== id) throw refusal('INVALID', 'provided sha does not match query', path)
    if (!automatic.get(id)) automatic.set(id, { text: query })
  }

  return {
    /** Completes the parameters of a request with the document that it names. Refuses:
     *  PERSISTED_QUERY_NOT_FOUND, UNTRUSTED_DOCUMENT, REQUIRED without a document, INVALID for two names, or for
     *  a hash of another document. */
    resolve(sent: SentParameters): Parameters {
      const { query, variables, operationName } = sent
      const [named, other] = namedBy(sent)
      if (other) throw refusal('INVALID', 'Name the document once.', other.path)
      if (query == null) {
        if (!named) throw refusal('REQUIRED', 'This field is required.', ['query'])
        return { query: find(named), variables, operationName, isNamed: true }
      }
      if (trustedOnly && !trustedTexts.has(query)) {
        const message = 'Only documents that were registered beforehand are executed.'
        throw refusal('UNTRUSTED_DOCUMENT', message, ['query'])
      }
      if (named) register(named, query)
      return { query, variables, operationName, isNamed: named !== undefined }
    },
    /** Keeps a document that a caller with confidential credentials has sent with its hash. A publishable key is
     *  everybody's. */
    keep({ query, extensions }: SentParameters, caller: Caller | null): void {
      if (caller && caller.kind !== 'publishable' && query != null && extensions?.persistedQuery)
        automatic.keep(extensions.persistedQuery.sha256Hash)
    },
  }
}
