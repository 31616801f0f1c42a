import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Refusal, refusal, retryAfterOf } from '../base/errors.ts'
import { toRefusal } from './mask-error.ts'
import { logCodes } from './request-log.ts'
import { noStore } from './security.ts'

type MalformedCode = 'NOT_FOUND' | 'BODY_TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE' | 'BAD_REQUEST'

const messages: Partial<Record<number, [MalformedCode, string]>> = {
  404: ['NOT_FOUND', 'There is no such path.'],
  413: ['BODY_TOO_LARGE', 'The body is too large.'],
  415: ['UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json in UTF-8.'],
}

// Converts errors that Fastify itself raises: a body that is too large or of another type, a malformed URL.
function fromFastify(error: unknown): Refusal | null {
  if (error instanceof Refusal || !(error instanceof Error)) return null
  const { statusCode, code }: Partial<FastifyError> = error
  // A validator that throws is a bug of ours, whatever status Fastify gives it.
  if (statusCode === undefined || statusCode < 400 || statusCode > 499 || code === 'FST_ERR_VALIDATION')
    return null
  const [ours, message] = messages[statusCode] ?? ['BAD_REQUEST', 'The request is malformed.']
  return refusal(ours, message)
}

/** Gives an answer the status of a refusal and its `Retry-After`, and logs its codes. Nobody keeps it, whatever was said of
 *  the answer that it replaces. */
export function applyRefusal(reply: FastifyReply, { problems }: Refusal): FastifyReply {
  const codes = problems.map(({ code }) => code)
  logCodes(reply.request, codes)
  const retryAfter = retryAfterOf(problems[0])
  if (retryAfter) reply.header('retry-after', retryAfter)
  return reply.code(problems[0].status).header('cache-control', noStore)
}

export type SendRefusal = (reply: FastifyReply, refusal: Refusal) => FastifyReply

/** Answers all errors of a scope. `send` shapes refusals for REST or GraphQL; all else is masked. */
export function answerErrors(app: FastifyInstance, send: SendRefusal): void {
  app.setErrorHandler((error: unknown, request: FastifyRequest, reply) =>
    send(reply, fromFastify(error) ?? toRefusal(error, request.id, request.log)),
  )
}

const clientErrors: Record<string, [status: string, message: string]> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['413 Content Too Large', 'The extensions of a chunk are too large.'],
  UNKNOWN_EXPECTATION: ['417 Expectation Failed', 'The header Expect may be 100-continue only.'],
}

// Time for a client to read the error. Without it, a client could keep the connection open.
const lingerMs = 1_000

// The newest response of each connection.
const responses = new WeakMap<Socket, ServerResponse>()

// Only a request that is broken itself, or has not begun, may be answered: the bytes would be taken for a part of another
// answer, or for the answer of another request.
function mayBeAnswered(socket: Socket): boolean {
  const response = responses.get(socket)
  if (response?.req.complete) return response.closed
  return response === undefined || (response.socket !== null && !response.headersSent)
}

/** Answers input that never becomes a request, because it is not HTTP or arrives too slowly, with the documented error
 *  body, and ends the connection; without an answer where one is in progress. */
export function answerClientError({ code = '' }: { code?: string }, socket: Socket): void {
  if (code === 'ECONNRESET' || !socket.writable || !mayBeAnswered(socket)) return void socket.destroy()
  const [status, message] = clientErrors[code] ?? ['400 Bad Request', 'The request is not valid HTTP.']
  const problem = { code: 'BAD_REQUEST', message }
  setTimeout(() => socket.destroy(), lingerMs).unref()
  const body = JSON.stringify({ success: false, ...problem, errors: [problem], request_id: randomUUID() })
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\nCache-Control: ${noStore}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** Lets `answerClientError` know of answers in progress, and answers what Node would answer without a body. */
export function watchAnswers({ server }: FastifyInstance): void {
  server.on('request', ({ socket }, response) => responses.set(socket, response))
  server.on('checkExpectation', ({ socket }) => answerClientError({ code: 'UNKNOWN_EXPECTATION' }, socket))
}
