import { sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { preparedSql } from '../../../data/prepared.ts'
import { secondsFromNow } from '../../../database/clock.ts'
import type { Database } from '../../../database/database.ts'
import { groupBy } from '../../../shared/group-by.ts'
import { webhookDeliveries, webhooks } from '../table.ts'
import type { ClaimedDelivery } from './claim-deliveries.ts'
import type { Verdict } from './judge-answer.ts'

/** A delivery that was attempted, and its outcome. */
export type Attempt = { claimed: ClaimedDelivery; verdict: Verdict }

// A webhook is disabled after failing for this long, which is longer than all attempts of one delivery take.
const maxFailing = sql`interval '5 days'`

// The time as columns, because a cluster updates by no case that calls a function.
const clock = sql`(select now() as at, extract(epoch from now())::float8 as seconds) as clock`

// Matching on `attempts` and `pending` leaves alone a delivery that another process has claimed since, or
// that was redelivered.
const recordDeliveries = preparedSql('record_webhook_deliveries', () => {
  const { status, attempts, deliveredAt } = webhookDeliveries
  return sql`
  update ${webhookDeliveries} set status = tried.status,
    due_at = ${secondsFromNow(sql`tried.again`)}, last_status = tried.last_status, last_error = tried.last_error,
    delivered_at = case when tried.status = 'delivered' then clock.at else ${deliveredAt} end
  from ${clock} cross join jsonb_to_recordset(${sql.placeholder('tried')}::text::jsonb) as tried(organization_id text, webhook_id text, change_id text,
    attempts integer, status webhook_delivery_status, again float8, last_status integer, last_error text)
  where ${webhookDeliveries.organizationId} = tried.organization_id
    and ${webhookDeliveries.webhookId} = tried.webhook_id and ${webhookDeliveries.changeId} = tried.change_id
    and ${attempts} = tried.attempts and ${status} = 'pending'`
})

// Pause of a webhook to which nothing got through: a second, and then half the time that it has failed for, so
// that one that is down for long is asked every five minutes.
const breakSeconds = (failingSince: PgColumn) =>
  sql`least(300, greatest(1, extract(epoch from clock.at - coalesce(${failingSince}, clock.at)) / 2))`

// Matching on the URL ignores answers of a URL that has been replaced since.
const recordWebhooks = preparedSql('record_webhooks', () => {
  const { failingSince, pausedUntil } = webhooks
  const hasFailed = sql`not of.works and clock.at - ${failingSince} > ${maxFailing}`
  return sql`
  update ${webhooks} set failing_since = case when not of.works then coalesce(${failingSince}, clock.at) end,
    paused_until = case when of.works and of.pause = 0 then ${pausedUntil}
      else to_timestamp(clock.seconds + greatest(of.pause, case when of.works then 0 else ${breakSeconds(failingSince)} end)) end,
    status = case when of.gone or ${hasFailed} then 'disabled' else ${webhooks.status} end,
    disabled_reason = case when of.gone then 'GONE' when ${hasFailed} then 'FAILING' end
  from ${clock} cross join jsonb_to_recordset(${sql.placeholder('of')}::text::jsonb) as of(id text, url text, works boolean, gone boolean,
    pause float8)
  where ${webhooks.id} = of.id and ${webhooks.url} = of.url and ${webhooks.status} = 'enabled'`
})

const webhookOf = (attempts: Attempt[]) => ({
  id: attempts[0]?.claimed.webhookId,
  url: attempts[0]?.claimed.url,
  works: attempts.some(({ verdict }) => verdict.status === 'delivered'),
  gone: attempts.some(({ verdict }) => verdict.isGone),
  pause: Math.max(...attempts.map(({ verdict }) => verdict.pauseSeconds)),
})

/** Records the outcome of attempts, on the deliveries and on their webhooks: one that is gone, or has failed
 *  for five days, is disabled with a reason that its owner can read (Standard Webhooks). One to which nothing
 *  got through is paused, the longer the longer it fails. */
export async function recordAttempts(db: Database, tried: Attempt[]): Promise<void> {
  if (tried.length === 0) return
  const rows = tried.map(({ claimed, verdict }) => ({
    organization_id: claimed.organizationId,
    webhook_id: claimed.webhookId,
    change_id: claimed.change.id,
    attempts: claimed.attempts,
    status: verdict.status,
    again: verdict.retrySeconds,
    last_status: verdict.lastStatus,
    last_error: verdict.lastError,
  }))
  await recordDeliveries(db, { tried: JSON.stringify(rows) })
  // Usually nothing fails and nothing did before, so no webhook needs an update.
  const changed = [...groupBy(tried, ({ claimed }) => claimed.webhookId).values()]
    .filter((attempts) =>
      attempts.some(({ claimed, verdict }) => claimed.isFailing || verdict.status !== 'delivered'),
    )
    .map(webhookOf)
  if (changed.length > 0) await recordWebhooks(db, { of: JSON.stringify(changed) })
}
