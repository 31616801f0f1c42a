import { idsFrom } from '../shared/ids.ts'

// Tables that only grow have a partition a month, by the time in a row's id or by its `created_at`, in UTC.
// The name of a partition ends with its last month, as in `changes_2027_01`. `changes_default` takes what
// belongs to no other, and is what the others are made like.

type Run = (statement: string) => Promise<Record<string, unknown>[]>

/** Tables with a partition a month: the column that it follows from, an id of a change or a time, and the table
 *  whose rows are locked before rows of it are written. */
const tables = {
  webhook_deliveries: { key: 'change_id', after: null },
  changes: { key: 'id', after: null },
  provider_events: { key: 'created_at', after: 'payments' },
  check_ins: { key: 'created_at', after: 'tickets' },
} as const

export type MonthlyTable = keyof typeof tables

/** Deliveries come before the changes that they are of. */
export const monthlyTables = Object.keys(tables) as MonthlyTable[]

/** A partition other than the default one. Its last month as `2027_01`. */
export type Partition = { table: MonthlyTable; name: string; lastMonth: string }

/** Number of months after the current one that partitions are made for. */
const monthsAhead = 3

/** Partitions of all tables, the oldest first of each. */
export const partitionsQuery = `
  select parent.relname as table, child.relname as name, right(child.relname, 7) as "lastMonth"
  from pg_inherits join pg_class as parent on parent.oid = inhparent join pg_class as child on child.oid = inhrelid
  where inhparent in (${monthlyTables.map((table) => `to_regclass('${table}')`).join(', ')})
    and child.relname !~ '_default$'
  order by 1, 3`

/** Start of a month, or of one some months later. */
export const monthAfter = (month: string, later: number): Date => {
  const [year = 0, number = 0] = month.split('_').map(Number)
  return new Date(Date.UTC(year, number - 1 + later, 1))
}
const nameOf = (start: Date): string => start.toISOString().slice(0, 7).replace('-', '_')

/** First key of a table's rows from a time on, as a literal. */
export const boundOf = (table: MonthlyTable, time: Date): string => {
  const { key } = tables[table]
  return key === 'created_at' ? `'${time.toISOString()}'` : `'${idsFrom('chg', time.getTime())}'`
}

/** First key after the rows of a partition, as a literal. */
export const endOf = ({ table, lastMonth }: Partition): string => boundOf(table, monthAfter(lastMonth, 1))

/** Time to wait for a lock: shorter than that after which PostgreSQL looks for deadlocks, so that this gives
 *  way, and not a sale. */
export const lockTimeout = '500ms'

// In one transaction. Not analyzed: PostgreSQL expects rows in a new table, and none in one that it found
// empty, so that it would scan the month as it fills. Rows of the month that were written before it was there
// are in the default partition, which is locked first, so that none is written there meanwhile. A cluster must
// do all of it on one connection for each server; elsewhere its setting means nothing.
function creation(table: MonthlyTable, month: string): string {
  const { key, after } = tables[table]
  const name = `${table}_${month}`
  const other = `${table}_default`
  const [from, to] = [boundOf(table, monthAfter(month, 0)), boundOf(table, monthAfter(month, 1))]
  return `do $$ begin
    perform set_config('lock_timeout', '${lockTimeout}', true);
    perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
    if to_regclass('${name}') is null then
      ${after ? `lock table ${after} in share row exclusive mode;` : ''}
      lock table ${other} in access exclusive mode;
      create table ${name} (like ${other} including all excluding constraints);
      with moved as (delete from ${other} where ${key} >= ${from} and ${key} < ${to} returning *)
      insert into ${name} select * from moved;
      alter table ${table} attach partition ${name} for values from (${from}) to (${to});
    end if;
  end $$`
}

/** Makes the partitions of the current month and the next three, by the database's clock, where they are
 *  missing. Safe to repeat, and in several processes at once. Returns the names of those that were missing.
 *  Throws 55P03 where it would wait for a lock longer than half a second: try again later. */
export async function makeMonths(run: Run): Promise<string[]> {
  const partitions = (await run(partitionsQuery)) as Partition[]
  const [clock] = await run(`select to_char(now() at time zone 'utc', 'YYYY_MM') as month`)
  const last = nameOf(monthAfter(String(clock?.month), monthsAhead))
  const made: string[] = []
  for (const table of monthlyTables) {
    const covered = partitions.findLast((partition) => partition.table === table)?.lastMonth
    // A table that is not partitioned yet.
    if (covered === undefined) continue
    for (let later = 1; nameOf(monthAfter(covered, later)) <= last; later++) {
      const month = nameOf(monthAfter(covered, later))
      await run(creation(table, month))
      made.push(`${table}_${month}`)
    }
  }
  return made
}
