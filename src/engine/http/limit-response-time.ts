import type { FastifyInstance, FastifyReply } from 'fastify'
import { busy } from '../base/errors.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Answers the request once it has waited too long; absent where its hooks did not run. */
    deadline: NodeJS.Timeout | undefined
  }
}

// Statements and queues each have a timeout of their own, but a request may wait for several in a row.
// Fastify's `handlerTimeout` costs a controller per request besides its timer, skips routes that are not found, and
// logs late responses with the URL, which may contain a secret token.

// Statement timeout plus the round trip to the database.
const defaultTimeoutMs = 15_500

function timeOut(reply: FastifyReply): void {
  const { raw } = reply.request
  // The time begins once the body has arrived, for which Node has a limit of its own.
  if (raw.readableFlowing && !raw.readableEnded) return
  if (reply.sent || reply.raw.headersSent) return
  reply.send(busy())
  // Ignores the late response, or the late error: Fastify would log the one with the URL, the other as a fault.
  reply.send = () => reply
  reply.log = reply.log.child({}, { level: 'silent' })
}

/** Answers BUSY with Retry-After to a request that has had no response for `timeoutMs` since its head, or its body if it
 *  has one, was read, whatever it waits for; `inTime` bounds a single wait. The work continues: what is retried
 *  with its idempotency key happens once. */
export function limitResponseTime(app: FastifyInstance, timeoutMs = defaultTimeoutMs): void {
  app.decorateReply('deadline')
  app.addHook('onRequest', (_request, reply, done) => {
    // Node keeps timers of one length in a list: one more costs a ten-thousandth of a millisecond.
    reply.deadline = setTimeout(timeOut, timeoutMs, reply).unref()
    done()
  })
  app.addHook('preValidation', ({ body }, { deadline }, done) => {
    if (body !== undefined) deadline?.refresh()
    done()
  })
  app.addHook('onResponse', (_request, { deadline }, done) => {
    clearTimeout(deadline)
    done()
  })
}
