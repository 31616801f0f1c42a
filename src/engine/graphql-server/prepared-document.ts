import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  type SelectionSetNode,
  type Token,
  TokenKind,
  valueFromASTUntyped,
} from 'graphql'
import type { Credentials } from '../base/caller.ts'
import { instruments } from '../base/instruments.ts'
import { requestLimits } from '../base/request-limits.ts'
import { TrialCache } from '../cache/trial-cache.ts'
import type { FieldNeeds, Streaming } from '../graphql/needs.ts'
import type { Services } from '../request/context.ts'
import { fragmentsOf, selectionsOf, tooComplex, validateBounded } from './bounded-validation.ts'
import { type CompiledOperation, compiledOperation } from './compiler/compiled-operation.ts'

type Variables = Record<string, unknown> | null | undefined

const needsOf = (schema: GraphQLSchema, operation: OperationTypeNode, field: string) =>
  schema.getRootType(operation)?.getFields()[field]?.extensions.needs as FieldNeeds | undefined

type Fragments = ReturnType<typeof fragmentsOf>

/** Lists the root fields that an operation selects; '' stands for a missing fragment. */
const rootFieldsOf = ({ selectionSet }: OperationDefinitionNode, fragments: Fragments): string[] =>
  [...selectionsOf(selectionSet, (name) => fragments.get(name))].flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return selection.name.value
    return selection.kind === Kind.FRAGMENT_SPREAD && !fragments.has(selection.name.value) ? '' : []
  })

