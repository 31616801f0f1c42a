import { type DocumentNode, type GraphQLError, parse, type Token, TokenKind } from 'graphql'
import { TrialCache } from '../cache/trial-cache.ts'
import { instruments } from '../shared/instruments.ts'
import { requestLimits } from '../shared/request-limits.ts'
import { validateBounded } from './bounded-validation.ts'
import type { CompiledOperation } from './compiler/plugin.ts'
import { type OperationFacts, operationFacts } from './operation-facts.ts'
import { schema } from './schema.ts'

/** An operation that Yoga has accepted, and the headers of its response. */
type Execution = { operation: CompiledOperation; headers: Record<string, string> }

// A parsed document can take up a thousand times the bytes of its text. Measured: bytes per token, with the
// nodes and locations made from it, and per comment.
const bytesOfToken = 600
const bytesOfComment = 100
const bytesOfOperation = 1_024
// Measured: the functions of one compiled variant take up about as much as the document, or less.
const functionsPerDocument = 2

/** Estimates the bytes that a parsed document holds. */
export function bytesOf({ loc }: DocumentNode): number {
  let bytes = 2 * (loc?.source.body.length ?? 0)
  for (let token: Token | null | undefined = loc?.startToken; token; token = token.next)
    bytes += token.kind === TokenKind.COMMENT ? bytesOfComment : bytesOfToken
  return bytes
}

function tryParse(text: string): DocumentNode | null {
  try {
    return parse(text, { maxTokens: requestLimits.maxDocumentTokens })
  } catch {
    return null
  }
}

/** A GraphQL document, parsed, validated and analysed once. */
export class PreparedDocument {
  /** Null if the text has a syntax error, which Yoga reports. */
  readonly document: DocumentNode | null
  /** Operations that may bypass Yoga, by the key of their request (see execute.ts). */
  readonly executions = new Map<string, Execution>()
  readonly #facts: ReadonlyMap<string, OperationFacts>
  #errors: readonly GraphQLError[] | undefined

  constructor(text: string, isTrusted: boolean) {
    this.document = tryParse(text)
    this.#facts = this.document ? operationFacts(this.document, isTrusted) : new Map()
  }

  /** Returns the facts of an operation; null if there is no such operation. */
  factsOf(operationName: string | null | undefined): OperationFacts | null {
    return this.#facts.get(operationName ?? '') ?? null
  }

  /** Errors of its validation, which is made once; none of a text with a syntax error. */
  get errors(): readonly GraphQLError[] {
    this.#errors ??= this.document ? validateBounded(schema, this.document) : []
    return this.#errors
  }

  /** True if it was validated, whatever came of it. */
  get isKnown(): boolean {
    return this.#errors !== undefined
  }

  /** Estimated size in memory. */
  get bytes(): number {
    const document = this.document ? bytesOf(this.document) : 0
    const compiled = new Set([...this.executions.values()].map(({ operation }) => operation))
    const variants = [...compiled].reduce((sum, operation) => sum + operation.variants, 0)
    return document * (1 + functionsPerDocument * variants) + bytesOfOperation * this.#facts.size
  }
}

const maxBytes = 96 * 2 ** 20

/** Cache of prepared documents by text, limited in bytes: enough for some 1,000 typical documents. Documents
 *  of strangers do not evict those of callers. */
export class PreparedDocuments {
  readonly #documents = new TrialCache<PreparedDocument>({ maxBytes, bytesOf: ({ bytes }) => bytes })
  readonly #trusted: ReadonlySet<string>

  /** `trusted` has the texts of the operator's own documents. */
  constructor(trusted: ReadonlySet<string> = new Set()) {
    this.#trusted = trusted
  }

  /** Reports whether a document was validated before. */
  isKnown(text: string): boolean {
    return this.#documents.get(text)?.isKnown ?? false
  }

  prepare(text: string): PreparedDocument {
    const cached = this.#documents.get(text)
    instruments.observer?.onCache('documents', cached ? 1 : 0, cached ? 0 : 1)
    if (cached) return cached
    const prepared = new PreparedDocument(text, this.#trusted.has(text))
    this.#documents.set(text, prepared)
    return prepared
  }

  /** Keeps a document of an authenticated caller. Updates its size, because it may have been compiled. */
  keep(text: string): void {
    this.#documents.keep(text)
  }
}
