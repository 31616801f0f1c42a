import { createHash } from 'node:crypto'
import { brotliCompressSync, constants } from 'node:zlib'
import { renderGraphiQL } from '@graphql-yoga/render-graphiql'
import type { FastifyReply, FastifyRequest } from 'fastify'

export type GraphiqlPage = { send(request: FastifyRequest, reply: FastifyReply): FastifyReply }

/** GraphiQL as one page that needs nothing from elsewhere. */
export function graphiqlPage(demoKey: string | undefined): GraphiqlPage {
  const html = renderGraphiQL({ title: 'Boxoffice', headers: JSON.stringify({ 'X-Api-Key': demoKey ?? '' }) })
  const etag = `"${createHash('sha256').update(html).digest('base64url')}"`
  const compressed = brotliCompressSync(html, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
  return {
    send(request, reply) {
      reply.header('etag', etag).type('text/html; charset=utf-8')
      if (request.headers['if-none-match'] === etag) return reply.code(304).send()
      if (!(request.headers['accept-encoding'] ?? '').includes('br')) return reply.send(html)
      return reply.header('content-encoding', 'br').send(compressed)
    },
  }
}
