import type { FastifyInstance, FastifyRequest } from 'fastify'
import { busy, refusal } from '../base/errors.ts'
import { clientAddress } from '../http/connection-limits.ts'
import { createLimitCounters } from '../http/limit-counters.ts'
import { isRememberedValid, type Services } from '../request/context.ts'
import { FairTurns } from './fair-turns.ts'

// Time of the processor within each window for all strangers of one address. The introspection of a tool takes 20 ms
// once.
const budgetMs = 500
const windowMs = 10_000
// Counts no piece of work for longer, because one within the limits takes longer only if the process was held up.
const longestMs = 50
const maxWaiting = 500

/** Bounds the work for strangers: callers without credentials, or with credentials that have not proven valid. It waits
 *  for a turn of their address, and takes a share of the process; each address has a budget of time, if requests are
 *  limited at all. New documents with public credentials, which everybody has, count alike. */
export function boundStrangers({ db, access }: Services, isLimited: boolean) {
  const turns = new FairTurns()
  const spent = createLimitCounters(windowMs)
  // When the body of a stranger had arrived, until its parsing is counted.
  const arrived = new WeakMap<FastifyRequest, number>()

  const isStranger = ({ credentials }: FastifyRequest) => !isRememberedValid(db, credentials.hash)

  const count = (request: FastifyRequest, since: number) =>
    void spent.add(clientAddress(request), Math.min(performance.now() - since, longestMs))

  function countParsing(request: FastifyRequest): void {
    const since = arrived.get(request)
    if (since !== undefined) count(request, since)
    arrived.delete(request)
  }

  async function requireBudget(request: FastifyRequest): Promise<void> {
    const { credentials } = request
    const { count, leftMs } = spent.read(clientAddress(request))
    if (!isLimited || count < budgetMs) return
    // Nobody is locked out by a neighbour (DECISIONS 100).
    if (credentials.areWellFormed && !credentials.isPublic && (await access.isListed(db, credentials))) return
    const message =
      'Requests without credentials, or with new documents, took this address too long. Send fewer of them.'
    const retryAfter = Math.ceil(leftMs / 1_000)
    throw refusal('RATE_LIMITED', message, undefined, { limit: budgetMs, retryAfter })
  }

  /** Runs work for a stranger at the turn of its address. Refuses: RATE_LIMITED, BUSY. */
  async function run<Result>(request: FastifyRequest, work: () => Result): Promise<Awaited<Result>> {
    await requireBudget(request)
    if (turns.size >= maxWaiting) throw busy('Too many requests without credentials at once. Try again.')
    return turns.run(clientAddress(request), async () => {
      await requireBudget(request)
      const start = performance.now()
      try {
        return await work()
      } finally {
        count(request, start)
      }
    })
  }

  return {
    isStranger,
    countParsing,
    run,
    /** Lets strangers wait for a turn, and refuses those over their budget, before their bodies are read; counts the
     *  parsing of these. Credentials that may be good are kept waiting, but never refused for the others that wait. */
    addTo(scope: FastifyInstance): void {
      scope.addHook('preParsing', (request, _reply, body, done) => {
        if (!isStranger(request)) return done(null, body)
        body.once('end', () => arrived.set(request, performance.now()))
        const isFull = turns.size >= maxWaiting && request.credentials.areWellFormed
        const turn = isFull ? requireBudget(request) : run(request, () => {})
        turn.then(() => done(null, body), done)
      })
      // Of bodies that were refused: others are counted before.
      scope.addHook('onSend', (request, _reply, payload, done) => {
        countParsing(request)
        done(null, payload)
      })
    },
  }
}
