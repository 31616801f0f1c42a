import {
  createSourceEventStream,
  type DocumentNode,
  execute,
  GraphQLError,
  getOperationAST,
  getVariableValues,
  type OperationDefinitionNode,
} from 'graphql'
import type { Live } from '../../graphql/needs.ts'
import type { Log } from '../../http/mask-error.ts'
import type { Context } from '../../request/context.ts'
import { requestLimits } from '../../shared/request-limits.ts'
import { toClientError } from '../errors.ts'
import { costCheck } from '../operation-cost.ts'
import { schema } from '../schema.ts'
import { nextEvent } from './event-stream.ts'

/** A subscription that passed validation. */
export type LiveOperation = {
  document: DocumentNode
  operationName: string | null | undefined
  variables: Record<string, unknown>
  live: Live<unknown>
}

/** Request that opened a stream, for the errors in it. */
export type Origin = { requestId: string; log: Log }

/** Source of the events of an operation; or the errors that it is refused with. */
export type Source =
  | { events: AsyncIterator<unknown>; live: Live<unknown> }
  | { refused: readonly GraphQLError[] }

/** Serializes errors as clients receive them. */
export const errorsToJson = (errors: readonly GraphQLError[], origin: Origin): string =>
  JSON.stringify({ errors: errors.map((error) => toClientError(error, false, origin)) })

const toGraphqlError = (error: unknown): GraphQLError =>
  error instanceof GraphQLError
    ? error
    : new GraphQLError('', { originalError: error instanceof Error ? error : new Error(String(error)) })

/** Serializes whatever a stream ended with. */
export const failureToJson = (error: unknown, origin: Origin): string =>
  errorsToJson([toGraphqlError(error)], origin)

// Checks variables and cost before anything is subscribed to. graphql-js would coerce variables without a limit
// of errors.
function checkOperation(
  { document, variables }: LiveOperation,
  operation: OperationDefinitionNode,
): readonly GraphQLError[] {
  const { errors } = getVariableValues(schema, operation.variableDefinitions ?? [], variables, {
    maxErrors: requestLimits.maxGraphqlErrors,
  })
  if (errors) return errors
  const { excess } = costCheck(schema, document, operation)(variables)
  return excess ? [excess] : []
}

/** Subscribes to the events of an operation. */
export async function openSource(operation: LiveOperation, ctx: Context): Promise<Source> {
  const node = getOperationAST(operation.document, operation.operationName)
  if (!node) throw new Error('a document without its operation was subscribed to')
  const errors = checkOperation(operation, node)
  if (errors.length > 0) return { refused: errors }
  const source = await createSourceEventStream({
    schema,
    document: operation.document,
    operationName: operation.operationName,
    variableValues: operation.variables,
    contextValue: ctx,
  })
  if (Symbol.asyncIterator in source) return { events: source[Symbol.asyncIterator](), live: operation.live }
  return { refused: source.errors ?? [] }
}

/** Executes the selection of an operation on an event. Returns the bytes to send. */
export async function toEvent(
  operation: LiveOperation,
  { event, id }: { event: unknown; id: string | undefined },
  ctx: Context,
  origin: Origin,
): Promise<Buffer> {
  const { data, errors } = await execute({
    schema,
    document: operation.document,
    operationName: operation.operationName,
    variableValues: operation.variables,
    rootValue: event,
    contextValue: ctx,
  })
  const shown = errors?.slice(0, requestLimits.maxErrors).map((error) => toClientError(error, false, origin))
  return Buffer.from(nextEvent(JSON.stringify({ ...(shown && { errors: shown }), data }), id))
}
