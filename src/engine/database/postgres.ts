import { isIP, isIPv6 } from 'node:net'
import { type ConnectionOptions, checkServerIdentity, type PeerCertificate } from 'node:tls'
import { drizzle } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import type { DatabaseConfig } from '../config/database.ts'
import { type DatabaseTls, hostsOf } from '../config/database.ts'
import { announcementsOf } from './announcements.ts'
import {
  type DatabaseOptions,
  logger,
  markServers,
  type OpenDatabase,
  planning,
  readiness,
  runSql,
  takeTurns,
} from './database.ts'
import { distribute } from './distribute.ts'
import { migrate, type RunStatement } from './migrate.ts'
import { migratePostgres } from './migrate-postgres.ts'
import { noLink, openNotifyLink } from './notify-link.ts'
import { clientOver, driverOver } from './pool/drizzle-driver.ts'
import { hostFinder } from './pool/find-host.ts'
import { openPool } from './pool/pool.ts'

type Ssl = postgres.Sql['options']['ssl']

// The driver gives TLS the name of the host, but no address, and TLS then verifies «localhost» instead.
const identityOf = (hosts: string[]) => (name: string, certificate: PeerCertificate) => {
  const wanted = hosts.includes(name) ? [name] : hosts.filter((host) => isIP(host))
  const errors = wanted.map((host) => checkServerIdentity(host, certificate))
  return errors.includes(undefined) ? undefined : (errors[0] ?? checkServerIdentity(name, certificate))
}

/** Returns the driver's setting of TLS for a URL that it has parsed into `settings`. As with libpq, the URL's
 *  `sslmode` wins over the common mode, `require` verifies nothing unless there are authorities of our own,
 *  `verify-ca` verifies the certificate, and `verify-full` its name too. */
function tlsOf(url: string, { ssl, host }: postgres.Sql['options'], tls: DatabaseTls | null): Ssl {
  const [, named] = /[?&]sslmode=([\w-]+)/.exec(url) ?? []
  const mode = named ?? (ssl || tls?.mode || 'disable')
  if (mode === 'disable') return false
  if (mode === 'allow' || mode === 'prefer') return mode
  const { ca, cert, key } = tls ?? {}
  const options: ConnectionOptions = { ca, cert, key }
  if (mode === 'require' && !ca) options.rejectUnauthorized = false
  else if (mode === 'require' || mode === 'verify-ca') options.checkServerIdentity = () => undefined
  else options.checkServerIdentity = identityOf(host)
  return options
}

// A stuck statement must not hold a connection or a row lock for longer.
const timeoutsOf = (statementTimeoutMs: number) => ({
  statement_timeout: statementTimeoutMs,
  lock_timeout: Math.round((statementTimeoutMs * 2) / 3),
  idle_in_transaction_session_timeout: statementTimeoutMs,
})
const defaultTimeoutMs = 15_000

// Makes PostgreSQL end the session of a vanished client within about ten seconds. No timeout of its own
// applies between the describe and execute messages of a statement: it would keep row locks until the kernel
// gives up, hours later.
const tcpKeepalive = {
  tcp_keepalives_idle: 4,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 10_000,
}

// Round trip, on top of the statement timeout.
const roundTripMs = 500
// Callers of `/ready`, such as load balancers, have short timeouts.
const readinessTimeoutMs = 2_000

// Two connections never run transactions, so that reads don't wait behind those that wait for row locks.
const limits = { max: 10, maxReserved: 8, maxPipeline: 16 }

// Overrides the settings of the role, the database and the server.
const formats = { TimeZone: 'UTC', DateStyle: 'ISO' }

const driver = {
  connect_timeout: 3,
  onnotice: () => {},
  // Unlimited here, because the pool limits it. Missing in the driver's types.
  max_pipeline: 1_000_000,
  // The pool retires old connections once they are idle. The driver would refuse statements meanwhile.
  max_lifetime: null,
}

// Settings of a role apply from its next connection on, so they are set for the current session too.
const setRoleSettings = `do $$ begin
  ${Object.entries({ ...timeoutsOf(defaultTimeoutMs), ...tcpKeepalive, ...planning })
    .map(
      ([name, value]) =>
        `execute format('alter role current_user in database %I set ${name} = ${value}', current_database());
  perform set_config('${name}', '${value}', false);`,
    )
    .join('\n  ')}
end $$`

const isTimeoutUnset = Object.keys(timeoutsOf(defaultTimeoutMs)).map(
  (name) => `current_setting('${name}') = '0'`,
)

/** Parses a URL into the driver's settings without connecting. Of several hosts, prefers one that accepts
 *  writes, unless the URL says otherwise or the database is only read. */
