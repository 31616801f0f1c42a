import type { Caller } from '../auth/caller.ts'
import { TrialCache } from '../cache/trial-cache.ts'
import { Refusal } from '../shared/errors.ts'
import { sha256 } from '../shared/ids.ts'
import type { Parameters, SentParameters } from './params.ts'

/** Documents that the operator trusts, by identifier, and whether no other document is executed. */
export type TrustedDocuments = { byId: ReadonlyMap<string, string>; only: boolean }

const maxBytes = 16 * 2 ** 20

type Named = { id: string; path: string[]; isHash: boolean }

// Forms in which clients name a document: that of Apollo's persisted queries, and fields of the body.
function namedBy({ extensions, documentId, id, doc_id }: SentParameters): Named[] {
  const names: Named[] = []
  const hash = extensions?.persistedQuery?.sha256Hash
  if (hash != null)
    names.push({ id: hash, path: ['extensions', 'persistedQuery', 'sha256Hash'], isHash: true })
  if (documentId != null) names.push({ id: documentId, path: ['documentId'], isHash: false })
  if (id != null) names.push({ id, path: ['id'], isHash: false })
  if (doc_id != null) names.push({ id: doc_id, path: ['doc_id'], isHash: false })
  return names
}

// Content-addressed identifiers of GraphQL over HTTP have the name of the hash in front.
const withoutAlgorithm = (id: string) => id.replace(/^sha256:/, '')

const isSha256 = (id: string) => /^[0-9a-f]{64}$/.test(id)

// Clients of persisted queries recognize this very message.
const notFound = ({ path }: Named) =>
  new Refusal({ code: 'PERSISTED_QUERY_NOT_FOUND', message: 'PersistedQueryNotFound', path })

const refuse = (message: string, path: string[]) => new Refusal({ code: 'INVALID', message, path })

/** Finds documents that clients name by an identifier: trusted ones, and those that clients have sent before
 *  with their SHA-256 (automatic persisted queries). The latter are kept in 16 MB, and what strangers and
 *  publishable keys send evicts only what such have sent. */
export class PersistedDocuments {
  readonly #trusted: ReadonlyMap<string, string>
  readonly #trustedTexts: ReadonlySet<string>
  readonly #only: boolean
  readonly #automatic = new TrialCache<{ text: string }>({
    maxBytes,
    bytesOf: ({ text }) => 2 * text.length,
  })

  constructor({ byId, only }: TrustedDocuments = { byId: new Map(), only: false }) {
    this.#trusted = byId
    this.#trustedTexts = new Set(byId.values())
    this.#only = only
  }

  /** Completes the parameters of a request with the document that it names. Refuses:
   *  PERSISTED_QUERY_NOT_FOUND, UNTRUSTED_DOCUMENT, REQUIRED without a document, INVALID for two names, or for
   *  a hash of another document. */
  resolve(sent: SentParameters): Parameters {
    const { query, variables, operationName } = sent
    const names = namedBy(sent)
    const [named, other] = names
    if (other) throw refuse('Name the document once.', other.path)
    if (query == null) {
      if (!named) throw new Refusal({ code: 'REQUIRED', message: 'This field is required.', path: ['query'] })
      return { query: this.#find(named), variables, operationName, isNamed: true }
    }
    if (this.#only && !this.#trustedTexts.has(query))
      throw new Refusal({
        code: 'UNTRUSTED_DOCUMENT',
        message: 'Only documents that were registered beforehand are executed.',
        path: ['query'],
      })
    if (named) this.#register(named, query)
    return { query, variables, operationName, isNamed: named !== undefined }
  }

  /** Keeps a document that a caller with confidential credentials has sent with its hash. A publishable key is
   *  everybody's. */
  keep({ query, extensions }: SentParameters, caller: Caller | null): void {
    if (caller && caller.kind !== 'publishable' && query != null && extensions?.persistedQuery)
      this.#automatic.keep(extensions.persistedQuery.sha256Hash)
  }

  #find(named: Named): string {
    const id = withoutAlgorithm(named.id)
    const text = this.#trusted.get(named.id) ?? this.#trusted.get(id) ?? this.#automatic.get(id)?.text
    if (text === undefined) throw notFound(named)
    return text
  }

  #register({ id, path, isHash }: Named, query: string): void {
    if (!isHash) throw refuse('Send the document or its identifier, and not both.', path)
    // A trusted document may have an identifier of any kind.
    if (this.#trusted.get(id) === query) return
    if (!isSha256(id) || sha256(query) !== id) throw refuse('provided sha does not match query', path)
    if (!this.#automatic.get(id)) this.#automatic.set(id, { text: query })
  }
}
