import { and, eq, inArray, notExists, sql } from 'drizzle-orm'
import { refuseIf } from '../../engine/base/errors.ts'
import { newSecret, sha256 } from '../../engine/base/ids.ts'
import { type Connection, type Database, runSql } from '../../engine/database/database.ts'
import { newId } from '../contract/ids.ts'
import { problem, refusal } from '../contract/problem-codes.ts'
import { organizations } from '../organization/table.ts'
import { type IntegrationScope, integrationScopes, newApiKey } from './api-key.ts'
import { invalidateListOfValid } from './credentials.ts'
import type { Mode } from './mode.ts'
import { channelOrganizations, channels, grants, integrations, keys } from './table.ts'

type Issue = {
  mode: Mode
  /** Expiry of the key; absent for never. */
  expiresAt?: Date | null
}

const tables = { organization: organizations, channel: channels, integration: integrations }

// An organization sells at its door through a channel of its own, which has its id. That one is nobody's
// client: it has neither keys nor grants.
const isClient = notExists(sql`(select from ${organizations} where ${organizations.id} = ${channels.id})`)

/** Refuses: NOT_FOUND, once for each unknown id. */
export async function refuseUnknownIds(tx: Connection, kind: keyof typeof tables, ...ids: string[]) {
  const table = tables[kind]
  const rows = await tx
    .select({ id: table.id })
    .from(table)
    .where(and(inArray(table.id, ids), kind === 'channel' ? isClient : undefined))
  const known = new Set(rows.map(({ id }) => id))
  const unknown = ids.filter((id) => !known.has(id))
  refuseIf(unknown.map((id) => problem('NOT_FOUND', `There is no ${kind} ${id}.`, [kind])))
}

async function allOrganizations(tx: Connection): Promise<string[]> {
  const rows = await tx.select({ id: organizations.id }).from(organizations).orderBy(organizations.id)
  return rows.map(({ id }) => id)
}

// A statement has 65,535 parameters at most.
const maxAtOnce = 10_000

/** Adds the grants that a channel lacks: of these organizations, or with null of all there are now. Resolves to whether it
 *  lacked any. Refuses: NOT_FOUND. */
export async function addGrants(tx: Connection, channelId: string, organizationIds: string[] | null) {
  const ids = [...new Set(organizationIds ?? (await allOrganizations(tx)))]
  if (organizationIds) await refuseUnknownIds(tx, 'organization', ...ids)
  let hasNew = false
  for (let from = 0; from < ids.length; from += maxAtOnce) {
    const pairs = ids.slice(from, from + maxAtOnce).map((organizationId) => ({ channelId, organizationId }))
    await tx.insert(channelOrganizations).values(pairs).onConflictDoNothing()
    const added = await tx.insert(grants).values(pairs).onConflictDoNothing().returning()
    hasNew ||= added.length > 0
  }
  return hasNew
}

/** Writes credentials that must work at once, even for an address that has failed too often. Refuses: INVALID, if they
 *  have expired already, by the database's clock. */
export const issueNow = <Issued>(
  db: Database,
  expiresAt: Date | null | undefined,
  write: (tx: Connection) => Promise<Issued>,
): Promise<Issued> =>
  db
    .transaction(async (tx) => {
      const issued = await write(tx)
      const end = expiresAt?.toISOString() ?? null
      const due = await runSql(tx, sql`select where ${end}::timestamptz <= now()`)
      if (due.length > 0) throw refusal('INVALID', 'expires must be in the future.', ['expires'])
      return issued
    })
    .finally(() => invalidateListOfValid(db))

async function insertKey(tx: Connection, issue: Issue, owner: Partial<typeof keys.$inferInsert>) {
  const { mode, expiresAt = null } = issue
  const { id, key } = newApiKey(mode, owner.origins != null)
  await tx.insert(keys).values({ ...owner, id, mode, hash: sha256(key), expiresAt })
  return key
}

/** Issues a key to a new channel with grants from these organizations, or with null from all there are now. With
 *  `channelId`, issues another key to an existing channel, so that the old key can be revoked once nobody uses it; with
 *  `origins`, a publishable one for pages of these origins, which is no secret: it lists, quotes and checks out, and sees
 *  neither persons nor codes. The key is never returned again. Refuses: NOT_FOUND; INVALID if `expiresAt` is past by the
 *  database's clock (DECISIONS, access). */
export const issueChannelKey = (
  db: Database,
  input: Issue &
    ({ name: string; organizationIds: string[] | null } | { channelId: string; origins?: string[] }),
): Promise<{ channelId: string; key: string }> =>
  issueNow(db, input.expiresAt, async (tx) => {
    if ('channelId' in input) {
      const { channelId, origins } = input
      await refuseUnknownIds(tx, 'channel', channelId)
      const owner = { channelId, origins: origins && [...new Set(origins)] }
      return { channelId, key: await insertKey(tx, input, owner) }
    }
    const channelId = newId('chn')
    await tx.insert(channels).values({ id: channelId, name: input.name })
    await addGrants(tx, channelId, input.organizationIds)
    return { channelId, key: await insertKey(tx, input, { channelId }) }
  })

/** Issues a secret (method v1) and a key (method v2) to a new integration. With `integrationId`, issues
 *  another key to an existing integration, whose secret stays as it is and is not returned. Only a new
 *  integration gets a new secret. The key has all scopes if none is named. Refuses: NOT_FOUND; INVALID if
 *  `expiresAt` is past by the database's clock (DECISIONS, access). */
export const issueIntegrationKey = (
  db: Database,
  input: Issue & { scopes?: IntegrationScope[] } & (
      | { name: string; organizationId: string }
      | { integrationId: string }
    ),
): Promise<{ integrationId: string; secret: string | null; key: string }> =>
  issueNow(db, input.expiresAt, async (tx) => {
    // A key with all scopes is stored without any, so that it also gets the scopes of later versions.
    const scopes = input.scopes?.length
      ? integrationScopes.filter((scope) => input.scopes?.includes(scope))
      : null
    if ('integrationId' in input) {
      const { integrationId } = input
      await refuseUnknownIds(tx, 'integration', integrationId)
      // A key makes a revoked integration good again; its own secret stays revoked.
      await tx.update(integrations).set({ revokedAt: null }).where(eq(integrations.id, integrationId))
      return { integrationId, secret: null, key: await insertKey(tx, input, { integrationId, scopes }) }
    }
    const { name, organizationId } = input
    const integrationId = newId('int')
    const secret = newSecret()
    await refuseUnknownIds(tx, 'organization', organizationId)
    await tx
      .insert(integrations)
      .values({ id: integrationId, organizationId, name, secretHash: sha256(secret) })
    return { integrationId, secret, key: await insertKey(tx, input, { integrationId, scopes }) }
  })
