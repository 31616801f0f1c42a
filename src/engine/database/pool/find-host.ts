import postgres from 'postgres'
import { makeOnce } from '../../base/make-once.ts'
import { withTimeout } from '../../base/timers.ts'
import { connectionError } from './failures.ts'

/** Address of a PostgreSQL server: host and port, or the path of a Unix socket. */
export type Host = { host: string; port: number; path: string | undefined }
/** Finds the host to connect to, and keeps it until `forget`. */
export type FindHost = (() => Promise<Host>) & { forget(): void }

type Settings = postgres.Sql['options']
type Attributes = NonNullable<Settings['target_session_attrs']>
type Server = { isStandby: boolean; isReadOnly: boolean }

// A host that takes longer is skipped.
const probeTimeoutSeconds = 2

const fits: Record<Attributes, (server: Server) => boolean> = {
  'read-write': ({ isReadOnly }) => !isReadOnly,
  'read-only': ({ isReadOnly }) => isReadOnly,
  primary: ({ isStandby }) => !isStandby,
  standby: ({ isStandby }) => isStandby,
  'prefer-standby': ({ isStandby }) => isStandby,
}

async function probe(settings: Settings, { host, port }: Host): Promise<Server> {
  const single = {
    host: [host],
    port: [port],
    max: 1,
    connect_timeout: probeTimeoutSeconds,
    fetch_types: false,
  }
  const client = postgres({ ...settings, ...single, target_session_attrs: null } as object)
  const late = () => {
    throw connectionError(`${host} does not answer`, 'CONNECT_TIMEOUT')
  }
  try {
    const answer = client<[Server]>`select pg_is_in_recovery() as "isStandby",
      current_setting('transaction_read_only') = 'on' as "isReadOnly"`
    const [server] = await withTimeout(probeTimeoutSeconds * 1000, answer, late)
    return server
  } finally {
    void client.end({ timeout: 0 })
  }
}

/** Creates a function that finds the host to connect to, as libpq does: the first that answers and matches
 *  `target_session_attrs`. A single host without that attribute is not probed. The result is cached until
 *  `forget`. The driver's own search (3.4.9) retries refusing hosts in an endless loop without a pause, and
 *  accepts a standby for `read-write`. Fails with the last host's error, or with CONNECTION_NO_HOST if all
 *  answered and none matches. */
export function hostFinder(settings: Settings): FindHost {
  const { path, target_session_attrs: wanted } = settings
  const hosts = settings.host.map((host, index) => ({ host, port: settings.port[index] ?? 5432, path }))
  const [only] = hosts

  async function search(): Promise<Host> {
    let failure: unknown = connectionError(`no host of the database is ${wanted}`, 'CONNECTION_NO_HOST')
    let alternative: Host | undefined
    for (const host of hosts)
      try {
        const server = await probe(settings, host)
        if (!wanted || fits[wanted](server)) return host
        alternative ??= host
      } catch (error) {
        failure = error
      }
    if (alternative && wanted === 'prefer-standby') return alternative
    throw failure
  }

  let found = makeOnce(search)
  const find = async () => (only && hosts.length === 1 && (!wanted || path) ? only : found())
  return Object.assign(find, {
    forget() {
      found = makeOnce(search)
    },
  })
}
