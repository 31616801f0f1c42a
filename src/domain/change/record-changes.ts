import { type SQL, sql } from 'drizzle-orm'
import { groupBy } from '../../engine/base/group-by.ts'
import { instruments } from '../../engine/base/instruments.ts'
import { arrayRows, insertRows } from '../../engine/data/array-params.ts'
import { inOrganization, ofOrganization, query } from '../../engine/data/query.ts'
import type { Connection } from '../../engine/database/database.ts'
import { announceOnCommit, atOnce, onCommit } from '../../engine/database/transaction.ts'
import type { Mode } from '../caller/mode.ts'
import { grants, integrations } from '../caller/table.ts'
import { ascendingIds } from '../contract/ids.ts'
import {
  audiencesOf,
  changes,
  droppedSequences,
  type NewChange,
  webhookDeliveries,
  webhooks,
} from './table.ts'

// Changes of one transaction share a timestamp: their ids keep them in order.
const nextId = ascendingIds('chg')

const { id, type, subjectId, channelId, mode } = changes
const given = arrayRows('given', { id, type, subjectId, channelId, mode })
const { cells } = given

// The last number of each subject in a mode, also if it was deleted by age.
const findLast = query<{ subjectId: string; mode: Mode; last: number }>(
  'last_sequences_of_subjects',
  () => sql`
  select distinct ${cells.subjectId} as "subjectId", ${cells.mode} as mode, coalesce(greatest(
    (select max(${changes.sequence}) from ${changes}
      where ${inOrganization(changes.organizationId)} and ${changes.subjectId} = ${cells.subjectId} and ${changes.mode} = ${cells.mode}),
    (select ${droppedSequences.sequence} from ${droppedSequences}
      where ${inOrganization(droppedSequences.organizationId)} and ${droppedSequences.subjectId} = ${cells.subjectId}
        and ${droppedSequences.mode} = ${cells.mode})), 0) as last
  from ${given.rows}`,
)

const insert = insertRows('insert_changes', changes, {
  key: 'id',
  columns: ['id', 'type', 'subjectId', 'sequence', 'organizationId', 'channelId', 'mode', 'data'],
})

// One select per way that a change reaches a webhook: a join on alternatives would have to test each pair of
// rows.
const toWebhooks = (join: SQL) => sql`
  select ${webhooks.id} as "webhookId", ${cells.id} as "changeId" from ${given.rows} ${join}
    where ${webhooks.status} = 'enabled' and ${webhooks.mode} = ${cells.mode} and (${webhooks.types} is null or ${cells.type} = any(${webhooks.types}))`

// Finds webhooks, and the changes that each is to receive.
const findRecipients = query<{ webhookId: string; changeId: string }>(
  'webhooks_of_changes',
  () => sql`
  ${toWebhooks(sql`join ${webhooks} on ${webhooks.channelId} = ${cells.channelId}`)}
  union all ${toWebhooks(sql`join ${grants} on ${cells.channelId} is null and ${ofOrganization(grants.organizationId)}
    join ${webhooks} on ${webhooks.channelId} = ${grants.channelId}`)}
  union all ${toWebhooks(sql`join ${integrations} on ${ofOrganization(integrations.organizationId)}
    join ${webhooks} on ${webhooks.integrationId} = ${integrations.id}`)}`,
)

const queue = insertRows('queue_webhook_deliveries', webhookDeliveries, {
  key: 'changeId',
  columns: ['organizationId', 'webhookId', 'changeId'],
})

/** Writes changes to the outbox, organization by organization, in the transaction that makes them.
 *  The caller holds a row lock on each subject, which keeps their sequence numbers in order. Clients read
 *  them as a feed and receive them by webhook (DECISIONS, changes). */
export async function recordChanges(tx: Connection, newChanges: NewChange[]): Promise<void> {
  for (const [organizationId, own] of groupBy(newChanges, ({ organizationId }) => organizationId)) {
    const rows = own.map((change) => ({ mode: 'live' as const, ...change, id: nextId(), sequence: 0 }))
    const values = { organizationId, ...given.values(rows) }
    const [lasts, recipients] = await atOnce(findLast(tx, values), findRecipients(tx, values))
    const sequences = new Map(lasts.map(({ subjectId, mode, last }) => [`${subjectId} ${mode}`, last]))
    for (const row of rows) {
      const subject = `${row.subjectId} ${row.mode}`
      row.sequence = (sequences.get(subject) ?? 0) + 1
      sequences.set(subject, row.sequence)
    }
    const deliveries = recipients.map((recipient) => ({ organizationId, ...recipient }))
    await atOnce(insert(tx, rows), queue(tx, deliveries))
  }
  if (newChanges.length === 0) return
  announceOnCommit(tx, 'changes', newChanges.flatMap(audiencesOf))
  onCommit(tx, () => {
    for (const { type, mode = 'live' } of newChanges)
      instruments.observer?.onCount('boxoffice_changes_total', { type, mode })
  })
}
