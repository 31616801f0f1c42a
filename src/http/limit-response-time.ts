import type { FastifyInstance, FastifyReply } from 'fastify'
import { busy } from '../shared/errors.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Place among the requests that wait for a response. */
    waiting: Waiting
  }
}

/** A request that waits for a response, between the one before it and the one after it. */
type Waiting = { reply: FastifyReply | null; since: number; before: Waiting; after: Waiting }

// Statements and queues each have a timeout of their own, but a request may wait for several in a row.
// Fastify's `handlerTimeout` costs a timer and a controller per request, skips routes that are not found, and
// logs late responses with the URL, which may contain a payment page's token.

const checkMs = 250
// Statement timeout plus the round trip to the database.
const defaultTimeoutMs = 15_500

/** Answers BUSY with Retry-After to a request that has had no response for `timeoutMs`, whatever it waits for; `inTime`
 *  bounds a single wait. The work continues: a checkout that is retried with its idempotency key happens once. */
export function limitResponseTime(app: FastifyInstance, timeoutMs = defaultTimeoutMs): void {
  // Ring in order of arrival. A Map would replace its table again and again, and the old tables, which are
  // promoted, would retain requests until a major collection: they doubled the time that collections took.
  const ends = { reply: null, since: 0 } as Waiting
  ends.before = ends.after = ends

  function add(reply: FastifyReply): void {
    const waiting = { reply, since: performance.now(), before: ends.before, after: ends }
    ends.before = ends.before.after = reply.waiting = waiting
  }

  function remove(waiting: Waiting): void {
    waiting.before.after = waiting.after
    waiting.after.before = waiting.before
    waiting.reply = null
    waiting.before = waiting.after = waiting
  }

  function timeOut(reply: FastifyReply): void {
    remove(reply.waiting)
    if (reply.sent || reply.raw.headersSent) return
    reply.send(busy())
    // Ignores the late response: Fastify would log it with the URL.
    reply.send = () => reply
  }

  app.decorateReply('waiting')
  app.addHook('onRequest', (_request, reply, done) => {
    add(reply)
    done()
  })
  app.addHook('onResponse', (_request, { waiting }, done) => {
    // Fastify also answers requests whose hooks did not run.
    if (waiting) remove(waiting)
    done()
  })
  const timer = setInterval(() => {
    const deadline = performance.now() - timeoutMs
    while (ends.after.reply && ends.after.since <= deadline) timeOut(ends.after.reply)
  }, checkMs).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}
