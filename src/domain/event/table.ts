import { type SQL, sql } from 'drizzle-orm'
import {
  check,
  customType,
  index,
  integer,
  jsonb,
  type PgColumn,
  pgTable,
  text,
  uuid,
} from 'drizzle-orm/pg-core'
import { timestampMs } from '../../engine/database/columns.ts'
import { locations } from '../location/table.ts'
import { organizationId } from '../organization/table.ts'

const tsvector = customType<{ data: string; driverData: string }>({ dataType: () => 'tsvector' })

/** Dates of an event before it was moved, in ISO 8601. */
export type FormerDates = { start: string; display: string | null }
/** Former dates, and since when the attendees are to be told: the queue of notices is late by it. */
export type MovedFrom = FormerDates & { since: string }
export type Artist = { name: string; imageUrl: string | null }

/** Condition that an event lasts longer than seven days. */
export const isLong = (event: Record<'startDate' | 'endDate', PgColumn>): SQL =>
  sql`extract(epoch from (${event.endDate} - ${event.startDate})) > 604800`

/** Events that tickets are sold for. */
export const events = pgTable(
  'events',
  {
    id: text().primaryKey(),
    organizationId: organizationId(),
    locationId: text('location_id').references(() => locations.id),
    name: text().notNull(),
    slug: text().notNull(),
    description: text(),
    age: text(),
    /** Minimum age in years, which takes precedence over `age`; 0 for any age. */
    minimumAge: integer('minimum_age'),
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
    /** Folded words of the name, which searches match by prefix, and music genres, each as one word (DECISIONS, listing events). */
    searchWords: tsvector('search_words').notNull(),
    /** Changes with the event and with anything listed under it, by a trigger. Sales do not change it. */
    revision: uuid().notNull().defaultRandom(),
    /** SEQUENCE of its calendar entry: the number of times that its dates were changed. */
    calendarSequence: integer('calendar_sequence').notNull().default(0),
    /** Salt of the hashes in its scan list; null until the list is first read (DECISIONS 54). */
    scanSalt: text('scan_salt'),
    /** Its former dates, until its attendees are told of the present ones. */
    movedFrom: jsonb('moved_from').$type<MovedFrom>(),
  },
  (event) => [
    index().on(event.startDate, event.id),
    index().on(event.organizationId, event.startDate, event.id),
    index('events_slug').on(event.organizationId, event.slug, event.startDate, event.id),
    index().on(event.locationId, event.startDate, event.id),
    // Written at once: a list of what is pending, which every search reads whole, grows until a vacuum.
    index().using('gin', event.searchWords).with({ fastupdate: false }),
    // Events whose attendees are to be told.
    index('events_moved').on(event.id).where(sql`${event.movedFrom} is not null`),
    // Finds long events that have not ended, the first of which bounds the start of all that have not.
    index('events_long').on(event.organizationId, event.endDate).where(isLong(event)),
    check('events_end_after_they_start', sql`${event.endDate} >= ${event.startDate}`),
  ],
)

/** Minimum age of an event as text: the catalogue's number if it gives one, else its words. */
export const ageText: SQL<string | null> = sql`coalesce(${events.minimumAge}::text, ${events.age})`

export type Event = Omit<
  typeof events.$inferSelect,
  'searchWords' | 'revision' | 'calendarSequence' | 'movedFrom'
>
