import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import { byId } from '../../engine/base/group-by.ts'
import { isIdentifier } from '../../engine/base/ids.ts'
import type { NamedFind, Readers } from '../../engine/data/batch-loader.ts'
import { rowsOf } from '../../engine/data/json-rows.ts'
import { anyOf, query } from '../../engine/data/query.ts'
import { versionedLoaders } from '../../engine/data/versioned-loader.ts'
import { type Context, requireCaller } from '../caller/context.ts'
import { organizations } from '../organization/table.ts'
import { type Event, events } from './table.ts'

const { searchWords: _, ...shown } = getTableColumns(events)

type VersionedEvent = Event & { revision: string }

const findEvents: NamedFind<VersionedEvent> = {
  name: 'event_by_id',
  rows: rowsOf(shown),
  query: (select, keys) => select.from(events).where(anyOf(events.id, keys)),
}

const load = versionedLoaders<VersionedEvent>(
  (rememberedEvents) => rememberedEvents,
  () => 1,
)

/** Loads events that a visible row leads to. What a caller names goes through `loadNamed`. */
export const eventById = ({ shared }: Readers) =>
  load(shared, async (keys) => byId(await shared.find(findEvents, keys.filter(isIdentifier))))

const isNamed = and(
  eq(organizations.slug, sql.placeholder('organizationSlug')),
  eq(events.slug, sql.placeholder('slug')),
)

const bySlug = query('event_by_slug', {
  rows: rowsOf({ id: events.id, revision: events.revision }),
  query: (select) =>
    select
      .from(events)
      .innerJoin(organizations, eq(organizations.id, events.organizationId))
      .where(and(isNamed, anyOf(events.organizationId, 'organizationIds')))
      // The next one that has not ended; else the last one that has.
      .orderBy(
        sql`${events.endDate} <= now()`,
        sql`case when ${events.endDate} > now() then ${events.startDate} end`,
        sql`${events.startDate} desc`,
        events.id,
      )
      .limit(1),
})

/** Finds the event of an organization by their slugs: of several, the next one that has not ended, else the last one
 *  that has. Null if there is none that the caller may see. */
export async function findEventBySlug(slugs: { organizationSlug: string; slug: string }, ctx: Context) {
  const { organizationIds } = requireCaller(ctx)
  const found = await bySlug(ctx.shared, { ...slugs, organizationIds })
  const [event] = await ctx.loaders.get(eventById).loadRevisions(found)
  return event ?? null
}
