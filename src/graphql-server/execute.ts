import type { FastifyRequest } from 'fastify'
import type { MediaType } from '../http/accept.ts'
import { costHeader } from '../http/public-cors.ts'
import type { Answer } from '../http/representation.ts'
import { logCodes } from '../http/request-log.ts'
import type { Context } from '../request/context.ts'
import { isFast } from '../shared/fast.ts'
import { instruments } from '../shared/instruments.ts'
import type { Outcomes } from './compiler/execute-fields.ts'
import type { CompiledOperation } from './compiler/plugin.ts'
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

// Key of everything besides the document that decides whether Yoga accepts a request, and its response
// headers. Null for requests that always go through Yoga.
function executionKeyOf({
  request,
  mediaType,
  parameters: { operationName },
}: GraphqlRequest): string | null {
  const { method, url, headers } = request
  if (method !== 'POST' || url !== graphqlPath || !isFast('skip-yoga')) return null
  return `${headers['content-type']}\n${mediaType}\n${operationName ?? ''}`
}

// Maximum per document: its operations times a few spellings of `application/json`.
const maxExecutions = 16

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

/** Creates an executor that runs operations through Yoga. An operation that Yoga has accepted and answered
 *  without errors then bypasses Yoga, whose request and response objects cost more than a small response. If
 *  it fails without Yoga, Yoga answers that request.
 *  Slow form: every request goes through Yoga. */
export function createExecutor(documents: PreparedDocuments): Executor {
  // Loaded lazily: Yoga and its plugins are a fifth of all code that the service loads.
  const openGateway = async () => (await import('./yoga.ts')).createGateway(documents)
  let opened: ReturnType<typeof openGateway> | undefined
  const load = () => {
    opened ??= openGateway()
    return opened
  }
  async function executeByYoga(
    graphqlRequest: GraphqlRequest,
    key: string | null,
    outcomes?: Outcomes,
  ): Promise<Answer> {
    const { request, ctx, isShared } = graphqlRequest
    let hasErrors = false
    let operation: CompiledOperation | undefined
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
      onCompiled(compiled) {
        operation = compiled
      },
    })
    const { status } = response
    const headers = endToEnd(response.headers)
    // A response with errors contains the request id, so it must not be shared.
    const isWhole = status === 200 && !hasErrors
    // Only for authenticated callers and complete responses, so that strangers cannot fill the cache.
    if (isWhole && ctx.caller) {
      const { executions } = graphqlRequest.prepared
      if (key !== null && operation && executions.size < maxExecutions)
        executions.set(key, { operation, headers })
      documents.keep(graphqlRequest.parameters.query)
    }
    const { buffer, byteOffset, byteLength } = await response.bytes()
    const body = Buffer.from(buffer, byteOffset, byteLength)
    return { status, headers: withCost(headers, cost), body, isShareable: isShared && isWhole }
  }

  async function execute(graphqlRequest: GraphqlRequest): Promise<Answer> {
    const { parameters, prepared, ctx, isShared } = graphqlRequest
    const key = executionKeyOf(graphqlRequest)
    const found = key === null ? undefined : prepared.executions.get(key)
    if (!found) return executeByYoga(graphqlRequest, key)
    const { operation, headers } = found
    const { variants } = operation
    let cost: number | undefined
    const body = await operation.execute(ctx, parameters.variables ?? {}, (complexity) => {
      cost = complexity
    })
    if (!Buffer.isBuffer(body)) return executeByYoga(graphqlRequest, key, body)
    // Updates its size in the cache, because another variant was compiled.
    if (ctx.caller && operation.variants !== variants) documents.keep(parameters.query)
    return { status: 200, headers: withCost(headers, cost), body, isShareable: isShared }
  }

  function executeInSpan(graphqlRequest: GraphqlRequest): Promise<Answer> {
    const { tracer } = instruments
    if (!tracer) return execute(graphqlRequest)
    return tracer.inSpan(graphqlRequest.request.operation ?? 'other', {}, () => execute(graphqlRequest))
  }

  return { execute: executeInSpan, load }
}
