import { once } from 'node:events'
import { chmod, lstat, mkdtemp, rename, rm, stat } from 'node:fs/promises'
import { createConnection, createServer, type Socket } from 'node:net'
import { join, resolve } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { errorCode } from '../engine/base/errors.ts'
import { type Files, localFiles } from '../engine/base/files.ts'
import type { OpenDatabase } from '../engine/database/database.ts'
import { type CommandResult, filesIn, runCommand } from './commands.ts'
import type { Config } from './settings.ts'

// Commands reach the process that has the embedded database by a socket in its folder, which its user alone may
// open. That process runs them; whoever asked reads and writes the files. Each message is JSON in a line.

type Message = {
  args?: string[]
  read?: string
  write?: string
  /** Content of a file, in base64. */
  bytes?: string
  failed?: string
  result?: CommandResult
}

const socketOf = (folder: string) => resolve(folder, 'commands.sock')

const send = (socket: Socket, message: Message) => socket.write(`${JSON.stringify(message)}\n`)

async function* messagesOf(socket: Socket): AsyncGenerator<Message, undefined> {
  let parts: string[] = []
  for await (const text of socket.setEncoding('utf8')) {
    const [end = '', ...begun] = text.split('\n')
    parts.push(end)
    for (const begin of begun) {
      yield JSON.parse(parts.join(''))
      parts = [begin]
    }
  }
}

function filesOver(socket: Socket, messages: AsyncGenerator<Message, undefined>): Files {
  async function ask(request: Message): Promise<Buffer> {
    send(socket, request)
    const { bytes = '', failed } = (await messages.next()).value ?? {
      failed: 'Nobody waits for the command.',
    }
    if (failed !== undefined) throw new Error(failed)
    return Buffer.from(bytes, 'base64')
  }
  return {
    read: (path) => ask({ read: path }),
    write: async (path, bytes) => void (await ask({ write: path, bytes: bytes.toString('base64') })),
  }
}

// Each file that is named may be asked for once: whoever answers is trusted with the command, not with its user's files.
function take(named: string[], path: string): string {
  const [taken] = named.includes(path) ? named.splice(named.indexOf(path), 1) : []
  if (taken === undefined) throw new Error('The service asked for a file that the command does not name.')
  return taken
}

async function answer({ read, write, bytes = '' }: Message, named: ReturnType<typeof filesIn>) {
  try {
    if (read !== undefined)
      return { bytes: (await localFiles.read(take(named.read, read))).toString('base64') }
    if (write !== undefined) await localFiles.write(take(named.write, write), Buffer.from(bytes, 'base64'))
    return {}
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) }
  }
}

/** Returns a function that runs commands on a database that stays open. */
export function commandsOn(config: Config, database: OpenDatabase) {
  const open = async () => ({ ...database, close: async () => {} })
  const access = { readConfig: () => config, open, openReplicas: async () => [] }
  return (args: string[], files?: Files): Promise<CommandResult> => runCommand(args, access, files)
}

/** Runs commands on the embedded database for other processes of this user, until the returned function is called.
 *  Warns where the folder takes no sockets, as on Windows, or where its path is too long for one. */
export async function serveCommands(config: Config, database: OpenDatabase, log: FastifyBaseLogger) {
  const folder = config.dataDir
  const run = commandsOn(config, database)
  const server = createServer(async (socket) => {
    socket.on('error', () => {})
    const messages = messagesOf(socket)
    try {
      const { args = [] } = (await messages.next()).value ?? {}
      send(socket, { result: await run(args, filesOver(socket, messages)) })
      socket.end()
    } catch {
      socket.destroy()
    }
  })
  let hidden = ''
  try {
    // Made in a folder that nobody else may enter, until its mode is set.
    hidden = await mkdtemp(join(folder, 'commands-'))
    const made = join(hidden, 'socket')
    await new Promise<void>((done, fail) => server.once('error', fail).listen(made, done))
    await chmod(made, 0o600)
    await rename(made, socketOf(folder))
  } catch (error) {
    log.warn(
      { code: errorCode(error) },
      'commands must wait until this process ends: DATA_DIR takes no socket',
    )
  } finally {
    await rm(hidden, { recursive: true, force: true })
  }
  return async () => {
    await rm(socketOf(folder), { force: true })
    await new Promise((done) => server.close(done))
  }
}

/** Has the process that serves the embedded database in a folder run a command of this user. Null if none does. Asks
 *  no socket of another user, nor in a folder of another's, who would be told of the command and answer it. */
export async function askServingProcess(folder: string, args: string[], uid: number | undefined) {
  const found = await Promise.all([stat(folder), lstat(socketOf(folder))]).catch(() => null)
  if (!found) return null
  if (uid !== undefined && found.some((each) => each.uid !== uid)) {
    const errors = `${folder} (DATA_DIR) is served by another user of this machine: run the command as that user.`
    return { code: 1, output: '', errors }
  }
  const named = filesIn(args)
  const socket = createConnection(socketOf(folder))
  const connected = await once(socket, 'connect').catch(() => null)
  if (!connected) return null
  try {
    send(socket, { args })
    for await (const message of messagesOf(socket)) {
      if (message.result) return message.result
      send(socket, await answer(message, named))
    }
  } catch {}
  return { code: 1, output: '', errors: 'The service ended before the command did.' }
}
