import type { FastifyRequest } from 'fastify'
import type { MediaType } from '../http/accept.ts'
import type { Answer } from '../http/representation.ts'
import type { Context } from '../request/context.ts'
import { isFast } from '../shared/fast.ts'
import type { RequestLimits } from '../shared/request-limits.ts'
import type { Outcomes } from './compiler/execute-fields.ts'
import type { CompiledOperation } from './compiler/plugin.ts'
import { graphqlPath, type Parameters } from './params.ts'
import type { PreparedDocument, PreparedDocuments } from './prepared-document.ts'

/** A GraphQL request: as it came, what was read of it, and for whom it is executed. */
export type Asking = {
  request: FastifyRequest
  /** The form of the answer, which the client accepts. */
  mediaType: MediaType
  parameters: Parameters
  prepared: PreparedDocument
  ctx: Context
  /** Whether a whole answer may be shared. */
  isCatalogue: boolean
}

// Everything beside the document by which Yoga decides whether it lets an operation through, and in which form it
// answers: null for requests that it is always asked about.
function formOf({ request, mediaType, parameters: { operationName } }: Asking): string | null {
  const { method, url, headers } = request
  if (method !== 'POST' || url !== graphqlPath || !isFast('skip-yoga')) return null
  return `${headers['content-type']}\n${mediaType}\n${operationName ?? ''}`
}

// Of one document: operations, times the few ways to say `application/json`.
const maxForms = 16

// Without the query, which the address has already: Yoga would write it there once more. It answers in the form that
// was chosen: left to itself it offers parts and events as well.
const asSent = ({ request: { raw, method, headers, body }, mediaType }: Asking) => ({
  raw,
  method,
  headers: { ...headers, accept: mediaType },
  body,
})

// Those between one server and the next, which has them of its own, and the length: the HTTP server counts what it
// sends (RFC 9110, 7.6.1).
const hopByHop = new Set(
  'connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade content-length'.split(
    ' ',
  ),
)

/** The headers of an answer that are meant for the client. */
export const endToEnd = (headers: Iterable<[name: string, value: string]>): Record<string, string> =>
  Object.fromEntries(
    [...headers]
      .map(([name, value]) => [name.toLowerCase(), value])
      .filter(([name]) => !hopByHop.has(name ?? '')),
  )

// Yoga and its plugins are a fifth of all that the service loads.
const openGateway = async (limits: RequestLimits, documents: PreparedDocuments) =>
  (await import('./yoga.ts')).createGateway(limits, documents)

/** What executes GraphQL requests, and loads what it needs of that. */
export type Executor = { execute(asking: Asking): Promise<Answer>; load(): Promise<unknown> }

/** Executes by Yoga. What it let through once and answered in full is executed without it from then on, because its
 *  requests and responses take longer than a small answer; where that is not answered in full, it is Yoga's again. */
export function createExecutor(limits: RequestLimits, documents: PreparedDocuments): Executor {
  let opened: ReturnType<typeof openGateway> | undefined
  const load = () => {
    opened ??= openGateway(limits, documents)
    return opened
  }
  async function executeByYoga(asking: Asking, form: string | null, outcomes?: Outcomes): Promise<Answer> {
    const { request, ctx, isCatalogue } = asking
    let hasErrors = false
    let operation: CompiledOperation | undefined
    const gateway = await load()
    const response = await gateway.handleNodeRequest(asSent(asking), {
      requestId: request.id,
      log: request.log,
      ctx,
      outcomes,
      onErrors() {
        hasErrors = true
      },
      onCompiled(compiled) {
        operation = compiled
      },
    })
    const { status } = response
    const headers = endToEnd(response.headers)
    // An error holds the id of its request.
    const isWhole = status === 200 && !hasErrors
    // Only of somebody who may be here, and only what was answered in full: so strangers push none of it out.
    if (isWhole && ctx.caller) {
      const { executions } = asking.prepared
      if (form !== null && operation && executions.size < maxForms)
        executions.set(form, { operation, headers })
      documents.keep(asking.parameters.query)
    }
    const { buffer, byteOffset, byteLength } = await response.bytes()
    const body = Buffer.from(buffer, byteOffset, byteLength)
    return { status, headers, body, isShareable: isCatalogue && isWhole }
  }

  async function execute(asking: Asking): Promise<Answer> {
    const { parameters, prepared, ctx, isCatalogue } = asking
    const form = formOf(asking)
    const found = form === null ? undefined : prepared.executions.get(form)
    if (!found) return executeByYoga(asking, form)
    const { operation, headers } = found
    const { variants } = operation
    ctx.isMeasured = operation.hasFixedCost
    const body = await operation.execute(ctx, parameters.variables ?? {})
    if (!Buffer.isBuffer(body)) return executeByYoga(asking, form, body)
    // Weighed again, since another variant of it was compiled.
    if (ctx.caller && operation.variants !== variants) documents.keep(parameters.query)
    return { status: 200, headers, body, isShareable: isCatalogue }
  }

  return { execute, load }
}
