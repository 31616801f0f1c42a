import { and, eq, isNotNull, isNull, or, sql } from 'drizzle-orm'
import { invalidateCatalogue } from '../database/catalogue-version.ts'
import type { Database } from '../database/database.ts'
import { Refusal } from '../shared/errors.ts'
import { readKey } from './key.ts'
import { channels, integrations, keys } from './table.ts'

/** The public ids of the keys that are revoked now and were not before, and whether a secret of method v1 is. */
export type Revoked = { keyIds: string[]; secret: boolean }

/** Revokes a key, named by its public id or by the whole of it; all keys of a channel; or all keys of an integration
 *  and its secret. At once, except for lists that another process has in memory, while it remembers who calls. What is
 *  revoked already stays so. Refuses: NOT_FOUND (DECISIONS 2). */
export async function revokeKey(db: Database, id: string): Promise<Revoked> {
  const revoked = await db.transaction(async (tx) => {
    const keyId = readKey(id)?.id ?? id
    const [known] = await tx
      .select({ id: keys.id })
      .from(keys)
      .where(eq(keys.id, keyId))
      .union(tx.select({ id: channels.id }).from(channels).where(eq(channels.id, id)))
      .union(tx.select({ id: integrations.id }).from(integrations).where(eq(integrations.id, id)))
    if (!known)
      throw new Refusal({ code: 'NOT_FOUND', message: 'There is no key, channel or integration of that id.' })
    const ended = await tx
      .update(keys)
      .set({ revokedAt: sql`now()` })
      .where(
        and(
          isNull(keys.revokedAt),
          or(eq(keys.id, keyId), eq(keys.channelId, id), eq(keys.integrationId, id)),
        ),
      )
      .returning({ id: keys.id })
    const secrets = await tx
      .update(integrations)
      .set({ secretHash: null })
      .where(and(eq(integrations.id, id), isNotNull(integrations.secretHash)))
      .returning({ id: integrations.id })
    return { keyIds: ended.map((key) => key.id), secret: secrets.length > 0 }
  })
  invalidateCatalogue(db)
  return revoked
}
