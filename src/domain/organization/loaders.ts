import { and, asc, eq, getTableColumns, sql } from 'drizzle-orm'
import { isIdentifier } from '../../engine/base/ids.ts'
import { loadRow } from '../../engine/data/batch-loader.ts'
import { rowsOf } from '../../engine/data/json-rows.ts'
import { anyOf, inOrganization, query } from '../../engine/data/query.ts'
import type { Database } from '../../engine/database/database.ts'
import { type Context, requireCaller } from '../caller/context.ts'
import { channelOrganizations, channels, integrations } from '../caller/table.ts'
import { organizations } from './table.ts'

/** Loads organizations that a visible row leads to. */
export const organizationById = loadRow('organization_by_id', organizations)
/** Loads channels that a visible row leads to. */
export const channelById = loadRow('channel_by_id', channels)
/** Loads integrations that a visible row, or the caller's own key, leads to. */
export const integrationById = loadRow('integration_by_id', integrations)

const isAfter = sql`${organizations.id} > ${sql.placeholder('after')}::text`

/** Lists the organizations among `organizationIds`, ordered by id: those after `after`, at most `limit`. */
export const listOrganizations = query('organizations', {
  rows: rowsOf(getTableColumns(organizations)),
  query: (select) =>
    select
      .from(organizations)
      .where(and(anyOf(organizations.id, 'organizationIds'), isAfter))
      .orderBy(asc(organizations.id))
      .limit(sql.placeholder('limit')),
})

const bySlug = query('organization_by_slug', {
  rows: rowsOf(getTableColumns(organizations)),
  query: (select) =>
    select
      .from(organizations)
      .where(and(eq(organizations.slug, sql.placeholder('slug')), anyOf(organizations.id, 'organizationIds')))
      .orderBy(asc(organizations.id))
      .limit(1),
})

/** Finds the organization with a slug among `organizationIds`; of several the first by id. */
export const findOrganizationBySlug = async (db: Database, organizationIds: string[], slug: string) =>
  (await bySlug(db, { organizationIds, slug }))[0] ?? null

const channelsOfOrganization = query('channels_of_organization', {
  rows: rowsOf(getTableColumns(channels)),
  query: (select, keys) =>
    select
      .from(channels)
      .innerJoin(channelOrganizations, eq(channelOrganizations.channelId, channels.id))
      .where(and(anyOf(channels.id, keys), inOrganization(channelOrganizations.organizationId))),
})

/** Finds channels by their identifiers: the caller itself, or those that the integration's organization ever gave
 *  access. */
export async function findChannels(ids: string[], ctx: Context) {
  const caller = requireCaller(ctx)
  const keys = ids.filter(isIdentifier)
  if (caller.kind === 'integration')
    return channelsOfOrganization(ctx.db, { keys, organizationId: caller.organizationIds[0] })
  return keys.includes(caller.channelId) ? [await ctx.loaders.load(channelById, caller.channelId)] : []
}

/** Finds integrations by their identifiers: the caller itself. */
export async function findIntegrations(ids: string[], ctx: Context) {
  const caller = requireCaller(ctx)
  const isOwn = caller.kind === 'integration' && ids.includes(caller.integrationId)
  return isOwn ? [await ctx.loaders.load(integrationById, caller.integrationId)] : []
}
