import { and, eq, isNull, sql } from 'drizzle-orm'
import { statement } from '../data/prepared.ts'
import type { Database } from '../database/database.ts'
import { isIdentifier } from '../shared/ids.ts'
import { type Authenticated, unauthenticated } from './caller.ts'
import type { Credentials } from './credentials.ts'
import { hashSecret, isSameHash } from './key.ts'
import { isValidSecret } from './known-credentials.ts'
import { integrationScopes } from './scopes.ts'
import { integrations, keys, organizationSecrets } from './table.ts'

// Names of tables are spelled out: Drizzle leaves them off in a query of one table, and PostgreSQL would then
// compare the column of the inner query with itself.
//
// An integration that is not revoked, with the hashes of the secrets that are good with it.
const integrationById = (db: Database) =>
  statement(db, 'integration_by_id', (db) =>
    db
      .select({
        organizationId: integrations.organizationId,
        secretHash: integrations.secretHash,
        organizationHashes: sql<string[]>`array(select ${organizationSecrets.hash} from ${organizationSecrets}
          where ${organizationSecrets}.organization_id = ${integrations}.organization_id and ${isValidSecret})`,
        now: sql<Date>`now()`.mapWith(keys.createdAt),
      })
      .from(integrations)
      .where(and(eq(integrations.id, sql.placeholder('id')), isNull(integrations.revokedAt))),
  )

// Compares with every hash, so that the time tells nothing about which one is right.
const isAnyHash = (hash: string, stored: (string | null)[]): boolean =>
  stored.map((one) => isSameHash(hash, one)).includes(true)

/** Authenticates an integration by method v1: with the secret that it has for itself, or with one of its
 *  organization. Such a caller is live and has all scopes. Takes one statement. Refuses: UNAUTHENTICATED. */
export async function authenticateSecret(
  db: Database,
  { integrationId, secret }: Credentials,
): Promise<Authenticated> {
  if (!integrationId) throw unauthenticated('The header integration_id is missing.', 'integration_id')
  if (!secret) throw unauthenticated('The header secret is missing.', 'secret')
  const since = performance.now()
  const [integration] = isIdentifier(integrationId)
    ? await integrationById(db).execute({ id: integrationId })
    : []
  const stored = integration ? [integration.secretHash, ...integration.organizationHashes] : []
  if (!integration || !isAnyHash(hashSecret(secret), stored))
    throw unauthenticated('The integration or its secret is not known.', 'secret')
  return {
    caller: {
      kind: 'integration',
      integrationId,
      organizationIds: [integration.organizationId],
      mode: 'live',
      scopes: [...integrationScopes],
    },
    now: integration.now,
    since,
    until: Number.POSITIVE_INFINITY,
  }
}
