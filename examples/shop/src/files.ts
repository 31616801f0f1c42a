import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** File as browsers get it. */
export type File = { type: string; text: string; brotli: Buffer; etag: string }

/** Makes a file of a text, compressed once for all who ask for it. */
export const toFile = async (type: string, text: string): Promise<File> => ({
  ...{ type, text },
  brotli: await promisify(brotliCompress)(text),
  etag: `W/"${createHash('sha256').update(text).digest('base64url')}"`,
})

/** Adds a header to those by which a response varies. */
export const addVary = (reply: FastifyReply, header: string): FastifyReply =>
  reply.header('vary', [reply.getHeader('vary'), header].filter(Boolean).join(', '))

/** Sends a file, or 304 to a browser that has it. */
export function sendFile(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { type, text, brotli, etag }: File,
): FastifyReply {
  addVary(reply, 'accept-encoding').headers({
    ...{ etag, 'cache-control': 'public, no-cache' },
    'content-security-policy': "default-src 'none'",
  })
  if (headers['if-none-match'] === etag) return reply.code(304).send()
  reply.type(type)
  if (!/\bbr\b/.test(String(headers['accept-encoding']))) return reply.send(text)
  return reply.header('content-encoding', 'br').send(brotli)
}
