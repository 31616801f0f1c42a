import { type GetColumnData, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/** How rows are selected so that the driver gives them ready for use, and what is left to do when they have come. */
export type Rows<Row> = { fields: Record<string, SQL.Aliased>; read(given: unknown): Row[] }

type RowOf<Columns extends Record<string, PgColumn>> = {
  [Name in keyof Columns]: GetColumnData<Columns[Name]>
}

// The drivers give wide numbers as text, because some are wider than a number can hold. None of ours is.
const isWide = (column: PgColumn) => /^(bigint|numeric)/.test(column.getSQLType())

const isMoment = (column: PgColumn) => column.getSQLType().startsWith('timestamp')

// «2026-11-21 20:00:00.5+00», as the drivers leave it. In its ISO form it is read twice as fast.
const toDate = (text: string) =>
  new Date(text.endsWith('+00') ? `${text.slice(0, 10)}T${text.slice(11, -3)}Z` : text)

/** Rows of these columns, by their names in the house. */
export function rowsOf<Columns extends Record<string, PgColumn>>(columns: Columns): Rows<RowOf<Columns>> {
  const named = Object.entries(columns)
  const moments = named.filter(([, column]) => isMoment(column)).map(([name]) => name)
  return {
    fields: Object.fromEntries(
      named.map(([name, column]) => [
        name,
        (isWide(column) ? sql`${column}::float8` : sql`${column}`).as(name),
      ]),
    ),
    read(given) {
      // One driver answers with the rows, the other with an object around them.
      const rows = (Array.isArray(given) ? given : (given as { rows: unknown[] }).rows) as Record<
        string,
        unknown
      >[]
      if (moments.length > 0)
        for (const row of rows)
          for (const name of moments) {
            const text = row[name]
            if (typeof text === 'string') row[name] = toDate(text)
          }
      return rows as RowOf<Columns>[]
    },
  }
}
