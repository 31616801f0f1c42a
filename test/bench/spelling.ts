// How PostgreSQL is made to print what the two surfaces print.

/** A moment as both surfaces print it. */
export const moment = (column: string) =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** An amount in minor units as both surfaces print it. */
export const major = (amount: string, currency: string) =>
  `${amount} / case ${currency} when 'JPY' then 1 when 'KWD' then 1000 else 100 end::float8`

/** How a surface spells a field: `image_url` or `imageUrl`. */
export type Spelling = { id: string; field(name: string): string }

export const rest: Spelling = { id: '_id', field: (name) => name }
export const graphql: Spelling = {
  id: 'id',
  field: (name) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
}

/** The columns and expressions of an object, under the names that a surface has for them. */
export const select = (
  { field }: Spelling,
  columns: string[],
  computed: Record<string, string>,
  table = '',
): string =>
  [
    ...columns.map((name) => `${table}${name} as "${field(name)}"`),
    ...Object.entries(computed).map(([name, value]) => `${value} as "${field(name)}"`),
  ].join(', ')
