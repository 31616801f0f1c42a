import type { FastifyReply, FastifyRequest } from 'fastify'
import { chooseCoding } from './content-coding.ts'
import type { Representation } from './representation.ts'

// Below it the headers are most of an answer, and compressing gains nothing.
const leastCompressed = 1024

// What decides beside the address who may see what, and in which coding.
const varies = 'x-api-key, integration_id, secret, accept, accept-encoding'

// Compared weakly, and a tag of ours has no comma in it (RFC 9110, 13.1.2).
const matches = (tags: string | undefined, etag: string): boolean =>
  tags?.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag) ?? false

async function send(
  { method, headers }: FastifyRequest,
  reply: FastifyReply,
  read: Representation,
): Promise<void> {
  if (!read.isShareable) return void reply.code(read.status).headers(read.headers).send(read.body)
  const coding = read.body.length < leastCompressed ? 'identity' : chooseCoding(headers['accept-encoding'])
  const { 'content-type': type = '', ...about } = read.headers
  const vary = [reply.getHeader('vary'), varies].filter(Boolean).join(', ')
  reply.headers({ ...about, vary, 'cache-control': 'private, no-cache' })
  if (method !== 'POST') {
    const etag = read.etag(coding)
    reply.header('etag', etag)
    if (matches(headers['if-none-match'], etag)) return void reply.code(304).send()
  }
  const encoded = read.encoded(coding)
  const body = Buffer.isBuffer(encoded) ? encoded : await encoded
  if (coding !== 'identity') reply.header('content-encoding', coding)
  reply.type(type).send(body)
}

/** Sends an answer, once it is there. One that can be shared goes in the coding that the client likes best, because
 *  nothing in it is secret or personal; to a safe method with its tag, and as 304 where the client has it already. The
 *  client may keep it for itself, and asks each time whether it still holds: the bound on its age is ours to spend. */
export function sendRepresentation(
  request: FastifyRequest,
  reply: FastifyReply,
  reading: Promise<Representation>,
): void {
  reading.then((read) => send(request, reply, read)).catch((error: unknown) => reply.send(error))
}
