import { sql } from 'drizzle-orm'
import { preparedSql } from '../../../data/prepared.ts'
import type { Database } from '../../../database/database.ts'
import { webhookDeliveries } from '../table.ts'
import type { ClaimedDelivery } from './claim-deliveries.ts'

const release = preparedSql('give_back_webhook_deliveries', () => {
  const { webhookId, changeId, attempts, status } = webhookDeliveries
  return sql`
  update ${webhookDeliveries} set attempts = ${attempts} - 1, due_at = now()
  from unnest(${sql.placeholder('webhookIds')}::text[], ${sql.placeholder('changeIds')}::text[],
    ${sql.placeholder('attempts')}::integer[]) as taken(webhook_id, change_id, attempts)
  where ${webhookId} = taken.webhook_id and ${changeId} = taken.change_id and ${attempts} = taken.attempts
    and ${status} = 'pending'`
})

/** Returns claimed but unsent deliveries to the queue before their lease ends. Counts no attempt. */
export async function releaseDeliveries(db: Database, claimed: ClaimedDelivery[]): Promise<void> {
  if (claimed.length === 0) return
  await release(db, {
    webhookIds: claimed.map(({ webhookId }) => webhookId),
    changeIds: claimed.map(({ change }) => change.id),
    attempts: claimed.map(({ attempts }) => attempts),
  })
}
