import type { FastifyInstance, FastifyReply } from 'fastify'
import { busy } from '../shared/errors.ts'

// A request may wait for several statements one after another, and for its turn in a queue, each of which is bounded by
// itself. Fastify's `handlerTimeout` costs each request a timer and a controller, leaves out the routes that are not
// found, and has what is answered too late logged with the address, which may hold a payment page's token.

// Milliseconds.
const checkMs = 250
// As long as a statement may take, with its way to the database and back.
const defaultTimeoutMs = 15_500

/** Answers BUSY, which says when to come again, to what has had no answer for so many milliseconds. What runs goes on:
 *  a checkout that is asked for again with its idempotency key is made once. */
export function limitResponseTime(app: FastifyInstance, timeoutMs = defaultTimeoutMs): void {
  // In the order that they came in.
  const waiting = new Map<FastifyReply, number>()
  app.addHook('onRequest', (_request, reply, done) => {
    waiting.set(reply, performance.now())
    done()
  })
  app.addHook('onResponse', (_request, reply, done) => {
    waiting.delete(reply)
    done()
  })

  function giveUp(reply: FastifyReply): void {
    waiting.delete(reply)
    if (reply.sent || reply.raw.headersSent) return
    reply.send(busy())
    // What comes of it now is for nobody, and Fastify would log the address.
    reply.send = () => reply
  }

  const timer = setInterval(() => {
    const before = performance.now() - timeoutMs
    for (const [reply, since] of waiting) {
      if (since > before) return
      giveUp(reply)
    }
  }, checkMs).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}
