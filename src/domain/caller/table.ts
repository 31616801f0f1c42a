import { type SQL, sql } from 'drizzle-orm'
import {
  check,
  foreignKey,
  index,
  integer,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { nowMs } from '../../engine/database/clock.ts'
import { createdAt, timestampMs } from '../../engine/database/columns.ts'
import { organizationId } from '../organization/table.ts'
import { integrationScopes } from './api-key.ts'
import { modes } from './mode.ts'

/** Clients that sell tickets for the organizations that granted them. */
export const channels = pgTable('channels', {
  id: text().primaryKey(),
  name: text().notNull(),
  /** Changes with its grants: a process that remembers those of this revision knows them. */
  revision: uuid().notNull().defaultRandom(),
  createdAt: createdAt(),
})

/** Column for the channel that a row belongs to. */
export const channelId = () =>
  text('channel_id')
    .notNull()
    .references(() => channels.id)

/** Organizations that ever granted a channel. A row outlives its grant, because the channel still receives
 *  changes of what it sold for that organization. */
export const channelOrganizations = pgTable(
  'channel_organizations',
  {
    channelId: channelId(),
    organizationId: organizationId(),
    /** Short id of the pair, used in cursors of the change feed. */
    number: integer().notNull().generatedAlwaysAsIdentity(),
  },
  (pair) => [
    primaryKey({ columns: [pair.channelId, pair.organizationId] }),
    uniqueIndex('channel_organizations_number').on(pair.number),
    // Channels of an organization, for its lists of sales.
    index('channels_of_organization').on(pair.organizationId, pair.channelId),
  ],
)

/** Organizations that a channel may sell for now. */
export const grants = pgTable(
  'grants',
  {
    channelId: channelId(),
    organizationId: organizationId(),
    createdAt: createdAt(),
  },
  (grant) => [
    primaryKey({ columns: [grant.channelId, grant.organizationId] }),
    foreignKey({
      name: 'grants_are_remembered',
      columns: [grant.channelId, grant.organizationId],
      foreignColumns: [channelOrganizations.channelId, channelOrganizations.organizationId],
    }),
  ],
)

/** Clients that read one organization's tickets. */
export const integrations = pgTable(
  'integrations',
  {
    id: text().primaryKey(),
    organizationId: organizationId(),
    name: text().notNull(),
    /** SHA-256 of the secret of method v1 that it has for itself; null if it was given none, or once it is
     *  revoked. */
    secretHash: text('secret_hash'),
    createdAt: createdAt(),
    /** Time of its revocation: since then no secret is good with it. */
    revokedAt: timestampMs('revoked_at'),
  },
  (integration) => [index().on(integration.organizationId)],
)

/** Secrets of method v1 that an organization has, good with each of its integrations that is not revoked. It
 *  may have several, so that rotation needs no downtime. */
export const organizationSecrets = pgTable(
  'organization_secrets',
  {
    /** Public part, by which it is listed and revoked. The secret does not contain it. */
    id: text().primaryKey(),
    organizationId: organizationId(),
    /** SHA-256 of the secret. The secret itself is shown once and never stored. */
    hash: text().notNull(),
    createdAt: createdAt(),
    expiresAt: timestampMs('expires_at'),
    revokedAt: timestampMs('revoked_at'),
  },
  (secret) => [index().on(secret.organizationId)],
)

export const keyMode = pgEnum('key_mode', modes)

/** Mode of something that was sold, or of a client that hears of it. */
export const modeColumn = () => keyMode('mode').notNull().default('live')

/** API keys (method v2). An owner may have several, so that rotation needs no downtime. */
export const keys = pgTable(
  'keys',
  {
    /** Public part of the key. */
    id: text().primaryKey(),
    mode: keyMode().notNull(),
    channelId: text('channel_id').references(() => channels.id),
    integrationId: text('integration_id').references(() => integrations.id),
    /** Origins of the pages that may use a publishable key of a channel; null for any other key. */
    origins: text().array(),
    /** Rights of an integration's key; null for all. */
    scopes: text({ enum: integrationScopes }).array(),
    /** SHA-256 of the whole key. The key itself is shown once and never stored. */
    hash: text().notNull(),
    createdAt: createdAt(),
    expiresAt: timestampMs('expires_at'),
    revokedAt: timestampMs('revoked_at'),
  },
  (key) => [
    index().on(key.channelId),
    index().on(key.integrationId),
    check('keys_have_one_owner', sql`num_nonnulls(${key.channelId}, ${key.integrationId}) = 1`),
    check(
      'keys_are_limited_by_their_kind',
      sql`(${key.origins} is null or ${key.channelId} is not null) and (${key.scopes} is null or ${key.integrationId} is not null)`,
    ),
  ],
)

// Names of tables are spelled out: Drizzle leaves them off in a query of one table, and PostgreSQL would then take
// the column of an inner query for its own.
type Issued = typeof keys | typeof organizationSecrets

/** Matches what is neither revoked nor expired. */
export const isValid = (issued: Issued): SQL =>
  sql`${issued}.revoked_at is null and (${issued}.expires_at is null or ${issued}.expires_at > ${nowMs})`

/** Times of a key or a secret, under the names that a list shows. */
export const timesOf = ({ createdAt, expiresAt, revokedAt }: Issued) => ({
  created_at: createdAt,
  expires_at: expiresAt,
  revoked_at: revokedAt,
})

/** Status by the database's clock. */
export const statusOf = (issued: Issued): SQL<'active' | 'expired' | 'revoked'> =>
  sql`case when ${issued}.revoked_at is not null then 'revoked' when ${isValid(issued)} then 'active' else 'expired' end`

/** Tables of which every server of a cluster has a copy, though they name an organization: who may sell for whom. */
export const copiedTables = ['grants', 'channel_organizations']
