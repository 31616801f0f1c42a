import type { PgSession, PreparedQueryConfig } from 'drizzle-orm/pg-core'
import { type Database, databaseCode, type OpenDatabase, type ReplicaStatus } from './database.ts'

// Milliseconds. Who waits longer for a replica asks the primary; it is then left alone until it answers again.
const timeoutMs = 2_000
const betweenChecks = 5_000
const betweenTellings = 60_000

type Replica = { db: Database; isUp: boolean; rest(error: unknown): void }

type Asked<Config extends PreparedQueryConfig> = Parameters<typeof PgSession.prototype.prepareQuery<Config>>

function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('a replica does not answer')), timeoutMs)
  })
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}

/** Lets the primary answer what a replica does not, whatever the reason: what is wrong with the statement itself, the
 *  primary says as well. */
function fallBack(replica: Replica, primary: Database): void {
  const { session } = replica.db._
  const prepareThere = session.prepareQuery.bind(session)
  const prepareHere = primary._.session.prepareQuery.bind(primary._.session)
  session.prepareQuery = <Config extends PreparedQueryConfig>(...query: Asked<Config>) => {
    const there = prepareThere<Config>(...query)
    // What reads for a client is named. What has no name asks how the replica itself is.
    if (query[2] === undefined) return there
    const here = prepareHere<Config>(...query)
    const ask = there.execute.bind(there)
    there.execute = async (values) => {
      if (!replica.isUp) return here.execute(values)
      try {
        return await inTime(ask(values))
      } catch (error) {
        const answer = await here.execute(values)
        replica.rest(error)
        return answer
      }
    }
    return there
  }
}

/** The primary with replicas to read the catalogue from. Drizzle's own choose one as a statement is built, and ours are
 *  built once. A replica is read from once it was seen to answer with its tables up to date. */
export function withReplicas(primary: OpenDatabase, opened: OpenDatabase[]): OpenDatabase {
  let tell: (news: ReplicaStatus) => void = () => {}
  let turn = 0
  let closed = false

  const follow = ({ db, ready }: OpenDatabase, number: number): Replica & { check(): Promise<void> } => {
    let toldAt = 0
    const say = (isUp: boolean, code?: string) => {
      toldAt = Date.now()
      tell({ replica: number, isUp, code })
    }
    const replica = {
      db,
      isUp: false,
      rest(error: unknown) {
        if (replica.isUp) say(false, databaseCode(error))
        replica.isUp = false
      },
      async check() {
        const isUp = await inTime(ready()).catch(() => false)
        if (closed) return
        if (isUp !== replica.isUp || (!isUp && Date.now() - toldAt > betweenTellings)) say(isUp)
        replica.isUp = isUp
        setTimeout(replica.check, betweenChecks).unref()
      },
    }
    fallBack(replica, primary.db)
    return replica
  }
  const replicas = opened.map((database, index) => follow(database, index + 1))
  return {
    ...primary,
    replica() {
      const up = replicas.filter(({ isUp }) => isUp)
      return up[turn++ % up.length]?.db ?? primary.db
    },
    async followReplicas(onStatus) {
      tell = onStatus
      await Promise.all(replicas.map(({ check }) => check()))
    },
    async close() {
      closed = true
      await Promise.all([primary, ...opened].map((database) => database.close()))
    },
  }
}
