import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  type VariableNode,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { requestLimits } from '../../shared/request-limits.ts'
import { type Cost, costCheck, type Measured } from '../operation-cost.ts'
import { compileOperation, type RootField } from './compile.ts'
import { NotCompiled } from './complete-value.ts'
import { executeFields, executeFieldsSerially, type Outcomes } from './execute-fields.ts'
import { ResponseBuffer, type Variables } from './response-buffer.ts'

// Compiled variants of one operation, one per combination of @skip and @include. graphql-js executes the rest.
const maxVariants = 16

/** One operation of a document, compiled on demand. */
export class CompiledOperation {
  readonly document: DocumentNode
  readonly #schema: GraphQLSchema
  readonly #operation: OperationDefinitionNode
  readonly #fragments: Record<string, FragmentDefinitionNode>
  // Variables that @skip and @include read: each combination of their values is compiled separately.
  readonly #directiveVariables = new Set<string>()
  // By the values of those variables; null if that variant can't be compiled.
  readonly #variants = new Map<string, RootField[] | null>()
  readonly #checkCost: ReturnType<typeof costCheck>
  /** True if the cost is the same for all variables, so that it need not be measured again. */
  readonly #hasFixedCost: boolean
  #fixedCost: Cost | undefined

  constructor(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode) {
    this.document = document
    this.#schema = schema
    this.#operation = operation
    this.#fragments = Object.fromEntries(
      document.definitions.flatMap((definition) =>
        definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition]] : [],
      ),
    )
    const costVariables = new Set<string>()
    const types = new TypeInfo(schema)
    const collectInto = (names: Set<string>) => ({
      Variable: ({ name }: VariableNode) => void names.add(name.value),
    })
    visit(
      document,
      visitWithTypeInfo(types, {
        Directive: (directive) => void visit(directive, collectInto(this.#directiveVariables)),
        Argument: (argument) => {
          if (typeof types.getFieldDef()?.extensions.complexity === 'function')
            visit(argument, collectInto(costVariables))
        },
      }),
    )
    this.#checkCost = costCheck(schema, document, operation)
    this.#hasFixedCost = this.#directiveVariables.size === 0 && costVariables.size === 0
  }

  /** Number of compiled variants. */
  get variants(): number {
    return this.#variants.size
  }

  #coerce(variables: Variables, maxErrors: number) {
    const definitions = this.#operation.variableDefinitions ?? []
    return getVariableValues(this.#schema, definitions, variables, { maxErrors })
  }

  /** Measures the operation with these variables, which are valid. Returns the error if it is too complex. */
  #excessWith(variables: Variables, coerced: Variables, measured?: Measured): GraphQLError | null {
    const cost = this.#fixedCost ?? this.#checkCost(variables, coerced)
    if (this.#hasFixedCost) this.#fixedCost = cost
    const { complexity, excess } = cost
    if (measured) measured.cost = complexity
    return excess
  }

  /** Returns the errors with which the operation must not be executed: a few of invalid variables, because graphql-js
   *  prints the input in each, or that it is too complex. Null if it may be. */
  errorsWith(variables: Variables, measured?: Measured): readonly GraphQLError[] | null {
    const { errors, coerced } = this.#coerce(variables, requestLimits.maxGraphqlErrors)
    for (const { extensions } of errors ?? []) extensions.http = { status: 400 }
    const excess = coerced && this.#excessWith(variables, coerced, measured)
    return errors ?? (excess ? [excess] : null)
  }

  /** Resolves to the bytes of the response, or to the outcomes so far if graphql-js must take over. A query
   *  can run again without harm. A mutation must not, so graphql-js replays its outcomes. */
  async execute(context: unknown, variables: Variables, measured?: Measured): Promise<Buffer | Outcomes> {
    const outcomes: Outcomes = new Map()
    const { coerced } = this.#coerce(variables, 1)
    if (!coerced || this.#excessWith(variables, coerced, measured)) return outcomes
    const key = JSON.stringify([...this.#directiveVariables].map((name) => coerced[name]))
    try {
      const fields = this.#variantFor(key, coerced)
      if (!fields) return outcomes
      const response = new ResponseBuffer(context, coerced)
      if (this.#operation.operation === 'mutation') await executeFieldsSerially(fields, response, outcomes)
      else await executeFields(fields, response)
      return response.bytes()
    } catch (error) {
      if (error instanceof NotCompiled) this.#variants.set(key, null)
      return outcomes
    }
  }

  #variantFor(key: string, variables: Variables): RootField[] | null {
    const known = this.#variants.get(key)
    if (known !== undefined) return known
    if (this.#variants.size === maxVariants) return null
    const compiled = compileOperation({
      schema: this.#schema,
      operation: this.#operation,
      fragments: this.#fragments,
      variables,
    })
    this.#variants.set(key, compiled)
    return compiled
  }
}
