import {
  boundOf,
  endOf,
  type MonthlyTable,
  monthAfter,
  type Partition,
  partitionsQuery,
} from '../../src/database/months.ts'
import { runSql } from '../../src/database/run-sql.ts'
import { idsFrom } from '../../src/shared/ids.ts'
import type { Sale } from './sale.ts'

// Months that ended long ago, for tests of what happens to them.

type Db = Pick<Sale, 'db'>

export const partitionsOf = async ({ db }: Db, table: MonthlyTable): Promise<string[]> =>
  (await runSql<Partition>(db, partitionsQuery))
    .filter((partition) => partition.table === table)
    .map(({ name }) => name)

const oldMonth = '2020_01'
/** Name of the partition that `addOldMonth` makes. */
export const oldPartition = (table: MonthlyTable): string => `${table}_until_${oldMonth}`

/** Gives a table a first partition that ended in January 2020, as years of use leave it, or later. */
export async function addOldMonth(
  { db }: Db,
  table: MonthlyTable,
  end = monthAfter(oldMonth, 1),
): Promise<void> {
  const [first] = (await runSql<Partition>(db, partitionsQuery)).filter((each) => each.table === table)
  if (!first) throw new Error(`${table} has no partition`)
  const from = boundOf(table, end)
  for (const statement of [
    `alter table ${table} detach partition ${first.name}`,
    `create table ${oldPartition(table)} (like ${table}_default including all excluding constraints)`,
    `alter table ${table} attach partition ${oldPartition(table)} for values from (minvalue) to (${from})`,
    `alter table ${table} attach partition ${first.name} for values from (${from}) to (${endOf(first)})`,
  ])
    await runSql(db, statement)
}

const then = new Date('2020-01-15T12:00:00Z')
const head = idsFrom('chg', then.getTime())

/** Moves all changes, and the deliveries of them, to January 2020. They keep their order. */
export async function ageChanges({ db }: Db): Promise<void> {
  await runSql(db, `update changes set id = '${head}' || substr(id, ${head.length + 1})`)
  await runSql(
    db,
    `update webhook_deliveries set change_id = '${head}' || substr(change_id, ${head.length + 1})`,
  )
}

/** Moves all rows of a table to January 2020, or to a later time. */
export const ageRows = ({ db }: Db, table: 'check_ins' | 'provider_events', at = then) =>
  runSql(db, `update ${table} set created_at = '${at.toISOString()}'`)
