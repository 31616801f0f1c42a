import { setTimeout } from 'node:timers/promises'
import postgres from 'postgres'
import type { RunStatement } from './migrate.ts'
import type { Host } from './pool/find-host.ts'

/** The host of a URL's that accepts writes, and the driver's setting of TLS. */
type Server = { host?: Host; ssl?: postgres.Sql['options']['ssl'] }

// Arbitrary, but every version of this service must use the same number.
const migrationLock = 7_264_337

// Polled instead of waiting inside a statement: that would hold a snapshot, and `create index concurrently`
// in the other process waits for all older snapshots.
const lockPollMs = 200

// Sent when connecting, so that a pooler refuses the connection: the lock belongs to a session. Written as
// texts, because the driver leaves out a 0.
const noTimeouts = { statement_timeout: '0', lock_timeout: '0', idle_in_transaction_session_timeout: '0' }

// A lost session loses its lock, but the driver would silently continue in a new session. So a loss is final.
function openSession(url: string, { host, ssl }: Server) {
  let isLost = false
  const client = postgres(url, {
    // Lists, because the driver takes an address of IPv6 for a name and a port; its types know none.
    ...((host &&
      !host.path && { host: [host.host], port: [host.port], target_session_attrs: null }) as object),
    ...(ssl !== undefined && { ssl }),
    connection: noTimeouts as object,
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => {},
    onclose: () => {
      isLost = true
    },
  })
  const run: RunStatement = async (statement) => {
    if (isLost) throw new Error('The connection was lost while migrating: migrate again.')
    return await client.unsafe<Record<string, unknown>[]>(statement)
  }
  return { run, end: () => client.end({ timeout: 1 }) }
}

/** Does work on the tables, such as a migration, on a connection of its own, without timeouts. Other processes
 *  that start to migrate wait until this is done, however long it takes. `url` must be the database itself,
 *  not a pooler, because the lock belongs to a session. */
export async function migratePostgres<Result>(
  url: string,
  server: Server,
  work: (run: RunStatement) => Promise<Result>,
): Promise<Result> {
  const { run, end } = openSession(url, server)
  const isLocked = async () => {
    const [row] = await run(`select pg_try_advisory_lock(${migrationLock}) as locked`)
    return row?.locked === true
  }
  try {
    while (!(await isLocked())) await setTimeout(lockPollMs)
    return await work(run)
  } finally {
    await end()
  }
}
