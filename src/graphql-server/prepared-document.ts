import {
  type DocumentNode,
  GraphQLError,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  type Token,
  TokenKind,
  valueFromASTUntyped,
} from 'graphql'
import type { Credentials } from '../auth/credentials.ts'
import { TrialCache } from '../cache/trial-cache.ts'
import type { FieldNeeds, Streaming } from '../graphql/needs.ts'
import type { Services } from '../request/context.ts'
import { instruments } from '../shared/instruments.ts'
import { requestLimits } from '../shared/request-limits.ts'
import { fragmentsOf, selectionsOf, tooComplex, validateBounded } from './bounded-validation.ts'
import { type CompiledOperation, compiledOperation } from './compiler/compiled-operation.ts'
import { schema } from './schema.ts'

type Variables = Record<string, unknown> | null | undefined

const needsOf = (operation: OperationTypeNode, field: string): FieldNeeds | undefined =>
  schema.getRootType(operation)?.getFields()[field]?.extensions.needs as FieldNeeds | undefined

type Fragments = ReturnType<typeof fragmentsOf>

/** Lists the root fields that an operation selects; '' stands for a missing fragment. */
const rootFieldsOf = ({ selectionSet }: OperationDefinitionNode, fragments: Fragments): string[] =>
  [...selectionsOf(selectionSet, (name) => fragments.get(name))].flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return selection.name.value
    return selection.kind === Kind.FRAGMENT_SPREAD && !fragments.has(selection.name.value) ? '' : []
  })

// Only an operation of a single root field is prefetched. Its arguments are not validated yet.
function prefetchOf({ operation, selectionSet }: OperationDefinitionNode) {
  const [field, ...others] = selectionSet.selections
  if (field?.kind !== Kind.FIELD || others.length > 0) return null
  const { context, idAt } = needsOf(operation, field.name.value)?.prefetch ?? {}
  const [name, ...path] = idAt ?? []
  const argument = field.arguments?.find((argument) => argument.name.value === name)
  if (!context || !argument) return null
  return (services: Services, credentials: Credentials, variables: Variables) => {
    let value = valueFromASTUntyped(argument.value, variables)
    for (const key of path)
      value = typeof value === 'object' && value ? (value as Record<string, unknown>)[key] : null
    return context(services, credentials, typeof value === 'string' ? value : null)
  }
}

function labelOf({ operation, name, selectionSet }: OperationDefinitionNode, isTrusted: boolean): string {
  if (isTrusted && name) return `${operation} ${name.value}`
  const fields = selectionSet.selections.map((selection) =>
    selection.kind === Kind.FIELD && needsOf(operation, selection.name.value)
      ? selection.name.value
      : 'other',
  )
  return `${operation} ${new Set(fields).size === 1 ? fields[0] : 'several'}`
}

/** Finds the facts of one operation that decide how its request is answered. */
function factsOf(operation: OperationDefinitionNode, fragments: Fragments, isTrusted: boolean) {
  const { operation: type } = operation
  const fields = rootFieldsOf(operation, fragments).filter((name) => name !== '__typename')
  const needs = fields.map((name) => needsOf(type, name))
  return {
    /** Name of the operation, if it has one. */
    name: operation.name?.value,
    /** Type of the operation, and its name if the document is trusted, else its root field: one of few, whatever
     *  clients send. */
    label: labelOf(operation, isTrusted),
    /** True for a query whose root fields are all `shared`. Its response then contains nothing that another caller
     *  with the same view may not see. */
    isShared: type === OperationTypeNode.QUERY && needs.every((needs) => needs?.shared === true),
    /** Way that a subscription sends its events: by an event stream alone. Null for other operations. */
    stream: type === OperationTypeNode.SUBSCRIPTION ? ((needs[0]?.stream ?? {}) as Streaming<unknown>) : null,
    /** Creates the context of a request with the row that its variables name; null for an operation that prefetches
     *  none. */
    prefetch: prefetchOf(operation),
  }
}

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

type OperationFacts = ReturnType<typeof factsOf>
type PreparedOperation = { facts: OperationFacts; compiled?: CompiledOperation }

