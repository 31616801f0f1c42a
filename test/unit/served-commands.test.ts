import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { askServingProcess } from '../../src/app/served-commands.ts'

// A command line, and somebody else at the other end of the socket.

let folder: string
let server: Server
let asked: unknown[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-served-'))
  asked = []
})
afterEach(async () => {
  await new Promise((done) => server.close(done))
  await rm(folder, { recursive: true })
})

type Request = { read?: unknown; write?: unknown; bytes?: string }

/** Serves commands, each by these requests in turn and then a result. Returns the answers to the requests. */
async function serve(requests: Request[]): Promise<Request[]> {
  const answers: Request[] = []
  server = createServer(async (socket) => {
    const lines = createInterface(socket)[Symbol.asyncIterator]()
    const next = async () => JSON.parse((await lines.next()).value)
    asked.push(await next())
    for (const request of requests) {
      socket.write(`${JSON.stringify(request)}\n`)
      answers.push(await next())
    }
    socket.end(`${JSON.stringify({ result: { code: 0, output: 'done', errors: '' } })}\n`)
  })
  server.listen(join(folder, 'commands.sock'))
  await once(server, 'listening')
  return answers
}

const uid = process.getuid?.()
const bytes = Buffer.from('junk').toString('base64')
const refused = { failed: 'The service asked for a file that the command does not name.' }

test('a file that the command names is read or written once, and no other', async () => {
  const [file, other] = [join(folder, 'catalogue.json'), join(folder, 'other')]
  await writeFile(file, 'content')
  await writeFile(other, 'secret')
  const answers = await serve([
    { write: file, bytes },
    { read: other },
    { read: join(folder, '..', folder.split('/').at(-1) ?? '', 'other') },
    { read: './other' },
    { read: '' },
    { read: ['catalogue.json'] },
    { read: file },
    { read: file },
    { write: other, bytes },
  ])
  const args = ['import', file, '--no-notify', '--json']
  expect(await askServingProcess(folder, args, uid)).toEqual({ code: 0, output: 'done', errors: '' })
  const content = { bytes: Buffer.from('content').toString('base64') }
  expect(answers).toEqual([refused, refused, refused, refused, refused, refused, content, refused, refused])
  expect([await readFile(file, 'utf8'), await readFile(other, 'utf8')]).toEqual(['content', 'secret'])
})

test('a backup writes its file, and reads none', async () => {
  const file = join(folder, 'backup.tgz')
  const answers = await serve([{ read: file }, { write: file, bytes }, { write: file, bytes: '' }])
  await askServingProcess(folder, ['backup', file], uid)
  expect(answers).toEqual([refused, {}, refused])
  expect(await readFile(file, 'utf8')).toBe('junk')
})

test('words that are no files are none', async () => {
  const file = join(folder, 'other')
  await writeFile(file, 'secret')
  for (const args of [
    ['doctor', file],
    ['key', 'issue', 'channel', '--name', file, '--organization', file],
    ['--nonsense', file],
    ['key', 'revoke', file],
  ]) {
    const answers = await serve([{ read: file }, { write: file, bytes }])
    await askServingProcess(folder, args, uid)
    expect([args, answers]).toEqual([args, [refused, refused]])
    await new Promise((done) => server.close(done))
  }
  expect(await readFile(file, 'utf8')).toBe('secret')
})

test('a socket of another user is told of no command', async () => {
  await serve([])
  const other = (uid ?? 0) + 1
  expect(await askServingProcess(folder, ['key', 'revoke', 'box_live_secret'], other)).toEqual({
    code: 1,
    output: '',
    errors: `${folder} (DATA_DIR) is served by another user of this machine: run the command as that user.`,
  })
  expect(asked).toEqual([])
  expect(await askServingProcess(join(folder, 'none'), ['doctor'], uid)).toBe(null)
})
