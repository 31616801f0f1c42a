import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  type OperationDefinitionNode,
  type VariableNode,
  visit,
} from 'graphql'
import { requestLimits } from '../../base/request-limits.ts'
import { fragmentsOf } from '../bounded-validation.ts'
import { costCheck, type Measured } from '../operation-cost.ts'
import { compileOperation, type RootField } from './compile.ts'
import { NotCompiled } from './complete-value.ts'
import { executeFields, executeSerially, type Outcomes } from './execute-fields.ts'
import { ResponseBuffer, type Variables } from './response-buffer.ts'

// Compiled variants of one operation, one per combination of @skip and @include. graphql-js executes the rest.
const maxVariants = 16

/** One operation of a document, compiled on demand. */
export type CompiledOperation = ReturnType<typeof compiledOperation>

/** Prepares an operation to be executed. Nothing is compiled yet. */
export function compiledOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
) {
  const source = { schema, operation, fragments: Object.fromEntries(fragmentsOf(document)) }
  const checkCost = costCheck(source)
  // Variables that @skip and @include read: each combination of their values is compiled separately.
  const directiveVariables = new Set<string>()
  const addVariable = ({ name }: VariableNode) => void directiveVariables.add(name.value)
  visit(document, { Directive: (directive) => void visit(directive, { Variable: addVariable }) })
  // By the values of those variables; null if that variant can't be compiled.
  const variants = new Map<string, RootField[] | null>()

  const coerce = (variables: Variables, maxErrors: number) =>
    getVariableValues(schema, operation.variableDefinitions ?? [], variables, { maxErrors })

  // Measures the operation with these variables, which are valid. Returns the error if it is too complex, or costs more
  // than its caller may spend.
  function excessWith(variables: Variables, coerced: Variables, measured?: Measured): GraphQLError | null {
    const { complexity, excess } = checkCost(variables, coerced)
    if (measured) measured.cost = complexity
    return excess ?? measured?.refuse?.(complexity) ?? null
  }

  function variantFor(key: string, variables: Variables): RootField[] | null {
    const known = variants.get(key)
    if (known !== undefined) return known
    if (variants.size === maxVariants) return null
    const compiled = compileOperation({ ...source, variables })
    variants.set(key, compiled)
    return compiled
  }

  return {
    document,
    isQuery: operation.operation === 'query',
    /** Number of compiled variants. */
    countVariants: () => variants.size,
    /** Returns the errors with which the operation must not be executed: a few of invalid variables, because graphql-js
     *  prints the input in each, or that it is too complex. Null if it may be. */
    errorsWith(variables: Variables, measured?: Measured): readonly GraphQLError[] | null {
      const { errors, coerced } = coerce(variables, requestLimits.maxGraphqlErrors)
      for (const { extensions } of errors ?? []) extensions.http = { status: 400 }
      const excess = coerced && excessWith(variables, coerced, measured)
      return errors ?? (excess ? [excess] : null)
    },
    /** Resolves to the bytes of the response, or to the outcomes so far if graphql-js must take over. A query
     *  can run again without harm. A mutation must not, so graphql-js replays its outcomes. */
    async execute(context: unknown, variables: Variables, measured?: Measured): Promise<Buffer | Outcomes> {
      const outcomes: Outcomes = new Map()
      const { coerced } = coerce(variables, 1)
      if (!coerced || excessWith(variables, coerced, measured)) return outcomes
      const key = JSON.stringify([...directiveVariables].map((name) => coerced[name]))
      try {
        const fields = variantFor(key, coerced)
        if (!fields) return outcomes
        const response = new ResponseBuffer(context, coerced)
        if (operation.operation === 'mutation') await executeSerially(fields, response, outcomes)
        else await executeFields(fields, response)
        return response.bytes()
      } catch (error) {
        if (error instanceof NotCompiled) variants.set(key, null)
        return outcomes
      }
    },
  }
}
