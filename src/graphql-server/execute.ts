import type { FastifyRequest } from 'fastify'
import type { Plugin } from 'graphql-yoga'
import type { MediaType } from '../http/accept.ts'
import { costHeader } from '../http/public-cors.ts'
import type { Answer } from '../http/representation.ts'
import { logCodes } from '../http/request-log.ts'
import type { Context } from '../request/context.ts'
import { isFast } from '../shared/fast.ts'
import { instruments } from '../shared/instruments.ts'
import type { Outcomes } from './compiler/execute-fields.ts'
import { graphqlPath, type Parameters } from './params.ts'
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

// Omits the parsed query string, because Yoga would append it to the URL again. Sets `accept` to the
// negotiated media type, because Yoga would also offer multipart and event streams.
// Yoga knows nothing of named documents: it gets their text.
function toYogaRequest({
  request: { raw, method, headers, body },
  mediaType,
  parameters: { isNamed, query, variables, operationName },
}: GraphqlRequest) {
  const sent = { raw, method, headers: { ...headers, accept: mediaType }, body }
  if (!isNamed) return sent
  if (method === 'GET') return { ...sent, query: { query } }
  return { ...sent, body: { query, variables, operationName } }
}

// Headers that concern a single connection (RFC 9110, 7.6.1), and the length, which the HTTP server sets.
const hopByHop = new Set(
  'connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade content-length'.split(
    ' ',
  ),
)

/** Drops the hop-by-hop headers of a response. */
const endToEnd = (headers: Iterable<[name: string, value: string]>): Record<string, string> =>
  Object.fromEntries(
    [...headers]
      .map(([name, value]) => [name.toLowerCase(), value])
      .filter(([name]) => !hopByHop.has(name ?? '')),
  )

// Tells clients what their operation costs, of `maxComplexity`.
const withCost = (headers: Record<string, string>, cost: number | undefined): Record<string, string> =>
  cost === undefined ? headers : { ...headers, [costHeader]: String(cost) }

/** Executes GraphQL requests. `load` imports Yoga ahead of the first request. */
type Executor = { execute(graphqlRequest: GraphqlRequest): Promise<Answer>; load(): Promise<unknown> }

/** Further plugins of Yoga. With any, every request goes through Yoga, so that they see it. */
export const plugins: Plugin[] = []

// Requests that Yoga takes as they are: their body is JSON, and their parameters and document have been checked.
const isPlain = ({ method, url, headers }: FastifyRequest): boolean =>
  method === 'POST' && url === graphqlPath && /^application\/json(;|$)/.test(headers['content-type'] ?? '')

/** Creates an executor. A valid operation of an authenticated caller runs in compiled form, without Yoga, whose request
 *  and response objects cost more than a small response. Yoga answers everything else: what is not valid, what fails,
 *  what the compiler does not support, and all requests if there are further plugins.
 *  Slow form: every request goes through Yoga, and graphql-js executes it. */
export function createExecutor(documents: PreparedDocuments): Executor {
  // Loaded lazily: Yoga and its plugins are a fifth of all code that the service loads.
  const openGateway = async () => (await import('./yoga.ts')).createGateway(documents, plugins)
  let opened: ReturnType<typeof openGateway> | undefined
  const load = () => {
    opened ??= openGateway()
    return opened
  }
  async function executeByYoga(graphqlRequest: GraphqlRequest, outcomes?: Outcomes): Promise<Answer> {
    const { request, parameters, ctx, isShared } = graphqlRequest
    let hasErrors = false
    let cost: number | undefined
    const gateway = await load()
    const response = await gateway.handleNodeRequest(toYogaRequest(graphqlRequest), {
      requestId: request.id,
      log: request.log,
      ctx,
      outcomes,
      onErrors(codes) {
        hasErrors = true
        logCodes(request, codes)
      },
      onCost(complexity) {
        cost = complexity
      },
    })
    const { status } = response
    // A response with errors contains the request id, so it must not be shared.
    const isWhole = status === 200 && !hasErrors
    // Only for authenticated callers and complete responses, so that strangers cannot fill the cache.
    if (isWhole && ctx.caller) documents.keep(parameters.query)
    const { buffer, byteOffset, byteLength } = await response.bytes()
    const body = Buffer.from(buffer, byteOffset, byteLength)
    const headers = withCost(endToEnd(response.headers), cost)
    return { status, headers, body, isShareable: isShared && isWhole }
  }

  async function execute(graphqlRequest: GraphqlRequest): Promise<Answer> {
    const { request, mediaType, parameters, prepared, ctx, isShared } = graphqlRequest
    const skipsYoga = plugins.length === 0 && isFast('skip-yoga') && ctx.caller && isPlain(request)
    const operation = skipsYoga ? prepared.operationOf(parameters.operationName) : null
    if (!operation) return executeByYoga(graphqlRequest)
    let cost: number | undefined
    const body = await operation.execute(ctx, parameters.variables ?? {}, (complexity) => {
      cost = complexity
    })
    if (!Buffer.isBuffer(body)) return executeByYoga(graphqlRequest, body)
    documents.keep(parameters.query)
    const headers = withCost({ 'content-type': `${mediaType}; charset=utf-8` }, cost)
    return { status: 200, headers, body, isShareable: isShared }
  }

  function executeInSpan(graphqlRequest: GraphqlRequest): Promise<Answer> {
    const { tracer } = instruments
    if (!tracer) return execute(graphqlRequest)
    return tracer.inSpan(graphqlRequest.request.operation ?? 'other', {}, () => execute(graphqlRequest))
  }

  return { execute: executeInSpan, load }
}
