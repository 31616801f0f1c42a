import { sql } from 'drizzle-orm'
import { nowMs } from '../../../data/leased-jobs.ts'
import { byKey, preparedSql } from '../../../data/prepared.ts'
import type { Database } from '../../../database/database.ts'
import { webhookDeliveries, webhooks } from '../table.ts'
import type { Verdict } from './judge-answer.ts'
import type { TakenDelivery } from './take-deliveries.ts'

/** A delivery that was tried, and what follows. */
export type Attempt = { taken: TakenDelivery; verdict: Verdict }

// Nothing gets through for so long, and it is disabled: longer than the tries of any one delivery.
const maxFailing = sql`interval '5 days'`

// Where another has taken it since, because the lease was over, or it is to be sent anew,
// that one tells what became of it.
const recordDeliveries = preparedSql('record_webhook_deliveries', () => {
  const { status, attempts, deliveredAt } = webhookDeliveries
  return sql`
  update ${webhookDeliveries} set status = tried.status::webhook_delivery_status,
    due_at = now() + tried.again * interval '1 second', last_status = tried.last_status, last_error = tried.last_error,
    delivered_at = case when tried.status = 'delivered' then now() else ${deliveredAt} end
  from jsonb_to_recordset(${sql.placeholder('tried')}::text::jsonb) as tried(webhook_id text, change_id text,
    attempts integer, status text, again float8, last_status integer, last_error text)
  where ${webhookDeliveries.webhookId} = tried.webhook_id and ${webhookDeliveries.changeId} = tried.change_id
    and ${attempts} = tried.attempts and ${status} = 'pending'`
})

// What an address that was changed in between answered says nothing of the new one.
const recordWebhooks = preparedSql('record_webhooks', () => {
  const { failingSince, pausedUntil } = webhooks
  const hasFailed = sql`not of.works and ${failingSince} < ${nowMs} - ${maxFailing}`
  return sql`
  update ${webhooks} set failing_since = case when not of.works then coalesce(${failingSince}, now()) end,
    paused_until = case when of.pause > 0 then now() + of.pause * interval '1 second' else ${pausedUntil} end,
    status = case when of.gone or ${hasFailed} then 'disabled' else ${webhooks.status} end,
    disabled_reason = case when of.gone then 'GONE' when ${hasFailed} then 'FAILING' end
  from jsonb_to_recordset(${sql.placeholder('of')}::text::jsonb) as of(id text, url text, works boolean, gone boolean,
    pause float8)
  where ${webhooks.id} = of.id and ${webhooks.url} = of.url and ${webhooks.status} = 'enabled'`
})

const webhookOf = (of: Attempt[]) => ({
  id: of[0]?.taken.webhookId,
  url: of[0]?.taken.url,
  works: of.some(({ verdict }) => verdict.status === 'delivered'),
  gone: of.some(({ verdict }) => verdict.isGone),
  pause: Math.max(...of.map(({ verdict }) => verdict.pause)),
})

/** Writes down what became of deliveries that were tried, and what it says of their webhooks: one that is gone, or
 *  through to which nothing got for five days, is disabled, and its owner sees why (Standard Webhooks). */
export async function recordAttempts(db: Database, tried: Attempt[]): Promise<void> {
  if (tried.length === 0) return
  const rows = tried.map(({ taken, verdict }) => ({
    webhook_id: taken.webhookId,
    change_id: taken.change.id,
    attempts: taken.attempts,
    status: verdict.status,
    again: verdict.again,
    last_status: verdict.lastStatus,
    last_error: verdict.lastError,
  }))
  await recordDeliveries(db, { tried: JSON.stringify(rows) })
  // As a rule all is well and was before, and there is nothing to write.
  const of = [...byKey(tried, ({ taken }) => taken.webhookId).values()]
    .filter((of) => of.some(({ taken, verdict }) => taken.isFailing || verdict.status !== 'delivered'))
    .map(webhookOf)
  if (of.length > 0) await recordWebhooks(db, { of: JSON.stringify(of) })
}