/** A GraphQL document, parsed, validated and analysed once. */
export class PreparedDocument {
  /** Null if the text has a syntax error. */
  readonly document: DocumentNode | null
  readonly #operations = new Map<OperationDefinitionNode, PreparedOperation>()
  #errors: readonly GraphQLError[] | undefined
  /** Number of compiled variants when it was last kept; null if no caller has used it. */
  keptVariants: number | null = null

  constructor(text: string, isTrusted: boolean) {
    this.document = this.#parse(text)
    if (!this.document) return
    const fragments = fragmentsOf(this.document)
    for (const definition of this.document.definitions)
      if (definition.kind === Kind.OPERATION_DEFINITION)
        this.#operations.set(definition, { facts: factsOf(definition, fragments, isTrusted) })
  }

  #parse(text: string): DocumentNode | null {
    const { maxDocumentTokens: maxTokens } = requestLimits
    try {
      return parse(text, { maxTokens })
    } catch (error) {
      const isLong = error instanceof GraphQLError && / tokens\. Parsing aborted\.$/.test(error.message)
      const message = `The query is too complex: Token limit of ${maxTokens} exceeded.`
      this.#errors = [isLong ? tooComplex(message) : (error as GraphQLError)]
      return null
    }
  }

  /** Returns the facts of an operation; null if there is no such operation. */
  factsOf(operationName: string | null | undefined): OperationFacts | null {
    const operation = this.document && getOperationAST(this.document, operationName)
    return (operation && this.#operations.get(operation)?.facts) ?? null
  }

  /** Returns an operation in the form that is executed; null if the document is not valid or has no such operation. */
  operationOf(operationName: string | null | undefined): CompiledOperation | null {
    if (!this.document || this.errors.length > 0) return null
    const operation = getOperationAST(this.document, operationName)
    const prepared = operation && this.#operations.get(operation)
    if (!prepared) return null
    prepared.compiled ??= compiledOperation(schema, this.document, operation)
    return prepared.compiled
  }

  /** Its syntax error, or those of its validation, which is made once. */
  get errors(): readonly GraphQLError[] {
    this.#errors ??= this.document ? validateBounded(schema, this.document) : []
    return this.#errors
  }

  /** True if it was validated, whatever came of it. */
  get isKnown(): boolean {
    return this.#errors !== undefined
  }

  /** Number of compiled variants of its operations. */
  get variants(): number {
    const counts = [...this.#operations.values()].map(({ compiled }) => compiled?.countVariants() ?? 0)
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /** Estimated size in memory. */
  get bytes(): number {
    const document = this.document ? bytesOf(this.document) : 0
    return document * (1 + functionsPerDocument * this.variants) + bytesOfOperation * this.#operations.size
  }
}

const maxBytes = 96 * 2 ** 20

/** Cache of prepared documents by text, limited in bytes: enough for some 1,000 typical documents. Documents
 *  of strangers do not evict those of callers. */
export type PreparedDocuments = ReturnType<typeof prepareDocuments>

/** Opens a cache of prepared documents. `trusted` has the texts of the operator's own documents. */
export function prepareDocuments(trusted: ReadonlySet<string> = new Set()) {
  const documents = new TrialCache<PreparedDocument>({ maxBytes, bytesOf: ({ bytes }) => bytes })
  return {
    /** Reports whether a document was validated before. */
    isKnown: (text: string): boolean => documents.get(text)?.isKnown ?? false,
    prepare(text: string): PreparedDocument {
      const cached = documents.get(text)
      instruments.observer?.onCache('documents', cached ? 1 : 0, cached ? 0 : 1)
      if (cached) return cached
      const prepared = new PreparedDocument(text, trusted.has(text))
      documents.set(text, prepared)
      return prepared
    },
    /** Keeps a document of an authenticated caller, and measures its size again if more of it is compiled. */
    keep(text: string): void {
      const prepared = documents.get(text)
      if (!prepared || prepared.keptVariants === prepared.variants) return
      prepared.keptVariants = prepared.variants
      documents.keep(text)
    },
  }
}
