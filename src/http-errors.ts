import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Code, Refusal } from './errors.ts'
import { toRefusal } from './mask.ts'

const messages: Partial<Record<number, [Code, string]>> = {
  400: ['BAD_REQUEST', 'The request is malformed.'],
  413: ['BODY_TOO_LARGE', 'The body is too large.'],
  415: ['UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json in UTF-8.'],
}

// What Fastify itself refuses: a body that is no JSON, too large, of another type; an address that can't be decoded.
function fromFastify(error: unknown): Refusal | null {
  if (error instanceof Refusal || !(error instanceof Error)) return null
  const { statusCode, code }: Partial<FastifyError> = error
  const [ours, message] = messages[statusCode ?? 500] ?? []
  if (!ours || !message) return null
  const isJson = error instanceof SyntaxError || code?.includes('JSON')
  return new Refusal({ code: ours, message: isJson ? 'The body is not valid JSON.' : message })
}

export type Send = (reply: FastifyReply, refusal: Refusal) => FastifyReply

/** Answers whatever is thrown in a scope: what a client may know in the surface's own shape, the rest masked. */
export function answerErrors(app: FastifyInstance, send: Send): void {
  app.setErrorHandler((error: unknown, request: FastifyRequest, reply) =>
    send(reply, fromFastify(error) ?? toRefusal(error, request.id, request.log)),
  )
}
