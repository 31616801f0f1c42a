import postgres from 'postgres'

/** Where PostgreSQL listens: a host and port, or the path of a Unix socket. */
export type Host = { host: string; port: number; path: string | undefined }
export type FindHost = () => Promise<Host>

type Settings = postgres.Sql['options']
type Attributes = NonNullable<Settings['target_session_attrs']>
type Server = { isStandby: boolean; isReadOnly: boolean }

// Seconds. A host that takes longer is passed over.
const probeTimeout = 2

const fits: Record<Attributes, (server: Server) => boolean> = {
  'read-write': ({ isReadOnly }) => !isReadOnly,
  'read-only': ({ isReadOnly }) => isReadOnly,
  primary: ({ isStandby }) => !isStandby,
  standby: ({ isStandby }) => isStandby,
  'prefer-standby': ({ isStandby }) => isStandby,
}

async function probe(settings: Settings, { host, port }: Host): Promise<Server> {
  const own = { host: [host], port: [port], max: 1, connect_timeout: probeTimeout, fetch_types: false }
  const client = postgres({ ...settings, ...own, target_session_attrs: null } as object)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const error = Object.assign(new Error(`${host} does not answer`), { code: 'CONNECT_TIMEOUT' })
    timer = setTimeout(() => reject(error), probeTimeout * 1000)
  })
  try {
    const asked = client`select pg_is_in_recovery() as "isStandby",
      current_setting('transaction_read_only') = 'on' as "isReadOnly"`
    const [server] = await Promise.race([asked, late])
    return { isStandby: server?.isStandby === true, isReadOnly: server?.isReadOnly === true }
  } finally {
    clearTimeout(timer)
    void client.end({ timeout: 0 })
  }
}

/** Finds the host to connect to, as libpq does: the first in the address that answers and is as
 *  `target_session_attrs` says. One host without it is taken as it is. What was found holds until `forget`. The driver
 *  (3.4.9) does this as well, but tries hosts that refuse without a pause or an end, and takes a standby for
 *  `read-write`.
 *  Fails with the last host's error, or with CONNECTION_NO_HOST where all answered and none is as wanted. */
export function hostFinder(settings: Settings): FindHost & { forget(): void } {
  const { path, target_session_attrs: wanted } = settings
  const hosts = settings.host.map((host, index) => ({ host, port: settings.port[index] ?? 5432, path }))
  const [only] = hosts
  let found: Promise<Host> | null = null

  async function search(): Promise<Host> {
    let failure: unknown = Object.assign(new Error(`no host of the database is ${wanted}`), {
      code: 'CONNECTION_NO_HOST',
    })
    let second: Host | undefined
    for (const host of hosts)
      try {
        const server = await probe(settings, host)
        if (!wanted || fits[wanted](server)) return host
        second ??= host
      } catch (error) {
        failure = error
      }
    if (second && wanted === 'prefer-standby') return second
    throw failure
  }

  const find = async () => {
    if (only && hosts.length === 1 && (!wanted || path)) return only
    found ??= search()
    const searching = found
    searching.catch(() => {
      if (found === searching) found = null
    })
    return searching
  }
  return Object.assign(find, {
    forget() {
      found = null
    },
  })
}
