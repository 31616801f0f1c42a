import { and, eq, isNotNull, isNull, or, sql } from 'drizzle-orm'
import type { Database } from '../../engine/database/database.ts'
import { changesShared, transaction } from '../../engine/database/transaction.ts'
import { refusal } from '../contract/problem-codes.ts'
import { readApiKey } from './api-key.ts'
import { channels, integrations, keys } from './table.ts'

/** Revokes one key (by its public id or the whole key), all keys of a channel, or all keys of an integration
 *  and its secret. Takes effect at once, except for event lists that another process answers from memory
 *  until its caller cache expires. Idempotent. Resolves to the public ids of the keys that this call revoked, and whether it
 *  revoked a secret of method v1. Refuses: NOT_FOUND (DECISIONS, access). */
export async function revokeKey(db: Database, id: string) {
  return transaction(db, async (tx) => {
    changesShared(tx)
    const keyId = readApiKey(id)?.id ?? id
    const [known] = await tx
      .select({ id: keys.id })
      .from(keys)
      .where(eq(keys.id, keyId))
      .union(tx.select({ id: channels.id }).from(channels).where(eq(channels.id, id)))
      .union(tx.select({ id: integrations.id }).from(integrations).where(eq(integrations.id, id)))
    if (!known) throw refusal('NOT_FOUND', 'There is no key, channel or integration of that id.')
    const isTheirs = or(eq(keys.id, keyId), eq(keys.channelId, id), eq(keys.integrationId, id))
    const revokedKeys = await tx
      .update(keys)
      .set({ revokedAt: sql`now()` })
      .where(and(isNull(keys.revokedAt), isTheirs))
      .returning({ id: keys.id })
    // Secrets of its organization are not good with it any more either.
    await tx
      .update(integrations)
      .set({ revokedAt: sql`now()` })
      .where(and(eq(integrations.id, id), isNull(integrations.revokedAt)))
    const secrets = await tx
      .update(integrations)
      .set({ secretHash: null })
      .where(and(eq(integrations.id, id), isNotNull(integrations.secretHash)))
      .returning({ id: integrations.id })
    return { keyIds: revokedKeys.map((key) => key.id), secret: secrets.length > 0 }
  })
}
