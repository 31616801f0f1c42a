import { sql } from 'drizzle-orm'
import { preparedSql } from '../../../data/prepared.ts'
import type { Database } from '../../../database/database.ts'
import { webhookDeliveries } from '../table.ts'
import type { TakenDelivery } from './take-deliveries.ts'

const release = preparedSql('give_back_webhook_deliveries', () => {
  const { webhookId, changeId, attempts, status } = webhookDeliveries
  return sql`
  update ${webhookDeliveries} set attempts = ${attempts} - 1, due_at = now()
  from unnest(${sql.placeholder('webhookIds')}::text[], ${sql.placeholder('changeIds')}::text[],
    ${sql.placeholder('attempts')}::integer[]) as taken(webhook_id, change_id, attempts)
  where ${webhookId} = taken.webhook_id and ${changeId} = taken.change_id and ${attempts} = taken.attempts
    and ${status} = 'pending'`
})

/** Lets another process have what this one took and did not get to, before the lease is over. */
export async function giveBack(db: Database, taken: TakenDelivery[]): Promise<void> {
  if (taken.length === 0) return
  await release(db, {
    webhookIds: taken.map(({ webhookId }) => webhookId),
    changeIds: taken.map(({ change }) => change.id),
    attempts: taken.map(({ attempts }) => attempts),
  })
}
