import { instruments } from '../base/instruments.ts'
import { type Distribution, distributedComment, distributingComment } from './database.ts'
import type { RunStatement } from './migrate.ts'

const noExtension =
  'The database has no Citus extension. Install Citus on every server, run «create extension citus» in this database on each, and add the workers (citus_set_coordinator_host, citus_add_node): docs/scaling.md shows how.'

// Tables whose primary key contains the organization are spread by it, and lie together for each. Every server
// has a copy of all others, and of those that are to be copied nevertheless. Leases of processes stay where the processes ask.
const tablesBut = (copied: readonly string[]) => `
  select class.oid::regclass::text as name,
    class.relname not in (${copied.map((name) => `'${name}'`).join(', ')}) and exists (select from pg_attribute
      where attrelid = class.oid and attnum = any(key.conkey) and attname = 'organization_id') as is_spread,
    exists (select from pg_dist_partition where logicalrelid = class.oid) as is_done, pg_relation_size(class.oid) > 0 as has_rows
  from pg_class as class join pg_constraint as key on key.conrelid = class.oid and key.contype = 'p'
  where class.relnamespace = 'public'::regnamespace and class.relname <> 'leaders'
  order by is_spread, name`

// The table that tells how far they are.
const marked = 'drizzle.__drizzle_migrations'

type FoundTable = { name: string; is_spread: boolean; is_done: boolean; has_rows: boolean }

// A foreign key can't join a table that is distributed to one that is not yet: all are taken off, kept in a
// table, and put back at the end.
const keptKeys = 'drizzle.kept_foreign_keys'
const keepKeys = [
  `create table if not exists ${keptKeys} (name text, of text, definition text, primary key (of, name))`,
  `insert into ${keptKeys} select conname, conrelid::regclass::text, pg_get_constraintdef(oid) from pg_constraint
    where contype = 'f' and connamespace = 'public'::regnamespace on conflict do nothing`,
]
const missingKeys = `
  select format('alter table %s add constraint %I %s', of, name, definition) as statement from ${keptKeys} as kept
  where not exists (select from pg_constraint where conname = name and conrelid = of::regclass)`
const presentKeys = `
  select format('alter table %s drop constraint %I', conrelid::regclass, conname) as statement from pg_constraint
  where contype = 'f' and connamespace = 'public'::regnamespace`

// Triggers do not run on distributed tables: those of revisions do what an import does itself there.
const triggers = `
  select format('drop trigger %I on %s', tgname, tgrelid::regclass) as statement from pg_trigger
  where not tgisinternal and tgrelid::regclass::text in (select relname from pg_class where relnamespace = 'public'::regnamespace)
    and tgname !~ 'citus'`

async function runEach(run: RunStatement, query: string): Promise<void> {
  for (const { statement } of await run(query)) await run(String(statement))
}

// Functions whose first argument is the organization run on the server that has its rows, in a transaction as well.
const functionsBeside = (table: string) => `
  select format('select create_distributed_function(%L, %L, colocate_with => %L, force_delegation => true)',
    oid::regprocedure, 'org', '${table}') as statement from pg_proc
  where pronamespace = 'public'::regnamespace and proargnames[1] = 'org' and not exists (
    select from pg_dist_object where objid = pg_proc.oid and distribution_argument_index is not null)`

/** Distributes the tables over the servers of a Citus cluster, with all that they contain, and leaves no copy of them
 *  on the coordinator. Every server gets a copy of those that are `copied`, though they name an organization. Each step is
 *  committed by itself, and a repetition goes on where the last one ended; one that finds everything done changes nothing.
 *  Nothing may be written meanwhile: until the end, the database is not ready. Throws without the extension. */
export async function distribute(run: RunStatement, copied: readonly string[]): Promise<Distribution> {
  const [extension] = await run(`select from pg_extension where extname = 'citus'`)
  if (!extension) throw new Error(noExtension)
  const [state] = await run(`select obj_description('${marked}'::regclass, 'pg_class') as comment`)
  const found = (await run(tablesBut(copied))) as FoundTable[]
  const first = found.find(({ is_spread }) => is_spread)?.name ?? ''
  const functions = functionsBeside(first)
  const open = found.filter(({ is_done, has_rows }) => !is_done || has_rows)
  const distribution = { distributed: 0, reference: 0, done: found.length - open.length }
  if (state?.comment === distributedComment && open.length === 0) {
    await runEach(run, functions)
    return distribution
  }
  await run(`comment on table ${marked} is '${distributingComment}'`)
  for (const statement of keepKeys) await run(statement)
  await runEach(run, presentKeys)
  await runEach(run, triggers)
  for (const { name, is_spread, is_done } of open) {
    const colocated = name === first ? '' : `, colocate_with => '${first}'`
    const create = is_spread
      ? `select create_distributed_table('${name}', 'organization_id'${colocated})`
      : `select create_reference_table('${name}')`
    if (!is_done) await run(create)
    await run(`select truncate_local_data_after_distributing_table('${name}')`)
    distribution[is_spread ? 'distributed' : 'reference']++
    instruments.progress?.('tables', distribution.distributed + distribution.reference, open.length)
  }
  await runEach(run, missingKeys)
  await runEach(run, functions)
  await run('analyze')
  await run(`comment on table ${marked} is '${distributedComment}'`)
  await run(`drop table ${keptKeys}`)
  return distribution
}
