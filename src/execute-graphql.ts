import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { CompiledOperation } from './compiled-execution.ts'
import type { Context } from './context.ts'
import { Refusal } from './errors.ts'
import { graphqlPath, type Parameters } from './graphql-params.ts'
import type { Answer } from './representation.ts'
import type { Outcomes } from './write-operation.ts'

/** A GraphQL request: as it came, what was read of it, and for whom it is executed. */
export type Asking = {
  request: FastifyRequest
  parameters: Parameters
  ctx: Context
  /** Whether a whole answer may be shared. */
  isCatalogue: boolean
}

/** An operation that Yoga has let through, and the headers that it answered with. */
type Known = { operation: CompiledOperation; headers: Record<string, string> }

// Each keeps its functions, so it is their number that counts, whatever the length of their documents.
const mostKnown = 500
const mostBytes = 2 ** 20

// All that Yoga decides by whether it lets an operation through, and in which form it answers: null for what it is
// always asked about.
function formOf(
  { method, url, headers }: FastifyRequest,
  { query, operationName }: Parameters,
): string | null {
  if (method !== 'POST' || url !== graphqlPath) return null
  return `${headers['content-type']}\n${headers.accept}\n${JSON.stringify(operationName ?? null)}\n${query}`
}

// Without the query, which the address has already: Yoga would write it there once more.
const asSent = ({ raw, method, headers, body }: FastifyRequest) => ({ raw, method, headers, body })

// Yoga and its plugins are a fifth of all that the service loads.
const openGateway = async () => (await import('./yoga.ts')).createGateway()

/** What executes GraphQL requests, and loads what it needs of that. */
export type Executor = { execute(asking: Asking): Promise<Answer>; load(): Promise<unknown> }

/** Executes by Yoga. What it let through once and answered in full is executed without it from then on, because its
 *  requests and responses take longer than a small answer; where that is not answered in full, it is Yoga's again. */
export function createExecutor(): Executor {
  let opened: ReturnType<typeof openGateway> | undefined
  const load = () => {
    opened ??= openGateway()
    return opened
  }
  const known = new LRUCache<string, Known>({
    max: mostKnown,
    maxSize: mostBytes,
    sizeCalculation: (_known, form) => form.length,
  })

  async function executeByYoga(
    { request, ctx, isCatalogue }: Asking,
    form: string | null,
    outcomes?: Outcomes,
  ): Promise<Answer> {
    let hasErrors = false
    let operation: CompiledOperation | undefined
    const gateway = await load()
    const response = await gateway.handleNodeRequest(asSent(request), {
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
    if (status === 406)
      throw new Refusal({ code: 'NOT_ACCEPTABLE', message: 'GraphQL is answered as application/json.' })
    // The length is of the body as it is: the HTTP server counts what it sends.
    const { 'content-length': _, ...headers } = Object.fromEntries(
      [...response.headers].map(([name, value]) => [name.toLowerCase(), value]),
    )
    // An error holds the id of its request, and an event stream is no body to be kept.
    const isWhole = status === 200 && !hasErrors && /^application\/.*json/.test(headers['content-type'] ?? '')
    if (form !== null && operation && isWhole) known.set(form, { operation, headers })
    const { buffer, byteOffset, byteLength } = await response.bytes()
    const body = Buffer.from(buffer, byteOffset, byteLength)
    return { status, headers, body, isShareable: isCatalogue && isWhole }
  }

  async function execute(asking: Asking): Promise<Answer> {
    const { request, parameters, ctx, isCatalogue } = asking
    const form = formOf(request, parameters)
    const found = form === null ? undefined : known.get(form)
    if (!found) return executeByYoga(asking, form)
    ctx.isMeasured = found.operation.hasFixedCost
    const executed = await found.operation.execute(ctx, parameters.variables ?? {})
    return Buffer.isBuffer(executed)
      ? { status: 200, headers: found.headers, body: executed, isShareable: isCatalogue }
      : executeByYoga(asking, form, executed)
  }

  return { execute, load }
}
