import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import { newSecret, sha256 } from '../../engine/base/ids.ts'
import type { Connection, Database } from '../../engine/database/database.ts'
import { newId } from '../contract/ids.ts'
import { refusal } from '../contract/problem-codes.ts'
import { organizations } from '../organization/table.ts'
import { invalidateListOfValid } from './credentials.ts'
import { issueNow, refuseUnknownIds } from './issue-key.ts'
import { isValid, organizationSecrets, statusOf, timesOf } from './table.ts'

// Two, so that rotation needs no downtime: the new one is handed out while the old one still works.
const maxSecrets = 2

/** Issues a secret of method v1 to an organization, good with each of its integrations that is not revoked.
 *  Two may live side by side. The secret is never returned again. Refuses: NOT_FOUND; INVALID for a third
 *  one, or if `expiresAt` is past by the database's clock (DECISIONS, keys). */
export const issueOrganizationSecret = (
  db: Database,
  { organizationId, expiresAt = null }: { organizationId: string; expiresAt?: Date | null },
): Promise<{ secretId: string; secret: string }> =>
  issueNow(db, expiresAt, async (tx) => {
    await refuseUnknownIds(tx, 'organization', organizationId)
    // One at a time, so that the limit holds.
    const { id } = organizations
    await tx.select({ id }).from(organizations).where(eq(id, organizationId)).for('no key update')
    const valid = await tx
      .select({ id: organizationSecrets.id })
      .from(organizationSecrets)
      .where(and(eq(organizationSecrets.organizationId, organizationId), isValid(organizationSecrets)))
    const message = `The organization has ${maxSecrets} secrets already: revoke one of them first.`
    if (valid.length >= maxSecrets) throw refusal('INVALID', message, ['organization'])
    const secret = newSecret()
    const secretId = newId('sec')
    await tx
      .insert(organizationSecrets)
      .values({ id: secretId, organizationId, hash: sha256(secret), expiresAt })
    return { secretId, secret }
  })

/** Lists all secrets of organizations, oldest first, with their status by the database's clock. The names are those that
 *  JSON shows. */
export const listOrganizationSecrets = (db: Connection) =>
  db
    .select({
      id: organizationSecrets.id,
      kind: sql<string>`'secret'`,
      status: statusOf(organizationSecrets),
      organization_ids: sql<string[]>`array[${organizationSecrets.organizationId}]`,
      ...timesOf(organizationSecrets),
    })
    .from(organizationSecrets)
    .orderBy(asc(organizationSecrets.createdAt), asc(organizationSecrets.id))

/** Revokes a secret of an organization by its id. Takes effect at once. Idempotent: resolves to false if it was
 *  revoked already. Refuses: NOT_FOUND. */
export async function revokeOrganizationSecret(db: Database, id: string): Promise<boolean> {
  const [known] = await db
    .select({ id: organizationSecrets.id })
    .from(organizationSecrets)
    .where(eq(organizationSecrets.id, id))
  if (!known) throw refusal('NOT_FOUND', 'There is no secret of that id.')
  const revoked = await db
    .update(organizationSecrets)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(organizationSecrets.id, id), isNull(organizationSecrets.revokedAt)))
    .returning({ id: organizationSecrets.id })
  invalidateListOfValid(db)
  return revoked.length > 0
}
