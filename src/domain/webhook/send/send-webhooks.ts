import { setMaxListeners } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Database } from '../../../database/database.ts'
import { groupBy } from '../../../shared/group-by.ts'
import { subjectOf } from '../../change/subject.ts'
import { sign } from '../webhook-secret.ts'
import { type ClaimedDelivery, claimDeliveries, releaseDeliveries } from './claim-deliveries.ts'
import { judgeAnswer } from './judge-answer.ts'
import { pacesOf, rounds } from './pace.ts'
import { type PostOptions, postSigned } from './post-signed.ts'
import { type Attempt, recordAttempts } from './record-attempts.ts'

// Maximum number of claimed deliveries that are not sent yet, across all webhooks.
const maxClaimed = 800

// Rate limit of one process, which has buyers to serve as well.
const maxPerSecond = 500

/** Body of a message. Receivers can restore the order of a subject's changes by `sequence`. */
const toBody = ({ change }: ClaimedDelivery): string =>
  JSON.stringify({
    type: change.type,
    timestamp: change.createdAt.toISOString(),
    subject_id: subjectOf(change),
    sequence: change.sequence,
    data: change.data,
  })

// Returns null if shutdown came before or during the request.
async function send(claimed: ClaimedDelivery, options: PostOptions): Promise<Attempt | null> {
  if (options.stopping.aborted) return null
  const message = { id: claimed.change.id, timestamp: Math.floor(Date.now() / 1000), body: toBody(claimed) }
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Boxoffice-Webhooks',
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestamp),
    'webhook-signature': sign(claimed.secrets, message),
  }
  const answer = await postSigned(new URL(claimed.url), { headers, body: message.body }, options)
  return answer.error === 'STOPPED' ? null : { claimed, verdict: judgeAnswer(answer, claimed.attempts) }
}

const pause = (milliseconds: number) => setTimeout(Math.max(0, milliseconds), undefined, { ref: false })

/** Sends due deliveries, signed and at least once, until none is left: as many at once to a receiver as it
 *  answers quickly, and one at a time after pauses to one that fails. Any number of processes may run it at
 *  once, each on its own rows, and a slow webhook delays no other. On shutdown, requests in flight are
 *  aborted and their deliveries released (DECISIONS 7; Standard Webhooks). */
export async function sendWebhooks(
  db: Database,
  { timeoutSeconds = 10, ...more }: Omit<PostOptions, 'timeoutSeconds'> & { timeoutSeconds?: number },
): Promise<void> {
  const options = { timeoutSeconds, ...more }
  const { stopping } = options
  setMaxListeners(0, stopping)
  const leaseSeconds = timeoutSeconds * rounds + 20
  // Batches in progress, by webhook. A busy webhook is skipped until its batch is done.
  const running = new Map<string, Promise<void>>()
  const tried: Attempt[] = []
  const unsent: ClaimedDelivery[] = []
  const paces = pacesOf(db)
  let inFlight = 0
  const run = async (webhookId: string, batch: ClaimedDelivery[]) => {
    inFlight += batch.length
    let isHealthy = true
    let spentMs = 0
    const concurrency = paces.concurrencyOf(webhookId)
    await pLimit(concurrency).map(batch, async (claimed) => {
      const began = performance.now()
      const attempt = isHealthy ? await send(claimed, options) : null
      spentMs += performance.now() - began
      inFlight--
      if (attempt) tried.push(attempt)
      else unsent.push(claimed)
      // After a failure, the rest of the batch would most likely fail too.
      isHealthy = isHealthy && attempt?.verdict.status === 'delivered'
    })
    const isFull = batch.length >= concurrency * rounds
    paces.learn(webhookId, { hasFailed: !isHealthy, isFull, meanMs: spentMs / batch.length })
    running.delete(webhookId)
  }
  const record = async () => {
    await recordAttempts(db, tried.splice(0))
    await releaseDeliveries(db, unsent.splice(0))
  }
  let second = { endsAt: performance.now() + 1000, left: maxPerSecond }
  let hasMore = true
  while (hasMore && !stopping.aborted) {
    if (performance.now() >= second.endsAt) second = { endsAt: performance.now() + 1000, left: maxPerSecond }
    const limit = Math.min(maxClaimed - inFlight, second.left)
    const except = [...running.keys()]
    const limits = { limit, leaseSeconds, except, batches: paces.batches() }
    const claimed = limit > 0 ? await claimDeliveries(db, limits) : []
    second.left -= claimed.length
    for (const [webhookId, batch] of groupBy(claimed, ({ webhookId }) => webhookId))
      running.set(webhookId, run(webhookId, batch))
    hasMore = running.size > 0 || second.left === 0
    // Deliveries to idle webhooks that become due meanwhile wait no longer than this.
    if (hasMore) await Promise.race([...running.values(), pause(second.endsAt - performance.now())])
    await record()
  }
  await Promise.all(running.values())
  await record()
}
