import {
  bigint,
  type ExtraConfigColumn,
  foreignKey,
  numeric,
  type PgColumn,
  pgEnum,
  timestamp,
} from 'drizzle-orm/pg-core'
import { nowMs } from './clock.ts'

/** `timestamptz(3)`: to the millisecond, as a JavaScript Date, so that a value reads back as it was
 *  written. */
export const timestampMs = (name: string) => timestamp(name, { withTimezone: true, precision: 3 })

export const createdAt = () => timestampMs('created_at').notNull().defaultNow()

/** Time of the last change of a row. Updates through Drizzle set it; a statement in SQL must. */
export const updatedAt = () =>
  timestampMs('updated_at')
    .notNull()
    .defaultNow()
    .$onUpdate(() => nowMs)

/** An amount of money in minor units. */
export const minorUnits = (name: string) => bigint(name, { mode: 'number' })

type OfOrganization<Column> = Record<'organizationId', Column>

/** Foreign key to a row of the same organization, which `id` names. */
export const organizationForeignKey = (
  name: string,
  { organizationId }: OfOrganization<ExtraConfigColumn>,
  id: ExtraConfigColumn,
  other: OfOrganization<PgColumn> & { id: PgColumn },
) => foreignKey({ name, columns: [organizationId, id], foreignColumns: [other.organizationId, other.id] })

/** A percentage with up to four decimals. */
export const percentage = (name: string) => numeric(name, { precision: 7, scale: 4, mode: 'number' })

/** Enum of values that are described once, as GraphQL shows them. */
export const describedEnum = <Value extends string>(name: string, descriptions: Record<Value, string>) =>
  pgEnum(name, Object.keys(descriptions) as [Value, ...Value[]])
