import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'

// How far a command is, on a terminal (a pseudo terminal of util-linux) and elsewhere.

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const seed = fileURLToPath(new URL('../../examples/shop/dist/demo/seed.js', import.meta.url))
const events = '1000'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/** Runs a program on a terminal, and returns all that a person sees. */
async function onTerminal(...args: string[]): Promise<string> {
  const { PATH = '' } = process.env
  const command = [process.execPath, ...args].join(' ')
  const { stdout } = await promisify(execFile)('script', ['-qec', command, '/dev/null'], {
    env: { PATH, TERM: 'xterm', COLUMNS: '100', ...database.settings },
    maxBuffer: 100_000_000,
  })
  return stdout
}

test('on a terminal a bar shows how far it is, and goes before the result', async () => {
  const shown = await onTerminal(seed, '--events', events)
  expect(shown).toMatch(/events \[[^\]]*\] \d+ of 1000/)
  expect(shown).not.toMatch(/NaN|Infinity|INF|NULL|undefined|\{\w+\}/)
  expect(shown).toMatch(/The demo catalogue is loaded\.\s*$/)
  expect(await onTerminal(cli, 'verify')).toMatch(/invariants \[[^\]]*\] \d+ of \d+/)
})

/** Runs a program without a terminal, whose intervals are a hundred times as short. Returns what it says beside its
 *  output. */
async function elsewhere(...args: string[]): Promise<string> {
  const hurry = `data:text/javascript,${encodeURIComponent(
    'const set = setInterval; globalThis.setInterval = (work, ms, ...rest) => set(work, ms / 100, ...rest)',
  )}`
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, args, {
    env: { PATH, NODE_OPTIONS: `--import=${hurry}`, ...database.settings },
  })
  let errors = ''
  child.stderr.on('data', (chunk) => (errors += chunk))
  child.stdout.resume()
  expect(await once(child, 'close')).toEqual([0, null])
  return errors
}

test('elsewhere a line every ten seconds says how far it is', async () => {
  const said = await elsewhere(seed, '--events', events)
  expect(said).toMatch(/^([\w ]+: \d+ of \d+(, \d+\/s)?(, \d+ s left)?\n)+$/)
  expect(said).toMatch(/^read events: [1-9]\d* of 1000/m)
})

test.each(['--json', '--quiet'])('nothing is said with %s', async (option) => {
  expect(await onTerminal(cli, 'verify', option)).not.toMatch(/ of \d+/)
  expect(await elsewhere(seed, '--events', events, option)).toBe('')
})
