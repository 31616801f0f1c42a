import type { RunStatement } from './migrate.ts'

// With statistics as fine as PostgreSQL's own, of 100 values a column, an analysis of 20,000 rows takes half a second.
/** Settings of the session that keeps up the embedded database. */
export const upkeepSettings = { default_statistics_target: 5 }

const walBytes = 8e6
// PostgreSQL's own tables have lower ones.
const firstOwnOid = 16_384

// Steps are due after changes of a twentieth of a table, which makes them short: pages that nobody wrote since are skipped.
// Counts are lost when the process ends, so each table is visited once after a start.
const mostUrgent = `
  with tables as (
    select relid::regclass as name, relid >= ${firstOwnOid} and pg_relation_size(relid) > 0 as is_ours,
      500 + greatest(reltuples, 0) / 20 as enough, n_dead_tup + n_ins_since_vacuum as unseen, last_vacuum,
      n_mod_since_analyze as changed, last_analyze
    from pg_stat_all_tables join pg_class on oid = relid where relkind = 'r'),
  steps as (
    select 'vacuum ' || name as step, greatest(unseen / enough, (is_ours and last_vacuum is null)::integer) as urgency from tables
    union all
    select 'analyze ' || name, greatest(changed / enough, (last_analyze is null)::integer) from tables where is_ours
    union all
    select 'checkpoint', (pg_current_wal_insert_lsn() - redo_lsn) / ${walBytes} from pg_control_checkpoint())
  select step from steps where urgency >= 1 order by urgency desc limit 1`

/** Does the most urgent of what autovacuum and the checkpointer do on a server, if any is due: a vacuum or an analysis of one
 *  table, or a checkpoint. It is one statement, behind which all others wait. */
export async function keepUp(run: RunStatement): Promise<void> {
  const [due] = await run(mostUrgent)
  if (due) await run(String(due.step))
}
