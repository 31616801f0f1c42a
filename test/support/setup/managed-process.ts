import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { access, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import { type Place, temporaryParents } from './temporary-folder.ts'

// Servers that a test starts: each in a temporary folder, on a free port, as a user that it accepts.

const run = promisify(execFile)

/** User that a server runs as; null for the user that runs the tests. */
export type User = { uid: number; gid: number } | null

/** Finds an unprivileged user if the tests run as root, because PostgreSQL refuses to. */
export async function findUser(): Promise<User> {
  if (process.getuid?.() !== 0) return null
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (flag) => Number((await run('id', [flag, 'nobody'])).stdout)),
  )
  if (!uid || !gid) throw new Error('There is no user nobody for a server to run as.')
  return { uid, gid }
}

/** Finds a program under the first of its names in the PATH or in /usr/sbin. */
export async function findProgram(...names: string[]): Promise<string | null> {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  for (const folder of folders)
    for (const name of names) {
      const isThere = await access(join(folder, name), constants.X_OK).then(
        () => true,
        () => false,
      )
      if (isThere) return join(folder, name)
    }
  return null
}

export const succeeds = (file: string, args: string[], user: User): Promise<boolean> =>
  run(file, args, { ...user, cwd: '/' }).then(
    () => true,
    () => false,
  )

// Exits with 0 if its own folder is writable.
const probe = '#!/bin/sh\ntest -w "$(dirname "$0")"\n'

/** Makes a folder that the user owns, can enter and can run programs in. Temporary folders may be closed to
 *  other users, and those in memory mounted noexec. */
export async function makeFolder(name: string, user: User, place?: Place): Promise<string> {
  const parents = await temporaryParents(place)
  for (const parent of parents) {
    const folder = await mkdtemp(join(parent, `boxoffice-${name}-`))
    const program = join(folder, 'probe')
    await writeFile(program, probe, { mode: 0o700 })
    if (user) for (const path of [folder, program]) await chown(path, user.uid, user.gid)
    if (await succeeds(program, [], user)) return folder
    await rm(folder, { recursive: true })
  }
  throw new Error(
    `A server can be kept in none of ${parents.join(', ') || 'the temporary folders'}: set TMPDIR to where it can.`,
  )
}

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}

/** Finds a free port below the ephemeral range, which begins at 32768 on Linux, so that the system gives it
 *  to nobody else meanwhile. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000)
    if (await isFree(port)) return port
  }
}

// Stops the server and removes its folder as soon as the pipe closes, even if the process that holds it was
// killed.
const keeper = `
{ cat; kill -"$SIGNAL" $$; while kill -0 $$; do sleep 0.05; done; rm -rf "$FOLDER"; } >/dev/null 2>&1 <&3 &
exec "$@" 3<&-`

type ManagedOptions = {
  folder: string
  user: User
  /** Signal that stops it. */
  signal: 'QUIT' | 'TERM'
  /** Text in its log that reports readiness. */
  readyText: string
}

/** Stops a server and removes its folder. */
export type Stop = (() => Promise<void>) & { pid: number | undefined }

/** Starts a server that stops with its parent process and removes its folder. Resolves, once it is ready, to
 *  a function that stops it. */
export async function spawnManaged(
  file: string,
  args: string[],
  { folder, user, signal, readyText }: ManagedOptions,
): Promise<Stop> {
  const server: ChildProcess = spawn('sh', ['-c', keeper, 'sh', file, ...args], {
    ...user,
    cwd: folder,
    env: { PATH: process.env.PATH, LC_ALL: 'C', FOLDER: folder, SIGNAL: signal },
    // Ctrl-C in a terminal must end only the tests; the server ends after them.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  })
  const lifeline = server.stdio[3] as Duplex
  await new Promise<void>((resolve, reject) => {
    let log = ''
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-10_000)
      if (log.includes(readyText)) resolve()
    })
    server.once('error', reject)
    server.once('exit', (code) => reject(new Error(`${file} ended with ${code}:\n${log}`)))
  })
  const stop = async () => {
    const ended = once(lifeline.resume(), 'close')
    lifeline.end()
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  return Object.assign(stop, { pid: server.pid })
}
