import { chown, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  findProgram,
  findUser,
  freePort,
  makeFolder,
  spawnManaged,
} from '../support/setup/managed-process.ts'

export type Pgbouncer = {
  /** Connection string of the same database and user through PgBouncer. */
  url: string
  /** Suspends or resumes it. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  stop(): Promise<void>
}

// Below the root of the repository, where tests and the bench, which compiles this file elsewhere, run.
const deployed = 'deploy/pgbouncer/pgbouncer.ini'

/** Writes the configuration that compose.yaml uses, with some lines of its own. */
async function configure(databases: string, settings: Record<string, string>): Promise<string> {
  const text = await readFile(deployed, 'utf8')
  const lines = text.split('\n').filter((line) => !/^(;|boxoffice\b|\[databases\])/.test(line))
  const kept = lines.filter((line) => !((line.split(' = ')[0] ?? '') in settings))
  const own = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  return ['[databases]', databases, ...kept, ...own, ''].join('\n')
}

/** Starts PgBouncer (Debian's package `pgbouncer`) as compose.yaml does, in front of a database, with at most
 *  `poolSize` server connections, and with further settings. */
export async function startPgbouncer(
  databaseUrl: string,
  poolSize: number,
  given: Record<string, string> = {},
): Promise<Pgbouncer> {
  const program = await findProgram('pgbouncer')
  if (!program)
    throw new Error('PgBouncer is missing. Install the package pgbouncer: apt-get install pgbouncer')
  const user = await findUser()
  const folder = await makeFolder('pgbouncer', user)
  const { hostname, port, username, password } = new URL(databaseUrl)
  const ownPort = await freePort()
  const files = {
    'users.txt': `"${username}" "${password}"\n`,
    'pgbouncer.ini': await configure(`* = host=${hostname} port=${port}`, {
      listen_addr: '127.0.0.1',
      listen_port: String(ownPort),
      unix_socket_dir: '',
      auth_file: join(folder, 'users.txt'),
      default_pool_size: String(poolSize),
      ...given,
    }),
  }
  try {
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(folder, name), text, { mode: 0o600 })
      if (user) await chown(join(folder, name), user.uid, user.gid)
    }
    const stop = await spawnManaged(program, [join(folder, 'pgbouncer.ini')], {
      folder,
      user,
      signal: 'TERM',
      readyText: 'process up',
    })
    const url = new URL(databaseUrl)
    url.port = String(ownPort)
    const signal: Pgbouncer['signal'] = (name) => {
      if (stop.pid) process.kill(stop.pid, name)
    }
    return {
      url: url.href,
      signal,
      async stop() {
        // A suspended process does not handle signals.
        signal('SIGCONT')
        await stop()
      },
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}
