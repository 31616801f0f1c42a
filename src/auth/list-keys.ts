import { asc, eq, sql } from 'drizzle-orm'
import { nowMs } from '../database/clock.ts'
import type { Connection } from '../database/database.ts'
import { channels, grants, integrations, keys } from './table.ts'

/** Lists all issued keys, oldest first, with owner and status by the database's clock, but no secrets. */
export const listKeys = (db: Connection) =>
  db
    .select({
      id: keys.id,
      mode: keys.mode,
      channelId: keys.channelId,
      integrationId: keys.integrationId,
      origins: keys.origins,
      scopes: keys.scopes,
      name: sql<string>`coalesce(${channels.name}, ${integrations.name})`,
      /** Organizations whose catalogue or tickets the key currently opens. */
      organizationIds: sql<
        string[]
      >`case when ${keys.integrationId} is not null then array[${integrations.organizationId}] else array(select ${grants.organizationId} from ${grants} where ${grants.channelId} = ${keys.channelId} order by 1) end`,
      status: sql<
        'active' | 'expired' | 'revoked'
      >`case when ${keys.revokedAt} is not null then 'revoked' when ${keys.expiresAt} <= ${nowMs} then 'expired' else 'active' end`,
      /** True if the integration's secret (method v1) is valid; null for a channel, which has none. */
      secretActive: sql<
        boolean | null
      >`case when ${keys.integrationId} is not null then ${integrations.secretHash} is not null end`,
      createdAt: keys.createdAt,
      expiresAt: keys.expiresAt,
      revokedAt: keys.revokedAt,
    })
    .from(keys)
    .leftJoin(channels, eq(channels.id, keys.channelId))
    .leftJoin(integrations, eq(integrations.id, keys.integrationId))
    .orderBy(asc(keys.createdAt), asc(keys.id))

export type ListedKey = Awaited<ReturnType<typeof listKeys>>[number]
