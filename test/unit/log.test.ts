import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openLog } from '../../src/app/log.ts'
import { measured } from '../../src/domain/sale/report/measured.ts'
import { instruments } from '../../src/engine/base/instruments.ts'
import { createMetrics } from '../../src/engine/telemetry/metrics.ts'
import { parseMetrics, sumOf } from '../support/metrics.ts'

// Logs that can be written, and logs that can't: whatever becomes of its log, a process goes on and ends.

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'boxoffice-log-'))
})
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => {
  instruments.observer = null
})

const line = (number: number) =>
  `${JSON.stringify({ level: 'info', time: 1_800_000_000_000, msg: `line ${number}` })}\n`

test.each([
  [undefined, true, true],
  [undefined, false, false],
  ['json', true, false],
  ['pretty', false, true],
] as const)('LOG_FORMAT %s on a terminal (%s) is text: %s', async (format, isTTY, isText) => {
  const file = join(folder, 'lines')
  const fd = openSync(file, 'w')
  const log = await openLog(format, { fd, isTTY })
  log.write(line(1))
  log.write(line(2))
  log.flush()
  closeSync(fd)
  const written = readFileSync(file, 'utf8')
  if (isText) expect(written).toMatch(/INFO.* line 1.*\n.* line 2.*\n$/)
  else expect(written).toBe(line(1) + line(2))
})

test('lines on a full disk are dropped and counted, and later ones are whole', async () => {
  const away = () => Promise.reject(new Error('the database is away'))
  const sources = { poolUsage: () => ({}), isReady: away, ...measured, count: away, inspectServers: away }
  const metrics = createMetrics(sources)
  instruments.observer = metrics
  const dropped = async () =>
    sumOf(parseMetrics(await metrics.registry.metrics()), 'boxoffice_log_lines_dropped_total')
  const full = await openLog('json', { fd: openSync('/dev/full', 'w') })
  for (let number = 0; number < 10; number++) full.write(line(number))
  full.flush()
  full.flush()
  expect(await dropped()).toBe(10)

  const disk = join(folder, 'disk')
  execFileSync('mkdir', [disk])
  const isMounted = (() => {
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  })()
  console.log(isMounted ? 'a file system of 64 kB is full' : 'no file system can be mounted: /dev/full alone')
  if (!isMounted) return
  try {
    const file = join(disk, 'log')
    const fd = openSync(file, 'a')
    const log = await openLog('json', { fd })
    for (let number = 0; number < 3_000; number++) {
      log.write(line(number))
      if (number % 7 === 0) log.flush()
    }
    log.flush()
    const lost = (await dropped()) - 10
    const whole = readFileSync(file, 'utf8').match(/^\{.*\}$/gm) ?? []
    expect([lost > 0, lost + whole.length]).toEqual([true, 3_000])
    execFileSync('truncate', ['--size=100', file])
    log.write(line(5_000))
    log.flush()
    expect(readFileSync(file, 'utf8').split('\n').at(-2)).toBe(line(5_000).trimEnd())
    closeSync(fd)
  } finally {
    execFileSync('umount', ['-l', disk])
  }
})

const built = pathToFileURL(fileURLToPath(new URL('../../dist', import.meta.url))).href
// Writes as many lines of 200 bytes as it is told, a hundred in a turn of the event loop, and ends with its input.
const program = `
  const { openLog } = await import('${built}/app/log.js')
  const { instruments } = await import('${built}/engine/base/instruments.js')
  let dropped = 0
  instruments.observer = { onLogDropped: (lines) => { dropped += lines } }
  const log = await openLog('json', process.stdout)
  process.once('exit', log.flush)
  const line = JSON.stringify({ text: 'x'.repeat(188) }) + '\\n'
  for (let number = 0; number < Number(process.argv[1]); number++) {
    log.write(line)
    if (number % 100 === 0) await new Promise(setImmediate)
  }
  for await (const _ of process.stdin);
  console.error(dropped)
  process.exit(7)`

const start = (lines: number, stdout: 'pipe' | number) => {
  const args = ['--input-type=module', '--eval', program, String(lines)]
  const child = spawn(process.execPath, args, { stdio: ['pipe', stdout, 'pipe'] })
  let errors = ''
  child.stderr?.on('data', (chunk) => (errors += chunk))
  const closed = once(child, 'exit')
  return {
    child,
    async end() {
      child.stdin?.end()
      const [code] = await Promise.race([closed, setTimeout(30_000, ['hangs'], { ref: false })])
      child.kill('SIGKILL')
      return { code, dropped: Number(errors) }
    },
  }
}

test.each(['full', 'closed', 'unread'])('a process whose log is %s goes on, and ends', async (kind) => {
  const { child, end } = start(10_000, kind === 'full' ? openSync('/dev/full', 'w') : 'pipe')
  if (kind === 'closed') child.stdout?.destroy()
  else child.stdout?.pause()
  const { code, dropped } = await end()
  expect(code).toBe(7)
  expect(dropped).toBeGreaterThan(3_000)
})

test('a pipe that is read slowly gets every line', async () => {
  const { child, end } = start(4_500, 'pipe')
  let output = ''
  child.stdout?.on('data', (chunk) => {
    output += chunk
    child.stdout?.pause()
    globalThis.setTimeout(() => child.stdout?.resume(), 10)
  })
  await expect.poll(() => output.length).toBe(900_000)
  expect(await end()).toEqual({ code: 7, dropped: 0 })
})