function settingsOf(
  url: string,
  { isOnlyRead, tls }: { isOnlyRead: boolean; tls: DatabaseTls | null },
  options: object = {},
): postgres.Sql['options'] {
  const hosts = hostsOf(url)
  // The driver takes an address of IPv6 for a name and a port. Its types know no lists.
  const lists: object = { host: hosts.map(({ host }) => host), port: hosts.map(({ port }) => port) }
  const named = hosts.some(({ host }) => isIPv6(host)) && lists
  const { options: settings } = postgres(url, { ...driver, ...options, ...named, max: 1 })
  const wanted =
    settings.target_session_attrs ?? (settings.host.length > 1 && !isOnlyRead ? 'read-write' : null)
  return Object.assign(settings, { target_session_attrs: wanted, ssl: tlsOf(url, settings, tls) })
}

/** Settings of one PostgreSQL database. */
export type PostgresSettings = Partial<
  Pick<DatabaseConfig, 'databasePooler' | 'directDatabaseUrl' | 'databaseTls'>
>

/** Opens PostgreSQL: up to ten connections, made on demand, one for readiness checks, and one for announcements. With
 *  `isOnlyRead` nothing is written, so that it may be a standby. */
export function openPostgres(
  url: string,
  { databasePooler, directDatabaseUrl: directUrl, databaseTls: tls = null }: PostgresSettings,
  { statementTimeoutMs = defaultTimeoutMs, ...options }: DatabaseOptions,
  isOnlyRead = false,
): OpenDatabase {
  const isPooled = databasePooler === 'transaction'
  // A pooler loses prepared statements between its connections, and refuses other settings in the startup message.
  const settings = settingsOf(
    url,
    { isOnlyRead, tls },
    isPooled
      ? { connection: formats, prepare: false }
      : {
          onnotice: options.onNotice ?? driver.onnotice,
          connection: { ...timeoutsOf(statementTimeoutMs), ...tcpKeepalive, ...planning, ...formats },
        },
  )
  const findHost = hostFinder(settings)
  const pool = openPool({
    settings,
    findHost,
    ...limits,
    // An unnamed statement is described in one message, then bound and executed in a second. With pipelining,
    // an earlier statement on the same connection may end between the two: the pooler then releases its
    // server connection, and the second message is lost.
    ...(isPooled && { maxPipeline: 1 }),
    timeoutMs: statementTimeoutMs + roundTripMs,
  })
  const db = drizzle(driverOver(settings, pool), { logger: logger(options) })
  takeTurns(db, (owner) => clientOver(pool, owner))
  // A connection of their own, so that readiness checks never wait behind other statements.
  const single = { max: 1, maxReserved: 1, maxPipeline: 1, timeoutMs: readinessTimeoutMs }
  const readinessPool = openPool({ settings, findHost, ...single })
  const check = readiness(drizzle(driverOver(settings, readinessPool)), {
    isOnlyRead,
    onServers: (servers) => markServers(db, servers),
  })
  let running: ReturnType<typeof check> | null = null
  const directSettings = isPooled && directUrl ? settingsOf(directUrl, { isOnlyRead, tls }) : settings
  const findDirectHost = isPooled ? hostFinder(directSettings) : findHost
  const announcements = announcementsOf(db)
  const link = isPooled && !directUrl ? noLink : openNotifyLink(announcements, directSettings, findDirectHost)
  announcements.link = link

  async function whyUnready() {
    running ??= check().finally(() => {
      running = null
    })
    const unready = await running
    // After a failover another host may be the primary.
    if (unready?.reason === 'READ_ONLY') for (const each of [pool, readinessPool]) each.renew()
    return unready
  }

  async function exclusively<Result>(work: (run: RunStatement) => Promise<Result>): Promise<Result> {
    if (isPooled && !directUrl)
      throw new Error(
        'DIRECT_DATABASE_URL: migrations hold a session lock, which a transaction pooler does not support; set it to the address of the database itself',
      )
    const address = directUrl ?? url
    const settings = settingsOf(address, { isOnlyRead: false, tls })
    return migratePostgres(address, { host: await hostFinder(settings)(), ssl: settings.ssl }, work)
  }

  return {
    db,
    distribute: (copied) => exclusively((run) => distribute(run, copied)),
    async migrate(onWait) {
      await exclusively((run) => migrate(run, { onWait }))
      // Through the pooler, because the settings belong to the role that the service uses there.
      if (isPooled) await runSql(db, setRoleSettings)
    },
    dump: () => Promise.reject(new Error('PostgreSQL is backed up with pg_dump.')),
    whyUnready,
    async hasStatementTimeouts() {
      const [unset] = await runSql(db, `select 1 where ${isTimeoutUnset.join(' or ')}`).catch(() => [])
      return unset === undefined
    },
    poolUsage: () => ({ primary: pool.usage() }),
    async close() {
      await Promise.all([pool.close(5), readinessPool.close(1), link.close()])
    },
  }
}
