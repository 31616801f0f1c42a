import { collectFields } from 'graphql/execution/collectFields.js'
import { json } from '../../json/json-writer.ts'
import { type CompilationContext, compileArguments, compileCompletion } from './compile-object.ts'
import { type CompleteValue, fallBack } from './complete-value.ts'
import { type OperationSource, rootInfo, toFieldGroup } from './resolve-info.ts'
import type { ResponseBuffer } from './response-buffer.ts'

// Compiles an operation into one generated function per selected object type. Each writes its response keys
// as encoded literals, reads properties and calls resolvers inline, and completes the values. The functions
// handle valid values only: on anything else they throw, and graphql-js executes the operation instead.

/** One root field: its resolver, and the completion of what that returns. */
export type RootField = {
  responseKey: string
  resolve(response: ResponseBuffer): unknown
  completeValue: CompleteValue
}

/** Compiles an operation for these values of the variables that @skip and @include read. Throws NotCompiled
 *  for introspection and subscriptions. */
export function compileOperation(source: OperationSource): RootField[] {
  const compilation: CompilationContext = { ...source, objects: new Map() }
  const { schema, operation, fragments, variables } = compilation
  const type = operation.operation === 'subscription' ? undefined : schema.getRootType(operation.operation)
  if (!type) return fallBack('an operation other than a query or mutation')
  const groups = [...collectFields(schema, fragments, variables, type, operation.selectionSet)]
  return groups.map(([responseKey, nodes]): RootField => {
    const field = toFieldGroup(responseKey, type, nodes)
    if (field.name === '__typename')
      return { responseKey, resolve: () => type.name, completeValue: (value) => void json.value(value) }
    const [node] = nodes
    const definition = type.getFields()[field.name]
    const { resolve } = definition ?? {}
    if (!node || !definition || !resolve) return fallBack('an introspection field')
    const info = rootInfo(field, definition.type, compilation)
    const readArguments = compileArguments(definition, node)
    return {
      responseKey,
      resolve: (response) =>
        resolve({}, readArguments(response), response.context, {
          ...info,
          variableValues: response.variables,
        }),
      completeValue: compileCompletion(definition.type, field, compilation),
    }
  })
}
