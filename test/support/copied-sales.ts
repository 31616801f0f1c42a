import { sql } from 'drizzle-orm'
import { type Database, runSql } from '../../src/engine/database/database.ts'

// Sales by the thousand: copies of one or two that the product itself has made, step by step. A step is what it changed in the
// tables of sales between two moments: rows that it wrote, columns that it set, and rows that it deleted.

const tables = [
  'payments',
  'expiries',
  'tickets',
  'deliveries',
  'changes',
  'webhook_deliveries',
  'check_ins',
  'charges',
  'invoices',
  'idempotency_keys',
] as const

type Row = Record<string, unknown>
type Moment = Map<string, { table: string; row: Row; key: string[] }>
/** Changes of one table, for the copies with these numbers. */
type Copy = (from: number, to: number) => string

/** Text of SQL. */
const text = (value: string) => `'${value.replaceAll("'", "''")}'`

// Values that no two sales share: identifiers, which ascend, and tokens, which are random.
const identifier = /\b(?:pay|tkt|cha|inv|chg|dlv|chk)_[0-9a-z]{26,}/g
const tokens = [
  'page_token',
  'document_token',
  'qr_code',
  'idempotency_key',
  'reference',
  'invoice_reference',
] as const

/** Returns an expression of the row of copy `n`, as JSON. */
function copyOf(row: Row): string {
  const written = JSON.stringify(row)
  // Their ends tell the changes of one sale from each other.
  const ids = [...new Set(written.match(identifier))].map((id) => {
    const [start, end] = [id.slice(0, 4), id.slice(-6)]
    return [id, `${text(start)} || lpad(n::text, ${id.length - 10}, '0') || ${text(end)}`]
  })
  const random = tokens.flatMap((name) => {
    const token = row[name]
    if (typeof token !== 'string') return []
    const hash = `encode(sha256((${text(token)} || n)::bytea), 'hex')`
    return [[token, `substr(${hash} || ${hash} || ${hash}, 1, ${Math.max(token.length, 12)})`]]
  })
  // Numbers of a series ascend.
  const { number } = row
  const ascending = typeof number === 'number' ? [[`"number":${number}`, `'"number":' || ${number} + n`]] : []
  return [...ids, ...random, ...ascending].reduce(
    (copied, [value = '', other]) => `replace(${copied}, ${text(value)}, ${other})`,
    text(written),
  )
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** Returns the statements that do to each copy what was done to the one sale between two moments, but for columns that
 *  the product itself sets in the copies. */
function stepBetween(before: Moment, after: Moment, ownColumns: string[]): Copy[] {
  const of = (table: string, row: Row, from: number, to: number) =>
    `generate_series(${from}, ${to}) as n, lateral jsonb_populate_record(null::${table}, (${copyOf(row)})::jsonb) as made`
  const isCopy = (table: string, key: string[]) =>
    key.map((name) => `${table}.${name} = made.${name}`).join(' and ')
  const written = [...after].flatMap(([id, { table, row, key }]): Copy[] => {
    const old = before.get(id)?.row
    const changed = Object.keys(row).filter((name) => !ownColumns.includes(name))
    if (!old) {
      const names = changed.join(', ')
      const values = changed.map((name) => `made.${name}`).join(', ')
      return [
        (from, to) => `insert into ${table} (${names}) select ${values} from ${of(table, row, from, to)}`,
      ]
    }
    const set = changed.filter((name) => !isSame(row[name], old[name]))
    if (set.length === 0) return []
    const values = set.map((name) => `${name} = made.${name}`).join(', ')
    return [
      (from, to) =>
        `update ${table} set ${values} from ${of(table, row, from, to)} where ${isCopy(table, key)}`,
    ]
  })
  const deleted = [...before].flatMap(([id, { table, row, key }]): Copy[] =>
    after.has(id)
      ? []
      : [(from, to) => `delete from ${table} using ${of(table, row, from, to)} where ${isCopy(table, key)}`],
  )
  return [...written, ...deleted]
}

/** Watches the sales of a database. Each call of the returned function returns the step since the last one, which does the same
 *  to copies of what was sold, from one number to another. The product itself sets `ownColumns` of them. */
export async function watchSales(db: Database, ownColumns: string[] = []) {
  const generated = await runSql<{ table: string; name: string }>(
    db,
    sql`select table_name as table, column_name as name from information_schema.columns where is_generated = 'ALWAYS'`,
  )
  const keys = await runSql<{ table: string; key: string[] }>(
    db,
    sql`select indrelid::regclass::text as table, array_agg(attname::text) as key from pg_index
      join pg_attribute on attrelid = indrelid and attnum = any(indkey) where indisprimary group by 1`,
  )
  const look = async (): Promise<Moment> => {
    const moment: Moment = new Map()
    for (const table of tables) {
      const key = keys.find((of) => of.table === table)?.key ?? []
      const rows = await runSql<{ row: Row }>(db, `select to_jsonb(${table}) as row from ${table}`)
      for (const { row } of rows) {
        for (const { name } of generated.filter((of) => of.table === table)) delete row[name]
        moment.set(JSON.stringify([table, ...key.map((name) => row[name])]), { table, row, key })
      }
    }
    return moment
  }
  let last = await look()
  return async (): Promise<(from: number, to: number) => Promise<void>> => {
    const now = await look()
    const copies = stepBetween(last, now, ownColumns)
    last = now
    return async (from, to) => {
      for (const copy of copies) await db.execute(sql.raw(copy(from, to)))
    }
  }
}
