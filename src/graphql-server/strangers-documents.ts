import type { FastifyRequest } from 'fastify'
import { isRememberedValid } from '../auth/credentials.ts'
import type { Database } from '../database/database.ts'
import { clientAddress } from '../http/connection-limits.ts'
import { createLimitCounters } from '../http/limit-counters.ts'
import { busy, refusal } from '../shared/errors.ts'
import { FairTurns } from './fair-turns.ts'
import type { PreparedDocuments } from './prepared-document.ts'

// Time within each window for which the new documents of one address may be parsed and validated. The
// introspection of a tool takes 10 ms once.
const budgetMs = 500
const windowMs = 10_000
// Counts no document for longer, because one within the limits takes longer only if the process was held up.
const longestMs = 50
const maxWaiting = 500

/** Checks documents that nobody has sent before, of strangers: callers without credentials, with publishable ones, or
 *  with credentials that have not proven valid. They wait for a turn of their address, and take a share of the
 *  process; each address has a budget of time, if requests are limited at all. The returned function does nothing
 *  for a document that is known. It refuses: RATE_LIMITED, BUSY. */
export function checkStrangersDocuments(db: Database, documents: PreparedDocuments, isLimited: boolean) {
  const turns = new FairTurns()
  const spent = createLimitCounters(windowMs)
  return async (request: FastifyRequest, text: string): Promise<void> => {
    const { credentials } = request
    const isStranger = credentials.isPublishable || !isRememberedValid(db, credentials.hash)
    if (!isStranger || documents.isKnown(text)) return
    const address = clientAddress(request)
    const requireBudget = () => {
      const { count, leftMs } = spent.read(address)
      if (!isLimited || count < budgetMs) return
      const message =
        'New documents from this address took too long to check. Send fewer of them, or known ones.'
      const retryAfter = Math.ceil(leftMs / 1_000)
      throw refusal('RATE_LIMITED', message, undefined, { limit: budgetMs, retryAfter })
    }
    requireBudget()
    if (turns.size >= maxWaiting) throw busy('Too many new documents at once. Try again.')
    await turns.run(address, () => {
      requireBudget()
      const start = performance.now()
      // Validated when it is asked for its errors.
      void documents.prepare(text).errors
      spent.add(address, Math.min(performance.now() - start, longestMs))
    })
  }
}
