import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { MediaType } from '../http/accept.ts'
import type { Answer } from '../http/representation.ts'
import type { Context } from '../request/context.ts'
import { isFast } from '../shared/fast.ts'
import type { RequestLimits } from '../shared/request-limits.ts'
import type { Outcomes } from './compiler/execute-fields.ts'
import type { CompiledOperation } from './compiler/plugin.ts'
import { createDocuments, type Documents } from './document-cache.ts'
import { graphqlPath, type Parameters } from './params.ts'
import { keepDecisions } from './prepared-operation.ts'

/** A GraphQL request: as it came, what was read of it, and for whom it is executed. */
export type Asking = {
  request: FastifyRequest
  /** The form of the answer, which the client accepts. */
  mediaType: MediaType
  parameters: Parameters
  ctx: Context
  /** Whether a whole answer may be shared. */
  isCatalogue: boolean
}

/** An operation that Yoga has let through, the headers that it answered with, and how many variants of it there were. */
type Known = { operation: CompiledOperation; headers: Record<string, string>; variants: number }

// Some 800 operations as clients have them, or 30 of the largest.
const maxBytes = 64 * 2 ** 20

// All that Yoga decides by whether it lets an operation through, and in which form it answers: null for what it is
// always asked about.
function formOf({ request, mediaType, parameters: { query, operationName } }: Asking): string | null {
  const { method, url, headers } = request
  if (method !== 'POST' || url !== graphqlPath) return null
  return `${headers['content-type']}\n${mediaType}\n${JSON.stringify(operationName ?? null)}\n${query}`
}

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
const openGateway = async (limits: RequestLimits, documents: Documents) =>
  (await import('./yoga.ts')).createGateway(limits, documents)

/** What executes GraphQL requests, and loads what it needs of that. */
export type Executor = { execute(asking: Asking): Promise<Answer>; load(): Promise<unknown> }

/** Executes by Yoga. What it let through once and answered in full is executed without it from then on, because its
 *  requests and responses take longer than a small answer; where that is not answered in full, it is Yoga's again. */
export function createExecutor(limits: RequestLimits): Executor {
  const documents = createDocuments()
  let opened: ReturnType<typeof openGateway> | undefined
  const load = () => {
    opened ??= openGateway(limits, documents)
    return opened
  }
  const known = new LRUCache<string, Known>({
    maxSize: maxBytes,
    sizeCalculation: ({ operation }, form) => operation.bytes() + 2 * form.length,
  })
  const know = (form: string, operation: CompiledOperation, headers: Record<string, string>) =>
    known.set(form, { operation, headers, variants: operation.variants })

  // Only of somebody who may be here, and only what was answered: so what strangers send pushes none of it out.
  function keep({ parameters: { query } }: Asking): void {
    documents.keep(query)
    keepDecisions(query)
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
    if (isWhole && ctx.caller) {
      keep(asking)
      if (form !== null && operation) know(form, operation, headers)
    }
    const { buffer, byteOffset, byteLength } = await response.bytes()
    const body = Buffer.from(buffer, byteOffset, byteLength)
    return { status, headers, body, isShareable: isCatalogue && isWhole }
  }

  async function execute(asking: Asking): Promise<Answer> {
    const { parameters, ctx, isCatalogue } = asking
    const form = formOf(asking)
    const found = form === null || !isFast('skip-yoga') ? undefined : known.get(form)
    if (form === null || !found) return executeByYoga(asking, form)
    const { operation, headers, variants } = found
    ctx.isMeasured = operation.hasFixedCost
    const body = await operation.execute(ctx, parameters.variables ?? {})
    // Weighed anew.
    if (operation.variants !== variants) know(form, operation, headers)
    if (!Buffer.isBuffer(body)) return executeByYoga(asking, form, body)
    if (ctx.caller) keep(asking)
    return { status: 200, headers, body, isShareable: isCatalogue }
  }

  return { execute, load }
}
