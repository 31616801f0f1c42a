import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { type Database, perDatabase, runSql } from '../database/database.ts'

type Found = { isWhole: boolean; ids: string[] }

// Distributed tables lie together, so any of them tells where. Asks each server over the connection to it that the session
// at the coordinator keeps: one that is away costs the others no new session.
const findLiving = sql`
  with one as (
    select min(logicalrelid::oid)::regclass as name from pg_dist_partition where partmethod = 'h'
  ), parts as (
    select shardid, groupid from pg_dist_shard join pg_dist_placement using (shardid)
    where logicalrelid = (select name from one)
  ), servers as materialized (
    select groupid, citus_check_connection_to_node(nodename, nodeport) as answers from pg_dist_node
    where noderole = 'primary' and groupid in (select groupid from parts)
  )
  select (select bool_and(answers) from servers) as "isWhole", array(
    select id from organizations
      join parts on shardid = get_shard_id_for_distribution_column((select name from one), id)
      join servers using (groupid) where answers
  ) as ids`

// Pauses between two questions: while a server is away each is twice as long as the one before.
const pausesMs = { first: 1_000, last: 8_000 }

/** Knows for a cluster which organizations have a server that answers. Servers are asked once a question to all of them
 *  has failed, and then again and again until all answer: at most once a second, whoever asks. */
export const livingOrganizations = perDatabase((db: Database) => {
  let living: string[] | null = null
  let pauseMs = pausesMs.first
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | undefined

  async function ask(): Promise<void> {
    try {
      const [{ isWhole, ids }] = (await runSql<Found>(db, findLiving)) as [Found]
      pauseMs = isWhole ? pausesMs.first : Math.min(pausesMs.last, living ? pauseMs * 2 : pauseMs)
      living = isWhole ? null : ids
    } finally {
      askedAt = performance.now()
      asking = undefined
    }
  }
  const askAfter = (ms: number): Promise<void> | undefined => {
    if (performance.now() - askedAt >= ms) asking ??= ask()
    return asking
  }

  return {
    /** Condition that a row of `column` is of an organization whose server answered last. A server's return is noticed
     *  by the next question but one, which waits for nothing. */
    areOn(column: PgColumn): SQL {
      if (living) askAfter(pauseMs)?.catch(() => {})
      return living ? sql`${column} = any(${sql.param(living)}::text[])` : sql`true`
    },
    /** Asks the servers after a question to them has failed, unless they were asked within the last second. */
    askAgain: async (): Promise<void> => askAfter(pausesMs.first),
  }
})
