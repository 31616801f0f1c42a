import { type ExecutionArgs, execute, type GraphQLSchema } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Measured } from '../operation-cost.ts'
import type { CompiledOperation } from './compiled-operation.ts'
import type { Outcomes } from './execute-fields.ts'

/** Part of the request context that this plugin uses. */
export type ExecutionContext = {
  /** Outcomes of an execution in compiled form that could not be completed; graphql-js continues from them. */
  outcomes?: Outcomes
  /** Told the cost of the operation before it is executed. */
  measured?: Measured
}

/** Lets graphql-js report the outcomes of a mutation that has already run, which are its root, instead of running it
 *  twice. */
export function replayOutcomes(schema: GraphQLSchema): void {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { resolve } = field
    field.resolve = (root: Outcomes | object | undefined, args, ctx, info) => {
      const outcome = root instanceof Map ? root.get(String(info.path.key)) : undefined
      return outcome ?? resolve?.(root, args, ctx, info)
    }
  }
}

/** Lets graphql-js execute operations. Yoga's own executor fails on some response keys, such as `then`. */
export const standardExecution: Plugin = {
  onExecute({ setExecuteFn }) {
    setExecuteFn(execute)
  },
}

/** Checks variables and cost of what graphql-js is to execute, and lets it continue from outcomes. `operationOf` finds
 *  the operation of a request. */
export const limitedExecution = <Asked extends ExecutionContext>(
  operationOf: (context: Asked, name: string | null | undefined) => CompiledOperation | null,
): Plugin<Asked> => ({
  onExecute({ context, executeFn, setExecuteFn }) {
    setExecuteFn((args: ExecutionArgs) => {
      const operation = operationOf(context, args.operationName)
      if (!operation) return executeFn(args)
      const errors = operation.errorsWith(args.variableValues ?? {}, context.measured)
      if (errors) return { errors }
      return executeFn({ ...args, rootValue: context.outcomes ?? {} })
    })
  },
})
