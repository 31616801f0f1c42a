import { and, eq } from 'drizzle-orm'
import { invalidateCatalogue } from '../database/catalogue-version.ts'
import type { Database } from '../database/database.ts'
import { addGrants, refuseUnknown } from './issue-key.ts'
import { grants } from './table.ts'

/** Grants an organization's catalogue to a channel, or takes the grant back: from then on the channel sells none of its
 *  events, and sees none, in another process once that no longer remembers who calls. Resolves to whether that changed
 *  anything. Refuses: NOT_FOUND (DECISIONS 2). */
export async function changeGrant(
  db: Database,
  { channelId, organizationId, granted }: { channelId: string; organizationId: string; granted: boolean },
): Promise<boolean> {
  const isChanged = await db.transaction(async (tx) => {
    await refuseUnknown(tx, 'channel', channelId)
    await refuseUnknown(tx, 'organization', organizationId)
    const changed = granted
      ? await addGrants(tx, channelId, [organizationId])
      : await tx
          .delete(grants)
          .where(and(eq(grants.channelId, channelId), eq(grants.organizationId, organizationId)))
          .returning()
    return changed.length > 0
  })
  invalidateCatalogue(db)
  return isChanged
}
