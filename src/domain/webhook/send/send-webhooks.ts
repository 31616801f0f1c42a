import { setMaxListeners } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import pLimit from 'p-limit'
import { groupBy } from '../../../engine/base/group-by.ts'
import { arrayRows } from '../../../engine/data/array-params.ts'
import { byOrganization } from '../../../engine/data/by-organization.ts'
import { inOrganizationIfNamed, query } from '../../../engine/data/query.ts'
import { secondsFromNow } from '../../../engine/database/clock.ts'
import type { Database } from '../../../engine/database/database.ts'
import { webhookDeliveries, webhooks } from '../../change/table.ts'
import { signMessage } from '../secret.ts'
import { type ClaimedDelivery, claimDeliveries, releaseDeliveries } from './claim-deliveries.ts'
import { pacesOf, roundsPerBatch } from './pace.ts'
import { judgeAnswer, type PostOptions, postSigned, type Verdict } from './post-signed.ts'

/** A delivery that was attempted, and its outcome. */
type Attempt = ClaimedDelivery & Verdict

// A webhook is disabled after failing for this long, which is longer than all attempts of one delivery take.
const maxFailing = sql`interval '5 days'`

// Gives the time as columns, because a Citus cluster refuses to update by a `case` that calls a function.
const clock = sql`(select now() as at, extract(epoch from now())::float8 as seconds) as clock`

const { organizationId, webhookId, changeId, attempts, status, lastStatus, lastError } = webhookDeliveries
const outcomes = arrayRows('outcomes', {
  ...{ organizationId, webhookId, id: changeId, attempts, status, lastStatus, lastError },
  retrySeconds: 'float8',
})

// Matching on `attempts` and `pending` leaves alone a delivery that another process has claimed since, or
// that was redelivered.
const recordDeliveries = query(
  'record_webhook_deliveries',
  () => sql`
  update ${webhookDeliveries} set status = outcomes.status,
    due_at = ${secondsFromNow(sql`outcomes."retrySeconds"`)}, last_status = outcomes."lastStatus", last_error = outcomes."lastError",
    delivered_at = case when outcomes.status = 'delivered' then clock.at else ${webhookDeliveries.deliveredAt} end
  from ${clock} cross join ${outcomes.typed}
  where ${inOrganizationIfNamed(organizationId)} and ${organizationId} = outcomes."organizationId" and ${webhookId} = outcomes."webhookId" and ${changeId} = outcomes.id
    and ${attempts} = outcomes.attempts and ${status} = 'pending'`,
)

// Pause of a webhook to which nothing got through: a second, and then half the time that it has failed for, so
// that one that is down for long is asked every five minutes.
const breakSeconds = sql`least(300, greatest(1, extract(epoch from clock.at - coalesce(${webhooks.failingSince}, clock.at)) / 2))`

const receivers = arrayRows('receivers', {
  id: 'text',
  url: 'text',
  works: 'boolean',
  gone: 'boolean',
  pause: 'float8',
})

// Matching on the URL ignores answers of a URL that has been replaced since.
const recordWebhooks = query('record_webhooks', () => {
  const { failingSince, pausedUntil } = webhooks
  const hasFailed = sql`not receivers.works and clock.at - ${failingSince} > ${maxFailing}`
  return sql`
  update ${webhooks} set failing_since = case when not receivers.works then coalesce(${failingSince}, clock.at) end,
    paused_until = case when receivers.works and receivers.pause = 0 then ${pausedUntil}
      else to_timestamp(clock.seconds + greatest(receivers.pause, case when receivers.works then 0 else ${breakSeconds} end)) end,
    status = case when receivers.gone or ${hasFailed} then 'disabled' else ${webhooks.status} end,
    disabled_reason = case when receivers.gone then 'GONE' when ${hasFailed} then 'FAILING' end
  from ${clock} cross join ${receivers.typed}
  where ${webhooks.id} = receivers.id and ${webhooks.url} = receivers.url and ${webhooks.status} = 'enabled'`
})

const webhookOf = (attempts: Attempt[]) => ({
  id: attempts[0]?.webhookId,
  url: attempts[0]?.url,
  works: attempts.some(({ status }) => status === 'delivered'),
  gone: attempts.some(({ lastError }) => lastError === 'GONE'),
  pause: Math.max(...attempts.map(({ pauseSeconds }) => pauseSeconds)),
})

/** Records the outcome of attempts, on the deliveries and on their webhooks: one that is gone, or has failed
 *  for five days, is disabled with a reason that its owner can read (Standard Webhooks). One to which nothing
 *  got through is paused, for longer the longer it fails. */
export async function recordAttempts(db: Database, tried: Attempt[]): Promise<void> {
  await byOrganization(db, tried, (own, organizationId) =>
    recordDeliveries(db, { organizationId, ...outcomes.values(own) }),
  )
  // Usually nothing fails and nothing did before, so no webhook needs an update.
  const changed = [...groupBy(tried, ({ webhookId }) => webhookId).values()]
    .filter((attempts) => attempts.some(({ isFailing, status }) => isFailing || status !== 'delivered'))
    .map(webhookOf)
  if (changed.length > 0) await recordWebhooks(db, receivers.values(changed))
}

// Maximum number of claimed deliveries that are not sent yet, across all webhooks.
const maxClaimed = 800

// Rate limit of one process, which has buyers to serve as well.
const maxPerSecond = 500

/** Body of a message. Receivers can restore the order of a subject's changes by `sequence`. */
const toBody = ({ type, createdAt, subjectId, sequence, data }: ClaimedDelivery): string =>
  JSON.stringify({
    type,
    timestamp: new Date(createdAt).toISOString(),
    subject_id: subjectId,
    sequence,
    data: JSON.parse(data),
  })

// Returns null if shutdown came before or during the request.
async function send(claimed: ClaimedDelivery, options: PostOptions): Promise<Attempt | null> {
  if (options.stopping.aborted) return null
  const { id, secret, previousSecret } = claimed
  const message = { id, timestamp: Math.floor(Date.now() / 1000), body: toBody(claimed) }
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Boxoffice-Webhooks',
    'webhook-id': id,
    'webhook-timestamp': String(message.timestamp),
    'webhook-signature': signMessage(previousSecret === null ? [secret] : [secret, previousSecret], message),
  }
  const answer = await postSigned(new URL(claimed.url), { headers, body: message.body }, options)
  return answer.error === 'STOPPED' ? null : { ...claimed, ...judgeAnswer(answer, claimed.attempts) }
}

const pause = (milliseconds: number) => setTimeout(Math.max(0, milliseconds), undefined, { ref: false })

/** Sends due deliveries, signed and at least once, until none is left: as many at once to a receiver as it
 *  answers quickly, and one at a time after pauses to one that fails. Any number of processes may run it at
 *  once, each on its own rows, and a slow webhook delays no other. On shutdown, requests in flight are
 *  aborted and their deliveries released (DECISIONS, changes; Standard Webhooks). */
export async function sendWebhooks(
  db: Database,
  { timeoutSeconds = 10, ...more }: Omit<PostOptions, 'timeoutSeconds'> & { timeoutSeconds?: number },
): Promise<void> {
  const options = { timeoutSeconds, ...more }
  const { stopping } = options
  setMaxListeners(0, stopping)
  const leaseSeconds = timeoutSeconds * roundsPerBatch + 20
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
      isHealthy = isHealthy && attempt?.status === 'delivered'
    })
    const isFull = batch.length >= concurrency * roundsPerBatch
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
    const limits = { limit, leaseSeconds, except: [...running.keys()], batches: paces.batches() }
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