// Only an operation of a single root field is prefetched. Its arguments are not validated yet.
function prefetchOf({ selections }: SelectionSetNode, { prefetch }: Partial<FieldNeeds> = {}) {
  const [field, ...others] = selections
  if (field?.kind !== Kind.FIELD || others.length > 0) return null
  const { context, idAt } = prefetch ?? {}
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

function labelOf(schema: GraphQLSchema, definition: OperationDefinitionNode, isTrusted: boolean) {
  const { operation, name, selectionSet } = definition
  if (isTrusted && name) return `${operation} ${name.value}`
  const fields = selectionSet.selections.map((selection) =>
    selection.kind === Kind.FIELD && needsOf(schema, operation, selection.name.value)
      ? selection.name.value
      : 'other',
  )
  return `${operation} ${new Set(fields).size === 1 ? fields[0] : 'several'}`
}

/** Finds the facts of one operation that decide how its request is answered. */
function factsOf(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Fragments,
  isTrusted: boolean,
) {
  const { operation: type } = operation
  const fields = rootFieldsOf(operation, fragments).filter((name) => name !== '__typename')
  const needs = fields.map((name) => needsOf(schema, type, name))
  return {
    /** Name of the operation, if it has one. */
    name: operation.name?.value,
    /** Type of the operation, and its name if the document is trusted, else its root field: one of few, whatever
     *  clients send. */
    label: labelOf(schema, operation, isTrusted),
    /** True for a query whose root fields are all `shared`. Its response then contains nothing that another caller
     *  with the same view may not see. */
    isShared: type === OperationTypeNode.QUERY && needs.every((needs) => needs?.shared === true),
    /** True for a query of the schema alone that takes no variables: its answer is always the same. */
    isIntrospection:
      type === OperationTypeNode.QUERY &&
      fields.every((name) => name.startsWith('__')) &&
      !operation.variableDefinitions?.length,
    /** Way that a subscription sends its events: by an event stream alone. Null for other operations. */
    stream: type === OperationTypeNode.SUBSCRIPTION ? ((needs[0]?.stream ?? {}) as Streaming<unknown>) : null,
    /** Creates the context of a request with the row that its variables name; null for an operation that prefetches
     *  none. */
    prefetch: prefetchOf(operation.selectionSet, needs[0]),
  }
}

// A parsed document can take up a thousand times the bytes of its text. Measured: bytes per token, with the nodes and
// locations made from it; of a name there are more.
const bytesOfName = 450
const bytesOfToken = 150
const bytesOfComment = 90
// Facts of a document, and of each operation. The functions of a compiled variant take up a part of the document.
const bytesOfFacts = 1_024
const bytesOfVariant = 4_096
const functionsPart = 5

/** Estimates the bytes that a parsed document holds. */
function bytesOf({ loc }: DocumentNode): number {
  let bytes = 2 * (loc?.source.body.length ?? 0)
  for (let token: Token | null | undefined = loc?.startToken; token; token = token.next)
    if (token.kind === TokenKind.COMMENT) bytes += bytesOfComment
    else bytes += token.kind === TokenKind.NAME ? bytesOfName : bytesOfToken
  return bytes
}

/** An error of a document, without its stack: until that is read, it keeps the whole validation alive. */
type KeptError = Pick<GraphQLError, 'message' | 'source' | 'positions' | 'extensions'>

const bytesOfError = 512

const kept = ({ message, source, positions, extensions }: GraphQLError): KeptError => ({
  message,
  source,
  positions: positions?.slice(0, requestLimits.maxLocations),
  extensions,
})

// Locations are those of the response alone, because each is found by scanning the text.
const thrown = ({ message, extensions, ...at }: KeptError): GraphQLError =>
  Object.assign(new GraphQLError(message, { extensions }), at)

type OperationFacts = ReturnType<typeof factsOf>
type PreparedOperation = { facts: OperationFacts; compiled?: CompiledOperation }

function parseAndValidate(schema: GraphQLSchema, text: string) {
  const { maxDocumentTokens: maxTokens } = requestLimits
  try {
    const document = parse(text, { maxTokens })
    return { document, errors: validateBounded(schema, document) }
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    const isLong = / tokens\. Parsing aborted\.$/.test(error.message)
    const message = `The query is too complex: Token limit of ${maxTokens} exceeded.`
    return { document: null, errors: [isLong ? tooComplex(message) : error] }
  }
}

/** A GraphQL document, parsed, validated and analysed once. */
export class PreparedDocument {
  /** Null if the text has a syntax error. */
  readonly document: DocumentNode | null
  readonly #schema: GraphQLSchema
  readonly #operations = new Map<OperationDefinitionNode, PreparedOperation>()
  readonly #errors: readonly KeptError[]
  /** Number of compiled variants when it was last kept; null if no caller has used it. */
  keptVariants: number | null = null

  constructor(schema: GraphQLSchema, text: string, isTrusted: boolean) {
    const { document, errors } = parseAndValidate(schema, text)
    this.#schema = schema
    this.document = document
    this.#errors = errors.map(kept)
    if (!document) return
    const fragments = fragmentsOf(document)
    for (const definition of document.definitions)
      if (definition.kind === Kind.OPERATION_DEFINITION)
        this.#operations.set(definition, { facts: factsOf(schema, definition, fragments, isTrusted) })
  }

  /** Returns the facts of an operation; null if there is no such operation. */
  factsOf(operationName: string | null | undefined): OperationFacts | null {
    const operation = this.document && getOperationAST(this.document, operationName)
    return (operation && this.#operations.get(operation)?.facts) ?? null
  }

  get isValid(): boolean {
    return this.#errors.length === 0
  }

  /** Returns an operation in the form that is executed; null if the document is not valid or has no such operation. */
  operationOf(operationName: string | null | undefined): CompiledOperation | null {
    if (!this.document || !this.isValid) return null
    const operation = getOperationAST(this.document, operationName)
    const prepared = operation && this.#operations.get(operation)
    if (!prepared) return null
    prepared.compiled ??= compiledOperation(this.#schema, this.document, operation)
    return prepared.compiled
  }

  /** Its syntax error, or those of its validation. */
  get errors(): readonly GraphQLError[] {
    return this.#errors.map(thrown)
  }

  /** Number of compiled variants of its operations. */
  get variants(): number {
    const counts = [...this.#operations.values()].map(({ compiled }) => compiled?.countVariants() ?? 0)
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /** Estimated size in memory. */
  get bytes(): number {
    const document = this.document ? bytesOf(this.document) : 0
    const errors = this.#errors.reduce((sum, { message }) => sum + 2 * message.length + bytesOfError, 0)
    const { variants } = this
    const facts = bytesOfFacts * (1 + this.#operations.size)
    return facts + errors + document + variants * (bytesOfVariant + Math.ceil(document / functionsPart))
  }
}

const maxBytes = 96 * 2 ** 20

/** Cache of prepared documents by text, limited in bytes: enough for some thousand typical documents. Documents
 *  of strangers do not evict those of callers. */
export type PreparedDocuments = ReturnType<typeof prepareDocuments>

/** Opens a cache of documents prepared for a schema. `trusted` has the texts of the operator's own documents. */
export function prepareDocuments(schema: GraphQLSchema, trusted: ReadonlySet<string> = new Set()) {
  const documents = new TrialCache<PreparedDocument>({ maxBytes, bytesOf: ({ bytes }) => bytes })
  return {
    /** Reports whether a document was prepared before. */
    isKnown: (text: string): boolean => documents.get(text) !== undefined,
    prepare(text: string): PreparedDocument {
      const cached = documents.get(text)
      instruments.observer?.onCache('documents', cached ? 1 : 0, cached ? 0 : 1)
      if (cached) return cached
      const prepared = new PreparedDocument(schema, text, trusted.has(text))
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
