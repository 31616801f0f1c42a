import { setTimeout } from 'node:timers/promises'
import postgres from 'postgres'
import { type MigrateOptions, type MigrationSession, migrate } from './migrate.ts'
import type { Host } from './pool/find-host.ts'

// Any number will do, as long as every version of this service takes the same one.
const migrationLock = 7_264_337

// Milliseconds between looks at whether another has done migrating. To wait inside of a statement would keep a snapshot,
// and an index that the other makes concurrently waits for all older ones to end.
const lockPollMs = 200

// A session that is lost takes its lock with it, and the driver would go on in a new one by itself.
function openSession(
  url: string,
  host: Host | undefined,
): { session: MigrationSession; end(): Promise<void> } {
  let isLost = false
  const client = postgres(url, {
    ...(host && !host.path && { host: host.host, port: host.port, target_session_attrs: undefined }),
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => {},
    onclose: () => {
      isLost = true
    },
  })
  return {
    session: {
      async run(statement) {
        if (isLost) throw new Error('The connection was lost while migrating: migrate again.')
        return await client.unsafe<Record<string, unknown>[]>(statement)
      },
    },
    end: () => client.end({ timeout: 1 }),
  }
}

/** Brings the tables up to date, on a connection of its own that no deadline ends. Other processes that begin to
 *  migrate wait until this is done, however long it takes. `url` must lead to the database itself, because the lock is a
 *  session's; `host` is the one of its hosts that takes writes. */
export async function migratePostgres(
  url: string,
  { host, ...options }: MigrateOptions & { host?: Host } = {},
): Promise<void> {
  const { session, end } = openSession(url, host)
  const isLocked = async () => {
    const [row] = await session.run(`select pg_try_advisory_lock(${migrationLock}) as locked`)
    return row?.locked === true
  }
  try {
    await session.run('set statement_timeout = 0')
    await session.run('set lock_timeout = 0')
    await session.run('set idle_in_transaction_session_timeout = 0')
    while (!(await isLocked())) await setTimeout(lockPollMs)
    await migrate(session, options)
  } finally {
    await end()
  }
}
