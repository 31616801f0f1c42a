import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { type DatabaseOptions, isTrue, logger, type OpenDatabase, readiness } from './database.ts'
import { migratePostgres } from './migrate-postgres.ts'
import { driverOver } from './pool/drizzle-driver.ts'
import { hostFinder } from './pool/find-host.ts'
import { openPool } from './pool/pool.ts'

// Nobody waits for the database longer than this, in milliseconds:
// a stuck statement must not hold a connection or a row.
const deadlinesOf = (statementTimeoutMs: number) => ({
  statement_timeout: statementTimeoutMs,
  lock_timeout: Math.round((statementTimeoutMs * 2) / 3),
  idle_in_transaction_session_timeout: statementTimeoutMs,
})
const defaultTimeoutMs = 15_000

// PostgreSQL ends a session within some ten seconds that nobody is at the other side of any more. Between a statement's
// description and its execution it knows no deadline, and would keep a row locked until the system gives up, in hours.
const tcp = {
  tcp_keepalives_idle: 4,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 10_000,
}

// Milliseconds that an answer may be on its way, on top of what the statement may take.
const onTheWayMs = 500
// `/ready` is asked by who has little patience.
const readinessTimeoutMs = 2_000

// Two connections are never a transaction's, so that those who only read don't wait behind those who wait for a row.
const limits = { max: 10, maxReserved: 8, maxPipeline: 16 }

// Whatever the role, the database and the server have for their own.
const formats = { TimeZone: 'UTC', DateStyle: 'ISO' }

const driver = {
  connect_timeout: 3,
  onnotice: () => {},
  // The pool bounds it. Its types don't know the option.
  max_pipeline: 1_000_000,
  // The pool ends connections that are old, once they are idle: the driver would refuse what comes meanwhile.
  max_lifetime: null,
}

// The role has them from its next connection on, so this one is given them as well.
const giveDeadlines = sql.raw(`do $$ begin
  ${Object.entries({ ...deadlinesOf(defaultTimeoutMs), ...tcp })
    .map(
      ([name, value]) =>
        `execute format('alter role current_user in database %I set ${name} = ${value}', current_database());
  perform set_config('${name}', '${value}', false);`,
    )
    .join('\n  ')}
end $$`)

const everyDeadline = sql.raw(
  Object.keys(deadlinesOf(defaultTimeoutMs))
    .map((name) => `current_setting('${name}') <> '0'`)
    .join(' and '),
)

/** Where PostgreSQL is. */
export type PostgresAddress = {
  url: string
  /** Whether a pooler at `url` gives its connections to one transaction after another. */
  isPooled: boolean
  /** The database itself, for what needs a session; `url` where that is no pooler. */
  directUrl: string | undefined
  /** Whether it is only read, and so may be a standby. */
  isOnlyRead?: boolean
}

/** What the driver makes of an address. It opens nothing. Of several hosts one that takes writes is meant, unless the
 *  address says otherwise, or is only read. */
function settingsOf(url: string, isOnlyRead: boolean, options: object): postgres.Sql['options'] {
  const { options: settings } = postgres(url, { ...driver, ...options, max: 1 })
  const wanted =
    settings.target_session_attrs ?? (settings.host.length > 1 && !isOnlyRead ? 'read-write' : null)
  return Object.assign(settings, { target_session_attrs: wanted })
}

/** Opens PostgreSQL: ten connections, made as they are needed, and one to ask it whether it is ready. */
export function openPostgres(
  { url, isPooled, directUrl, isOnlyRead = false }: PostgresAddress,
  options: DatabaseOptions,
): OpenDatabase {
  const { statementTimeoutMs = defaultTimeoutMs } = options
  // What is prepared on one of a pooler's connections is not there on the next, and it refuses to begin with deadlines.
  const settings = settingsOf(
    url,
    isOnlyRead,
    isPooled
      ? { connection: formats, prepare: false }
      : { connection: { ...deadlinesOf(statementTimeoutMs), ...tcp, ...formats } },
  )
  const findHost = hostFinder(settings)
  const pool = openPool({
    ...{ settings, findHost, ...limits },
    // Without a name a statement is first described and then, in a second message, bound and executed. A pooler that is
    // told of an end between the two, because another statement went before on the same connection, takes its own
    // connection back and the second message is lost.
    ...(isPooled && { maxPipeline: 1 }),
    timeoutMs: statementTimeoutMs + onTheWayMs,
  })
  const db = drizzle(driverOver(settings, pool), { logger: logger(options) })
  // One of its own, so that it never stands behind others.
  const alone = { max: 1, maxReserved: 1, maxPipeline: 1, timeoutMs: readinessTimeoutMs }
  const own = openPool({ settings, findHost, ...alone })
  const ask = readiness(drizzle(driverOver(settings, own)), { isOnlyRead })
  let asking: ReturnType<typeof ask> | null = null

  async function whyUnready() {
    asking ??= ask().finally(() => {
      asking = null
    })
    const unready = await asking
    // Somewhere else there may be a primary by now.
    if (unready?.reason === 'READ_ONLY') for (const of of [pool, own]) of.renew()
    return unready
  }

  return {
    db,
    async migrate(onWait) {
      if (isPooled && !directUrl)
        throw new Error(
          'DIRECT_DATABASE_URL: migrations hold a lock for a session, which a pooler of transactions has none of; set it to the address of the database itself',
        )
      const address = directUrl ?? url
      const host = await hostFinder(settingsOf(address, false, {}))()
      await migratePostgres(address, { host, onWait })
      // Through the pooler, for that is who the service is to the database.
      if (isPooled) await db.execute(giveDeadlines)
    },
    ready: async () => (await whyUnready()) === null,
    whyUnready,
    hasStatementTimeouts: () => isTrue(db, everyDeadline),
    replica: () => db,
    followReplicas: async () => {},
    async close() {
      await Promise.all([pool.close(5), own.close(1)])
    },
  }
}
