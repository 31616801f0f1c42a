import { inArray, sql } from 'drizzle-orm'
import { nowMs } from '../data/leased-jobs.ts'
import type { Connection, Database } from '../database/database.ts'
import { organizations } from '../domain/organization/table.ts'
import { Refusal, refuseIf } from '../shared/errors.ts'
import { newId, newSecret } from '../shared/ids.ts'
import { hashSecret, type KeyMode, newKey } from './key.ts'
import { invalidateListed } from './known-credentials.ts'
import { channelOrganizations, channels, grants, integrations, keys } from './table.ts'

type Issue = {
  mode: KeyMode
  /** When the key ends; absent for never. */
  expiresAt?: Date | null
}

const tables = { organization: organizations, channel: channels, integration: integrations }

/** Refuses: NOT_FOUND, for each of the ids that nothing of the kind has. */
export async function refuseUnknown(tx: Connection, kind: keyof typeof tables, ...ids: string[]) {
  const table = tables[kind]
  const rows = await tx.select({ id: table.id }).from(table).where(inArray(table.id, ids))
  const known = new Set(rows.map(({ id }) => id))
  refuseIf(
    ids
      .filter((id) => !known.has(id))
      .map((id) => ({ code: 'NOT_FOUND', message: `There is no ${kind} ${id}.`, path: [kind] })),
  )
}

/** Grants a channel what it is not granted already. Resolves to the grants that are new. */
export async function addGrants(tx: Connection, channelId: string, organizationIds: string[]) {
  if (organizationIds.length === 0) return []
  const pairs = organizationIds.map((organizationId) => ({ channelId, organizationId }))
  await tx.insert(channelOrganizations).values(pairs).onConflictDoNothing()
  return tx.insert(grants).values(pairs).onConflictDoNothing().returning()
}

// A new key must be good at once, also for a sender whose address has failed too often.
const issue = <Issued>(db: Database, write: (tx: Connection) => Promise<Issued>): Promise<Issued> =>
  db.transaction(write).finally(() => invalidateListed(db))

async function insertKey(
  tx: Connection,
  { mode, expiresAt = null }: Issue,
  owner: { channelId: string } | { integrationId: string },
): Promise<string> {
  const { id, key } = newKey(mode)
  const [inserted] = await tx
    .insert(keys)
    .values({ id, mode, hash: hashSecret(key), expiresAt, ...owner })
    .returning({ expired: sql<boolean>`coalesce(${keys.expiresAt} <= ${nowMs}, false)` })
  if (inserted?.expired)
    throw new Refusal({ code: 'INVALID', message: 'expires must be in the future.', path: ['expires'] })
  return key
}

/** Issues a key to a new channel, which these organizations grant; or, with `channelId`, another key to a channel that
 *  is there, so that the old one can be revoked once nobody uses it. The key is told here and never again.
 *  Refuses: NOT_FOUND; INVALID where `expiresAt` is past by the database's clock (DECISIONS 2). */
export const issueChannelKey = (
  db: Database,
  input: Issue & ({ name: string; organizationIds: string[] } | { channelId: string }),
): Promise<{ channelId: string; key: string }> =>
  issue(db, async (tx) => {
    if ('channelId' in input) {
      const { channelId } = input
      await refuseUnknown(tx, 'channel', channelId)
      return { channelId, key: await insertKey(tx, input, { channelId }) }
    }
    const channelId = newId('chn')
    const organizationIds = [...new Set(input.organizationIds)]
    await refuseUnknown(tx, 'organization', ...organizationIds)
    await tx.insert(channels).values({ id: channelId, name: input.name })
    await addGrants(tx, channelId, organizationIds)
    return { channelId, key: await insertKey(tx, input, { channelId }) }
  })

/** Issues a secret (method v1) and a key (method v2) to a new integration; or, with `integrationId`, another key to an
 *  integration that is there, whose secret stays as it is and is not told again. A new secret is a new integration's.
 *  Refuses: NOT_FOUND; INVALID where `expiresAt` is past by the database's clock (DECISIONS 2). */
export const issueIntegrationKey = (
  db: Database,
  input: Issue & ({ name: string; organizationId: string } | { integrationId: string }),
): Promise<{ integrationId: string; secret: string | null; key: string }> =>
  issue(db, async (tx) => {
    if ('integrationId' in input) {
      const { integrationId } = input
      await refuseUnknown(tx, 'integration', integrationId)
      return { integrationId, secret: null, key: await insertKey(tx, input, { integrationId }) }
    }
    const { name, organizationId } = input
    const integrationId = newId('int')
    const secret = newSecret()
    await refuseUnknown(tx, 'organization', organizationId)
    await tx
      .insert(integrations)
      .values({ id: integrationId, organizationId, name, secretHash: hashSecret(secret) })
    return { integrationId, secret, key: await insertKey(tx, input, { integrationId }) }
  })
