import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import type { PreparedQueryConfig } from 'drizzle-orm/pg-core'
import { errorCode } from '../base/errors.ts'
import { withTimeout } from '../base/timers.ts'
import { type Database, type OpenDatabase, type ReplicaStatus, runSql } from './database.ts'

// A query that takes longer goes to the primary, and the replica is not used again until a check succeeds.
const timeoutMs = 2_000
// Time that a replica has to replay what the primary had written when the check began.
const maxLagMs = 2_000
const checkMs = 5_000
// Minimum interval between two reports that a replica is still down.
const reportMs = 60_000

type Replica = { db: Database; isUp: boolean; markDown(error: unknown): void }

const late = (): never => {
  throw new Error('a replica does not answer')
}

const findPosition = sql`select pg_current_wal_lsn()::text as position`
const compare = (position: string | null) => sql`select pg_is_in_recovery() as "isReplica",
  coalesce(pg_last_wal_replay_lsn() < ${position}::text::pg_lsn, false) as "isBehind"`

/** Finds the reason why a replica is not to be read; null if there is none. How far it is behind is judged by what the
 *  primary has written, and not at all while that doesn't answer: a primary that rests makes no replica late. */
async function findFault(primary: Database, { db, whyUnready }: OpenDatabase): Promise<string | null> {
  const unready = await whyUnready()
  if (unready) return unready.reason
  const found = runSql<{ position: string }>(primary, findPosition).catch(() => [])
  const [written] = await withTimeout(timeoutMs, found, () => [])
  for (const waitMs of [0, maxLagMs]) {
    await pause(waitMs)
    const [is] = await runSql<{ isReplica: boolean; isBehind: boolean }>(
      db,
      compare(written?.position ?? null),
    )
    if (!is?.isReplica) return 'NO_REPLICA'
    if (!is.isBehind) return null
  }
  return 'BEHIND'
}

/** Makes the primary answer queries that fail on the replica, for whatever reason. If the statement itself is
 *  at fault, the primary fails too. */
function fallBackTo(primary: Database, replica: Replica): void {
  const { session } = replica.db._
  const prepareOnReplica = session.prepareQuery.bind(session)
  const prepareOnPrimary = primary._.session.prepareQuery.bind(primary._.session)
  session.prepareQuery = <Config extends PreparedQueryConfig>(
    ...query: Parameters<typeof prepareOnReplica<Config>>
  ) => {
    const onReplica = prepareOnReplica<Config>(...query)
    // Queries for clients have a name. One without a name checks the replica itself.
    if (query[2] === undefined) return onReplica
    const onPrimary = prepareOnPrimary<Config>(...query)
    const execute = onReplica.execute.bind(onReplica)
    onReplica.execute = async (values) => {
      if (!replica.isUp) return onPrimary.execute(values)
      try {
        return await withTimeout(timeoutMs, execute(values), late)
      } catch (error) {
        const answer = await onPrimary.execute(values)
        replica.markDown(error)
        return answer
      }
    }
    return onReplica
  }
}

/** Adds replicas to a primary, for shared reads. Drizzle's own `withReplicas` picks a replica when
 *  a statement is built, and ours are built only once. A replica is used once it has answered with its tables
 *  up to date, as a replica that is not behind. */
export function withReplicas(primary: OpenDatabase, opened: OpenDatabase[]): OpenDatabase {
  let onStatus: (status: ReplicaStatus) => void = () => {}
  let nextReplica = 0
  let closed = false

  const follow = (opened: OpenDatabase, number: number): Replica & { check(): Promise<void> } => {
    let reportedAt = 0
    function become(isUp: boolean, code?: string): void {
      if (isUp !== replica.isUp || (!isUp && Date.now() - reportedAt > reportMs)) {
        reportedAt = Date.now()
        onStatus({ replica: number, isUp, code })
      }
      replica.isUp = isUp
    }
    const replica = {
      db: opened.db,
      isUp: false,
      markDown: (error: unknown) => become(false, errorCode(error)),
      async check() {
        const asked = findFault(primary.db, opened).catch((error) => errorCode(error) ?? 'FAILED')
        const fault = await withTimeout(2 * timeoutMs + maxLagMs, asked, () => 'LATE')
        if (closed) return
        become(fault === null, fault ?? undefined)
        setTimeout(replica.check, checkMs).unref()
      },
    }
    fallBackTo(primary.db, replica)
    return replica
  }
  const replicas = opened.map((database, index) => follow(database, index + 1))
  return {
    ...primary,
    replica() {
      const up = replicas.filter(({ isUp }) => isUp)
      return up[nextReplica++ % up.length]?.db ?? primary.db
    },
    async followReplicas(listener) {
      onStatus = listener
      await Promise.all(replicas.map(({ check }) => check()))
    },
    poolUsage() {
      const usages = { ...primary.poolUsage() }
      for (const [index, { poolUsage }] of opened.entries())
        for (const usage of Object.values(poolUsage()))
          usages[`replica_${index + 1}`] = { ...usage, isRead: replicas[index]?.isUp }
      return usages
    },
    async close() {
      closed = true
      await Promise.all([primary, ...opened].map((database) => database.close()))
    },
  }
}
