import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
} from 'graphql'
import { compileQuery, isCompiledQuery } from 'graphql-jit'
import type { Plugin } from 'graphql-yoga'

type Execute = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>

function compile(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName?: string | null,
): Execute | null {
  const definitions = getOperationAST(document, operationName)?.variableDefinitions ?? []
  const compiled = compileQuery(schema, document, operationName ?? undefined, {
    disableLeafSerialization: true,
  })
  if (!isCompiledQuery(compiled)) return null
  return ({ rootValue, contextValue, variableValues }) => {
    const { errors } = getVariableValues(schema, definitions, variableValues ?? {}, { maxErrors: 50 })
    return errors ? { errors } : compiled.query(rootValue, contextValue, variableValues)
  }
}

export function compiledExecution(): Plugin {
  const seen = new WeakMap<DocumentNode, Map<string, Execute | null>>()
  return {
    onExecute({ args, setExecuteFn }) {
      const byName = seen.get(args.document) ?? new Map<string, Execute | null>()
      seen.set(args.document, byName)
      const name = args.operationName ?? ''
      if (!byName.has(name)) byName.set(name, compile(args.schema, args.document, args.operationName))
      const execute = byName.get(name)
      if (execute) setExecuteFn(execute)
    },
  }
}
