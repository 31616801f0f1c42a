import {
  createSourceEventStream,
  execute,
  type GraphQLError,
  type GraphQLSchema,
  locatedError,
} from 'graphql'
import { requestLimits } from '../../base/request-limits.ts'
import type { Streaming } from '../../graphql/needs.ts'
import type { Context } from '../../request/context.ts'
import type { CompiledOperation } from '../compiler/compiled-operation.ts'
import { type Origin, toClientError } from '../errors.ts'

/** A subscription that passed validation. */
export type LiveOperation = {
  schema: GraphQLSchema
  compiled: CompiledOperation
  operationName: string | null | undefined
  variables: Record<string, unknown>
  stream: Streaming<unknown>
}

/** Errors that a subscription is refused with. */
class RefusedOperation extends AggregateError {}

const errorsOf = (error: unknown): readonly GraphQLError[] =>
  error instanceof RefusedOperation ? error.errors : [locatedError(error, undefined)]

/** Serializes whatever a stream ended with. */
export const failureToJson = (error: unknown, origin: Origin): string =>
  JSON.stringify({ errors: errorsOf(error).map((error) => toClientError(error, false, origin)) })

/** Reports whether a subscription was refused, and did not fail. */
export const isRefused = (error: unknown): boolean => error instanceof RefusedOperation

const argumentsOf = (operation: LiveOperation, contextValue: Context) => {
  const { schema, compiled, operationName, variables: variableValues } = operation
  return { schema, document: compiled.document, operationName, variableValues, contextValue }
}

/** Events of a subscription, which are taken one by one, and can be ended. */
export type Events = AsyncIterableIterator<object> & { startId?: string }

/** Subscribes to the events of an operation. Its variables and its cost are checked before: graphql-js would coerce
 *  variables without a limit of errors. Throws what `isRefused` recognizes. */
export async function openSource(operation: LiveOperation, ctx: Context): Promise<Events> {
  const errors = operation.compiled.errorsWith(operation.variables)
  if (errors) throw new RefusedOperation(errors)
  const source = await createSourceEventStream(argumentsOf(operation, ctx))
  if (Symbol.asyncIterator in source) return source as Events
  throw new RefusedOperation(source.errors ?? [])
}

/** Executes the selection of an operation on an event. Returns the result as JSON. */
export async function executeOn(event: object, operation: LiveOperation, ctx: Context, origin: Origin) {
  const { data, errors } = await execute({ ...argumentsOf(operation, ctx), rootValue: event })
  const shown = errors?.slice(0, requestLimits.maxErrors).map((error) => toClientError(error, false, origin))
  return JSON.stringify({ ...(shown && { errors: shown }), data })
}
