import { sql } from 'drizzle-orm'
import { query, type Scope } from '../data/query.ts'
import type { Database } from '../database/database.ts'
import { channelOrganizations } from './table.ts'

const ofChannel = query<{ id: string }>(
  'organizations_of_channel',
  () => sql`select ${channelOrganizations.organizationId} as id from ${channelOrganizations}
    where ${channelOrganizations.channelId} = ${sql.placeholder('channelId')}`,
)

/** Finds the organizations that a caller has sales of: all that ever granted the channel, or the
 *  integration's own. */
export async function reachedOrganizations(
  db: Database,
  { channelId, ownOrganizationIds }: Pick<Scope, 'channelId' | 'ownOrganizationIds'>,
): Promise<string[]> {
  if (!channelId) return ownOrganizationIds
  return (await ofChannel(db, { channelId })).map(({ id }) => id)
}
