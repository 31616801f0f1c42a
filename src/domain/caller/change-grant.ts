import { and, eq, inArray, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Reach } from '../../engine/base/caller.ts'
import { query } from '../../engine/data/query.ts'
import type { Database } from '../../engine/database/database.ts'
import { changesShared, transaction } from '../../engine/database/transaction.ts'
import { addGrants, refuseUnknownIds } from './issue-key.ts'
import { channelOrganizations, grants } from './table.ts'

const ofChannel = query<{ id: string }>(
  'organizations_of_channel',
  () => sql`select ${channelOrganizations.organizationId} as id from ${channelOrganizations}
    where ${channelOrganizations.channelId} = ${sql.placeholder('channelId')}`,
)

/** Finds the organizations that a caller has sales of: all that ever granted the channel, or the
 *  integration's own. */
export async function reachedOrganizations(db: Database, { channelId, ownOrganizationIds }: Reach) {
  if (!channelId) return ownOrganizationIds
  return (await ofChannel(db, { channelId })).map(({ id }) => id)
}

/** Condition by which `distinctValues` goes to the organization behind its last one that the channel has sales of, and
 *  passes over others. */
export const isOfNextReached = (organizationId: PgColumn) => sql`${organizationId} >= (
  select ${channelOrganizations.organizationId} from ${channelOrganizations}
  where ${channelOrganizations.channelId} = ${sql.placeholder('channelId')}::text
    and ${channelOrganizations.organizationId} > walk.found order by 1 limit 1)`

type Change = { channelId: string; organizationId: string | null; granted: boolean }

/** Grants an organization's catalogue to a channel, or revokes the grant: the channel then neither sells nor
 *  sees that organization's events. Null stands for all organizations that there are now. Takes effect at once in this
 *  process, and in others once their caller cache expires. Resolves to true if anything changed. Refuses: NOT_FOUND
 *  (DECISIONS, access). */
export async function changeGrant(db: Database, { channelId, organizationId, granted }: Change) {
  return transaction(db, async (tx) => {
    changesShared(tx)
    await refuseUnknownIds(tx, 'channel', channelId)
    const ids = organizationId === null ? null : [organizationId]
    if (granted) return addGrants(tx, channelId, ids)
    if (ids) await refuseUnknownIds(tx, 'organization', ...ids)
    const areThese = ids ? inArray(grants.organizationId, ids) : undefined
    const areRevoked = and(eq(grants.channelId, channelId), areThese)
    return (await tx.delete(grants).where(areRevoked).returning()).length > 0
  })
}
