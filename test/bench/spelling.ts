// SQL expressions that format values as the two surfaces do.

/** Formats a timestamp as both surfaces do. */
export const moment = (column: string) =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** Formats an amount in minor units as REST does. */
export const major = (amount: string, currency: string) =>
  `${amount} / case ${currency} when 'JPY' then 1 when 'KWD' then 1000 else 100 end::float8`

/** Formats an amount in minor units as GraphQL does. */
export const money = (amount: string, currency: string) => `json_build_object('amount', case ${currency}
    when 'JPY' then (${amount})::text
    when 'KWD' then ((${amount}) / 1000.0)::numeric(20, 3)::text
    else ((${amount}) / 100.0)::numeric(20, 2)::text end, 'currency', ${currency})`

/** Field names of a surface: `image_url` or `imageUrl`. */
export type Spelling = { id: string; field(name: string): string }

export const rest: Spelling = { id: '_id', field: (name) => name }
export const graphql: Spelling = {
  id: 'id',
  field: (name) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
}

/** Formats a value of a closed set: as it is stored, or in upper case in GraphQL. */
export const word = (spelling: Spelling, column: string): string =>
  spelling === graphql ? `upper(${column}::text)` : column

/** Columns and expressions of an object, under a surface's field names. */
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
