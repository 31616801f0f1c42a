import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { check, doublePrecision, index, pgTable, text } from 'drizzle-orm/pg-core'
import { organizationId } from '../organization/table.ts'

/** SQL of the name of a city without case and accents. */
export const foldedCity = (city: SQLWrapper): SQL =>
  sql`regexp_replace(lower(normalize(${city}::text, NFKD)), '[\\u0300-\\u036f]', '', 'g')`

/** Places of events, with the time zone that their days are counted in. */
export const locations = pgTable(
  'locations',
  {
    id: text().primaryKey(),
    organizationId: organizationId(),
    name: text().notNull(),
    address: text(),
    city: text(),
    countryCode: text('country_code'),
    latitude: doublePrecision(),
    longitude: doublePrecision(),
    timezone: text().notNull().default('UTC'),
  },
  (location) => [
    index().on(location.latitude, location.longitude),
    index('locations_city').on(sql`(${foldedCity(location.city)})`),
    index('locations_country').on(location.countryCode),
    check(
      'locations_on_the_globe',
      sql`${location.latitude} between -90 and 90 and ${location.longitude} between -180 and 180`,
    ),
    check(
      'locations_have_both_coordinates',
      sql`(${location.latitude} is null) = (${location.longitude} is null)`,
    ),
  ],
)

export type Location = typeof locations.$inferSelect
