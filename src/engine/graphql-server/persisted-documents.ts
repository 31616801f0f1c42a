import { z } from 'zod'
import type { Caller, Credentials } from '../base/caller.ts'
import { refusal } from '../base/errors.ts'
import { sha256 } from '../base/ids.ts'
import { parse } from '../base/parse.ts'
import { TrialCache } from '../cache/trial-cache.ts'
import { documentId, type Parameters, type SentParameters } from './params.ts'

const maxBytes = 16 * 2 ** 20

const hashPath = ['extensions', 'persistedQuery', 'sha256Hash']

const hashIn = ({ extensions }: SentParameters) => extensions?.persistedQuery?.sha256Hash

/** Returns the first identifier by which a client names a document: that of Apollo's persisted queries, or one of the
 *  fields of the body. Refuses: REQUIRED without any, INVALID. */
function nameIn(sent: SentParameters): { id: string; path: string[] } {
  const hash = hashIn(sent)
  if (hash != null) return { id: hash, path: hashPath }
  const field = (['documentId', 'id', 'doc_id'] as const).find((field) => (sent[field] ?? '') !== '')
  if (!field) throw refusal('REQUIRED', 'This field is required.', ['query'])
  return { id: parse(z.object({ [field]: documentId }), sent)[field] ?? '', path: [field] }
}

type Sender = Pick<Credentials, 'isPublic'>

/** Finds documents that clients name by an identifier: trusted ones, and those that clients have sent before
 *  with their SHA-256 (automatic persisted queries). The latter are kept in 16 MB, and what
 *  strangers and public credentials send evicts only what such have sent. `trusted` has the documents that the operator trusts, by
 *  identifier; with `trustedOnly` no other is executed. */
export function persistDocuments(trusted: ReadonlyMap<string, string>, trustedOnly: boolean) {
  const trustedTexts = new Set(trusted.values())
  const automatic = new TrialCache<{ text: string }>({ maxBytes, bytesOf: ({ text }) => 2 * text.length })

  function find(sent: SentParameters): string {
    const { id, path } = nameIn(sent)
    // Content-addressed identifiers of GraphQL over HTTP have the name of the hash in front.
    const hash = id.replace(/^sha256:/, '')
    const text = trusted.get(id) ?? trusted.get(hash) ?? automatic.get(hash)?.text
    // Clients of persisted queries recognize this very message.
    if (text === undefined) throw refusal('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound', path)
    return text
  }

  function register(id: string, query: string): void {
    // A trusted document may have an identifier of any kind.
    if (trusted.get(id) === query) return
    if (sha256(query) !== id) throw refusal('INVALID', 'provided sha does not match query', hashPath)
    if (!automatic.get(id)) automatic.set(id, { text: query })
  }

  return {
    /** Completes the parameters of a request with the document that it names. Ignores identifiers beside a document, but
     *  for its hash. Refuses: PERSISTED_QUERY_NOT_FOUND, UNTRUSTED_DOCUMENT, REQUIRED without a document, INVALID for a
     *  hash of another document. */
    resolve(sent: SentParameters): Parameters {
      const { variables } = sent
      const operationName = sent.operationName || undefined
      const query = sent.query || find(sent)
      if (trustedOnly && !trustedTexts.has(query)) {
        const message = 'Only documents that were registered beforehand are executed.'
        throw refusal('UNTRUSTED_DOCUMENT', message, ['query'])
      }
      const hash = hashIn(sent)
      if (sent.query && hash != null) register(hash, query)
      return { query, variables, operationName }
    },
    /** Keeps a document that a caller with confidential credentials has sent with its hash. Public ones are everybody's. */
    keep({ query, extensions }: SentParameters, caller: Caller | null, { isPublic }: Sender): void {
      if (caller && !isPublic && query && extensions?.persistedQuery)
        automatic.keep(extensions.persistedQuery.sha256Hash)
    },
  }
}
