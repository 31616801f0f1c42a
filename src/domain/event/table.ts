import { type SQL, sql } from 'drizzle-orm'
import { check, customType, index, jsonb, type PgColumn, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { timestampMs } from '../../database/columns.ts'
import { locations } from '../location/table.ts'
import { organizations } from '../organization/table.ts'

const tsvector = customType<{ data: string; driverData: string }>({ dataType: () => 'tsvector' })

export type Artist = { name: string; imageUrl: string | null }

/** How long an event takes, in seconds. */
export const duration = (event: Record<'startDate' | 'endDate', PgColumn>): SQL =>
  sql`extract(epoch from (${event.endDate} - ${event.startDate}))`

export const events = pgTable(
  'events',
  {
    id: text().primaryKey(),
    organizationId: text('organization_id')
      .notNull()
      .references(() => organizations.id),
    locationId: text('location_id').references(() => locations.id),
    name: text().notNull(),
    slug: text().notNull(),
    description: text(),
    age: text(),
    outfit: text(),
    ambiences: text().array().notNull().default([]),
    musicGenres: text('music_genres').array().notNull().default([]),
    artists: jsonb().$type<Artist[]>().notNull().default([]),
    displayDate: timestampMs('display_date'),
    startDate: timestampMs('start_date').notNull(),
    endDate: timestampMs('end_date').notNull(),
    imageUrl: text('image_url'),
    iframeTagUrl: text('iframe_tag_url'),
    iframeScriptUrl: text('iframe_script_url'),
    /** The folded words of the name, which a search's words must begin (DECISIONS 3). */
    searchWords: tsvector('search_words').notNull(),
    /** Another one whenever the event changes, or anything that is listed under it: a trigger sees to it. What is sold
     *  changes neither. */
    revision: uuid().notNull().defaultRandom(),
  },
  (event) => [
    index().on(event.startDate, event.id),
    index().on(event.organizationId, event.startDate, event.id),
    index().on(event.locationId, event.startDate, event.id),
    index().using('gin', event.searchWords),
    // What the longest event takes: one that has not ended began no longer ago than that.
    index('events_duration').on(sql`(${duration(event)})`),
    check('events_end_after_they_start', sql`${event.endDate} >= ${event.startDate}`),
  ],
)

export type Event = Omit<typeof events.$inferSelect, 'searchWords' | 'revision'>
