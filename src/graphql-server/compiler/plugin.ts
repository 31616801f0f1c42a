import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  type VariableNode,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { isFast } from '../../shared/fast.ts'
import { compileOperation, type RootField } from './compile.ts'
import { NotCompiled } from './complete-value.ts'
import { type Outcomes, writeInTurn, writeTogether } from './execute-fields.ts'
import { Run, type Variables } from './response-buffer.ts'

/** What whoever asks for an execution tells of it, and is told. */
export type Asked = {
  /** What the execution came to that the standard way is to go on from. */
  outcomes?: Outcomes
  /** Told what an operation was made into, once it has answered in full. */
  onCompiled?(operation: CompiledOperation): void
}

const outcomesOf = new WeakMap<object, Outcomes>()

/** Lets what a mutation came to be told in the standard way, without making it again. */
export function replayOutcomes(schema: GraphQLSchema): void {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { resolve } = field
    field.resolve = (root: object | undefined, args, ctx, info) => {
      const outcome = root && outcomesOf.get(root)?.get(String(info.path.key))
      return outcome ? outcome() : resolve?.(root, args, ctx, info)
    }
  }
}

// Of one operation, for what its variables include and leave out. Whoever asks for more takes the standard way.
const maxVariants = 16

// Yoga asks a result for its text where there is a way to, and its answers take bytes as well; its types know only
// texts. So nobody looks at the data.
const written = (bytes: Buffer): ExecutionResult => {
  const result = { data: {}, stringify: () => bytes }
  return result
}

/** A document's operation, made into functions as it is needed. */
export class CompiledOperation {
  readonly #schema: GraphQLSchema
  readonly #operation: OperationDefinitionNode
  readonly #fragments: Record<string, FragmentDefinitionNode>
  // The variables that decide what is included: their values are part of what is compiled.
  readonly #deciding = new Set<string>()
  readonly #fields = new Map<string, RootField[] | null>()
  /** Whether what it costs, and whether that is looked at, is the same for all variables. */
  readonly hasFixedCost: boolean

  constructor(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode) {
    this.#schema = schema
    this.#operation = operation
    this.#fragments = Object.fromEntries(
      document.definitions.flatMap((definition) =>
        definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition]] : [],
      ),
    )
    const costly = new Set<string>()
    const types = new TypeInfo(schema)
    const addTo = (names: Set<string>) => ({
      Variable: ({ name }: VariableNode) => void names.add(name.value),
    })
    visit(
      document,
      visitWithTypeInfo(types, {
        Directive: (directive) => void visit(directive, addTo(this.#deciding)),
        Argument: (argument) => {
          if (typeof types.getFieldDef()?.extensions.complexity === 'function') visit(argument, addTo(costly))
        },
      }),
    )
    this.hasFixedCost = this.#deciding.size === 0 && costly.size === 0
  }

  /** How many variants of it there are. */
  get variants(): number {
    return this.#fields.size
  }

  /** What is wrong with the variables, the first few errors of it, as a request that can't be executed; null where they
   *  are right. Each error is made with a text of all that was given. */
  refuse(variables: Variables, maxErrors: number): ExecutionResult | null {
    const definitions = this.#operation.variableDefinitions ?? []
    const { errors } = getVariableValues(this.#schema, definitions, variables, { maxErrors })
    if (!errors) return null
    for (const { extensions } of errors) extensions.http = { status: 400 }
    return { errors }
  }

  /** The bytes of the answer. Where anything is not as it should be, what came out by then: a query may be asked again
   *  in the standard way, which changes nothing; a mutation has been made, and its outcomes stand. */
  async execute(context: unknown, variables: Variables): Promise<Buffer | Outcomes> {
    const outcomes: Outcomes = new Map()
    const definitions = this.#operation.variableDefinitions ?? []
    const { coerced } = getVariableValues(this.#schema, definitions, variables, { maxErrors: 1 })
    if (!coerced) return outcomes
    const key = JSON.stringify([...this.#deciding].map((name) => coerced[name]))
    try {
      const fields = this.#fieldsFor(key, coerced)
      if (!fields) return outcomes
      const run = new Run(context, coerced)
      if (this.#operation.operation === 'mutation') await writeInTurn(fields, run, outcomes)
      else await writeTogether(fields, run)
      return run.bytes()
    } catch (error) {
      if (error instanceof NotCompiled) this.#fields.set(key, null)
      return outcomes
    }
  }

  #fieldsFor(key: string, variables: Variables): RootField[] | null {
    const known = this.#fields.get(key)
    if (known !== undefined) return known
    if (this.#fields.size === maxVariants) return null
    const made = compileOperation({
      schema: this.#schema,
      operation: this.#operation,
      fragments: this.#fragments,
      variables,
    })
    this.#fields.set(key, made)
    return made
  }
}

/** Executes operations by functions that are made for them, once for each document. Whatever is not as it should be,
 *  and what they are not made for, is left to the standard way. Of variables so many errors are told. */
export function compiledExecution(maxErrors: number): Plugin<Asked> {
  // As long as somebody has a use for one: documents are kept for longer, and what is made of them can be many times as
  // large.
  const compiled = new WeakMap<OperationDefinitionNode, WeakRef<CompiledOperation>>()

  function compile({ schema, document, operationName }: ExecutionArgs): CompiledOperation | null {
    const operation = getOperationAST(document, operationName)
    if (!operation) return null
    const found = compiled.get(operation)?.deref()
    if (found) return found
    const made = new CompiledOperation(schema, document, operation)
    compiled.set(operation, new WeakRef(made))
    return made
  }

  return {
    onExecute({ context, executeFn, setExecuteFn }) {
      setExecuteFn(async (args: ExecutionArgs) => {
        const operation = compile(args)
        if (!operation) return executeFn(args)
        const executed = isFast('compiler')
          ? (context.outcomes ?? (await operation.execute(context, args.variableValues ?? {})))
          : new Map()
        if (Buffer.isBuffer(executed)) {
          context.onCompiled?.(operation)
          return written(executed)
        }
        const refused = operation.refuse(args.variableValues ?? {}, maxErrors)
        if (refused) return refused
        const rootValue = {}
        outcomesOf.set(rootValue, executed)
        return executeFn({ ...args, rootValue })
      })
    },
  }
}
