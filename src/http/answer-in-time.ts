import type { FastifyInstance, FastifyReply } from 'fastify'
import { busy } from '../shared/errors.ts'

// Statements and queues each have a timeout of their own, but a request may wait for several in a row.
// Fastify's `handlerTimeout` costs a timer and a controller per request, skips routes that are not found, and
// logs late responses with the URL, which may contain a payment page's token.

const checkMs = 250
// Statement timeout plus the round trip to the database.
const defaultTimeoutMs = 15_500

/** Answers BUSY with Retry-After to a request that has had no response for `timeoutMs`. The work continues: a
 *  checkout that is retried with its idempotency key happens once. */
export function limitResponseTime(app: FastifyInstance, timeoutMs = defaultTimeoutMs): void {
  // In order of arrival.
  const waiting = new Map<FastifyReply, number>()
  app.addHook('onRequest', (_request, reply, done) => {
    waiting.set(reply, performance.now())
    done()
  })
  app.addHook('onResponse', (_request, reply, done) => {
    waiting.delete(reply)
    done()
  })

  function timeOut(reply: FastifyReply): void {
    waiting.delete(reply)
    if (reply.sent || reply.raw.headersSent) return
    reply.send(busy())
    // Ignores the late response: Fastify would log it with the URL.
    reply.send = () => reply
  }

  const timer = setInterval(() => {
    const deadline = performance.now() - timeoutMs
    for (const [reply, since] of waiting) {
      if (since > deadline) return
      timeOut(reply)
    }
  }, checkMs).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}
