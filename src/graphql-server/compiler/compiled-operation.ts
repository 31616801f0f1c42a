import {
  type DocumentNode,
  type ExecutionResult,
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
import { type Cost, costCheck, type OnCost } from '../operation-cost.ts'
import { compileOperation, type RootField } from './compile.ts'
import { NotCompiled } from './complete-value.ts'
import { executeFields, executeFieldsSerially, type Outcomes } from './execute-fields.ts'
import { ResponseBuffer, type Variables } from './response-buffer.ts'

// Compiled variants of one operation, one per combination of @skip and @include. graphql-js executes the rest.
const maxVariants = 16

/** One operation of a document, compiled on demand. */
export class CompiledOperation {
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

  /** Returns the error if the operation is too complex with these variables, which are valid. */
  excessWith(variables: Variables, onCost?: OnCost): GraphQLError | null {
    if (this.#hasFixedCost) this.#fixedCost ??= this.#checkCost(variables)
    const { complexity, excess } = this.#fixedCost ?? this.#checkCost(variables)
    onCost?.(complexity)
    return excess
  }

  /** Returns a result with a few errors if the variables are invalid: graphql-js prints the input in each. */
  validateVariables(variables: Variables): ExecutionResult | null {
    const { errors } = this.#coerce(variables, requestLimits.maxGraphqlErrors)
    if (!errors) return null
    for (const { extensions } of errors) extensions.http = { status: 400 }
    return { errors }
  }

  /** Resolves to the bytes of the response, or to the outcomes so far if graphql-js must take over. A query
   *  can run again without harm. A mutation must not, so graphql-js replays its outcomes. */
  async execute(context: unknown, variables: Variables, onCost?: OnCost): Promise<Buffer | Outcomes> {
    const outcomes: Outcomes = new Map()
    const { coerced } = this.#coerce(variables, 1)
    if (!coerced || this.excessWith(variables, onCost)) return outcomes
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
