import type { FastifyRequest } from 'fastify'
import { GraphQLError, type GraphQLSchema } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { isFast } from '../base/fast.ts'
import { inSpan } from '../base/instruments.ts'
import { makeOnce } from '../base/make-once.ts'
import type { MediaType } from '../http/media-type.ts'
import { costHeader } from '../http/public-cors.ts'
import type { Answer } from '../http/representation.ts'
import { logCodes } from '../http/request-log.ts'
import type { Context } from '../request/context.ts'
import type { Outcomes } from './compiler/execute-fields.ts'
import type { Measured } from './operation-cost.ts'
import type { Parameters } from './params.ts'
import type { PreparedDocument, PreparedDocuments } from './prepared-document.ts'

/** A GraphQL request with everything needed to execute it. */
type GraphqlRequest = {
  request: FastifyRequest
  /** Negotiated media type of the response. */
  mediaType: MediaType
  parameters: Parameters
  prepared: PreparedDocument
  ctx: Context
  /** True if a complete response may be shared. */
  isShared: boolean
}

/** Cost of an execution, and codes of the errors in its response, as they become known. */
type Told = { measured: Measured; codes: string[] }

/** Further plugins of Yoga. With any, every request goes through Yoga, so that they see it. */
export const yogaPlugins: Plugin[] = []

// Counts the cost of an operation once, however often it is measured: compiled, and then by Yoga.
function refuseOnce(request: FastifyRequest): Measured['refuse'] {
  let refused: GraphQLError | null | undefined
  return (cost) => {
    if (refused !== undefined) return refused
    const refusal = request.spend(cost)
    refused = refusal && new GraphQLError(refusal.message, { originalError: refusal })
    return refused
  }
}

/** Creates an executor. A valid operation of an authenticated caller runs in compiled form, without Yoga, whose request
 *  and response objects cost more than a small response. Yoga answers everything else: what is not valid, what fails,
 *  what the compiler does not support, and all requests if there are further plugins.
 *  Slow form: every request goes through Yoga, and graphql-js executes it. */
export function createExecutor(schema: GraphQLSchema, documents: PreparedDocuments) {
  // Imports Yoga on the first request, or ahead of it: it and its plugins are a fifth of all code that the service loads.
  const load = makeOnce(async () => (await import('./yoga.ts')).createGateway(schema, yogaPlugins))

  async function executeByYoga(graphqlRequest: GraphqlRequest, told: Told, outcomes?: Outcomes) {
    const { request, mediaType, parameters, prepared, ctx } = graphqlRequest
    const context = { requestId: request.id, log: request.log, ctx, parameters, prepared, outcomes, ...told }
    const runByYoga = await load()
    const response = await runByYoga(request.method, mediaType, context)
    const named = [...response.headers].map(([name, value]) => [name.toLowerCase(), value] as const)
    // The length is that of these bytes, which may be sent compressed.
    const { 'content-length': _length, ...headers } = Object.fromEntries(named)
    return { status: response.status, headers, body: Buffer.from(await response.arrayBuffer()) }
  }

  async function executeAlone(graphqlRequest: GraphqlRequest): Promise<Answer> {
    const { request, mediaType, parameters, prepared, ctx, isShared } = graphqlRequest
    const told: Told = { measured: { refuse: refuseOnce(request) }, codes: [] }
    const skipsYoga = yogaPlugins.length === 0 && isFast('skip-yoga') && ctx.caller
    const named = skipsYoga ? prepared.operationOf(parameters.operationName) : null
    // Yoga refuses a mutation by GET.
    const operation = named?.isQuery || request.method === 'POST' ? named : null
    const executed = await operation?.execute(ctx, parameters.variables ?? {}, told.measured)
    const answered = Buffer.isBuffer(executed)
      ? { status: 200, headers: { 'content-type': `${mediaType}; charset=utf-8` }, body: executed }
      : await executeByYoga(graphqlRequest, told, executed)
    logCodes(request, told.codes)
    // A response with errors contains the request id, so it must not be shared.
    const isWhole = answered.status === 200 && told.codes.length === 0
    // Only for authenticated callers and complete responses, so that strangers cannot fill the cache.
    if (isWhole && ctx.caller) documents.keep(parameters.query)
    const { cost } = told.measured
    // Tells clients what their operation costs, of `maxComplexity`.
    const headers = { ...answered.headers, ...(cost !== undefined && { [costHeader]: String(cost) }) }
    return { ...answered, headers, isShareable: isShared && isWhole }
  }

  const execute = (graphqlRequest: GraphqlRequest): Promise<Answer> =>
    inSpan(graphqlRequest.request.operation ?? 'other', {}, () => executeAlone(graphqlRequest))

  return { execute, load }
}
