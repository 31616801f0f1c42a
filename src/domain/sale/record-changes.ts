import { inArray, type SQL, sql } from 'drizzle-orm'
import { grants, integrations } from '../../auth/table.ts'
import { query } from '../../data/query.ts'
import type { Connection } from '../../database/database.ts'
import { announceOnCommit, changesCatalogue, onCommit } from '../../database/transaction.ts'
import { groupBy } from '../../shared/group-by.ts'
import { ascendingIds } from '../../shared/ids.ts'
import { instruments } from '../../shared/instruments.ts'
import type { Mode } from '../../shared/mode.ts'
import { audiencesOf, changes, droppedSequences, type NewChange } from '../change/table.ts'
import type { StockFlip } from '../ticket-rate/move-stock.ts'
import { ticketRates } from '../ticket-rate/table.ts'
import { webhookDeliveries, webhooks } from '../webhook/table.ts'

// Changes of one transaction share a timestamp: their ids keep them in order.
const nextId = ascendingIds('chg')

// One select per way that a change reaches a webhook: a join on alternatives would have to test each pair of
// rows.
const toWebhooks = (
  join: SQL,
) => sql`select recorded.organization_id, ${webhooks.id}, recorded.id from recorded ${join}
    where ${webhooks.status} = 'enabled' and ${webhooks.mode} = recorded.mode and recorded.type = any(${webhooks.types})`

const record = query<{ id: string }>(
  'record_changes',
  () => sql`
  with recorded as (
    insert into ${changes} (id, type, subject_id, sequence, organization_id, channel_id, mode, data)
    select id, type::change_type, subject_id,
      row_number() over (partition by subject_id, mode order by ordinality)
        + coalesce(greatest((select max(sequence) from ${changes} as earlier
          where earlier.organization_id = ${sql.placeholder('organizationId')} and earlier.subject_id = given.subject_id
            and earlier.mode = given.mode::key_mode),
          (select sequence from ${droppedSequences} as dropped
          where dropped.organization_id = ${sql.placeholder('organizationId')} and dropped.subject_id = given.subject_id
            and dropped.mode = given.mode::key_mode)), 0),
      organization_id, channel_id, mode::key_mode, data
    from rows from (jsonb_to_recordset(${sql.placeholder('rows')}::text::jsonb)
      as (id text, type text, subject_id text, organization_id text, channel_id text, mode text, data jsonb))
      with ordinality as given order by ordinality
    returning id, type, organization_id, channel_id, mode
  ),
  sent as (
    insert into ${webhookDeliveries} (organization_id, webhook_id, change_id)
    ${toWebhooks(sql`join ${webhooks} on ${webhooks.channelId} = recorded.channel_id`)}
    union all ${toWebhooks(sql`join ${grants} on recorded.channel_id is null
      and ${grants.organizationId} = recorded.organization_id
      join ${webhooks} on ${webhooks.channelId} = ${grants.channelId}`)}
    union all ${toWebhooks(sql`join ${integrations} on ${integrations.organizationId} = recorded.organization_id
      join ${webhooks} on ${webhooks.integrationId} = ${integrations.id}`)}
  ) select id from recorded`,
)

/** Writes changes to the outbox, in a statement for each organization, in the transaction that makes them.
 *  The caller holds a row lock on each subject, which keeps their sequence numbers in order. Clients read
 *  them as a feed and receive them by webhook (DECISIONS 7). */
export async function recordChanges(tx: Connection, newChanges: NewChange[]): Promise<void> {
  for (const [organizationId, own] of groupBy(newChanges, ({ organizationId }) => organizationId))
    await recordOwn(tx, organizationId, own)
  if (newChanges.length === 0) return
  announceOnCommit(tx, 'changes', newChanges.flatMap(audiencesOf))
  const { observer } = instruments
  if (observer) onCommit(tx, () => observer.onChanges(newChanges))
}

async function recordOwn(tx: Connection, organizationId: string, newChanges: NewChange[]): Promise<void> {
  const rows = newChanges.map(({ type, subjectId, channelId, mode = 'live', data }) => ({
    id: nextId(),
    type,
    subject_id: subjectId,
    organization_id: organizationId,
    channel_id: channelId,
    mode,
    data,
  }))
  await record(tx, { organizationId, rows: JSON.stringify(rows) })
}

const availabilityData = sql<
  Record<string, unknown>
>`jsonb_build_object('ticket_rate_id', ${ticketRates.id}, 'event_id', ${ticketRates.eventId})`

/** Records a `rate.sold_out` or `rate.available` change for each ticket rate of the organization among these,
 *  in a mode, and lets the commit invalidate the catalogue, which shows prices that flip as well. */
export async function recordAvailability(
  tx: Connection,
  organizationId: string,
  mode: Mode,
  flipped: StockFlip[],
): Promise<void> {
  if (flipped.length === 0) return
  changesCatalogue(tx)
  const usedUp = new Map(flipped.flatMap((flip) => (flip.kind === 'rate' ? [[flip.id, flip.usedUp]] : [])))
  if (usedUp.size === 0) return
  const rates = await tx
    .select({ id: ticketRates.id, data: availabilityData })
    .from(ticketRates)
    .where(inArray(ticketRates.id, [...usedUp.keys()]))
  await recordChanges(
    tx,
    rates.map(({ id, data }) => ({
      ...{ type: usedUp.get(id) ? 'rate.sold_out' : 'rate.available', subjectId: id, organizationId },
      ...{ channelId: null, mode, data: mode === 'test' ? { ...data, test: true } : data },
    })),
  )
}
