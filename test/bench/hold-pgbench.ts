import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { HoldResult, HoldTask } from './hold-driver.ts'
import { hold } from './hold-statements.ts'
import { percentile } from './statistics.ts'

const run = promisify(execFile)

// The yardstick of the checkouts: pgbench, doing the bare hold.

const script = `
\\set target random(1, :targets)
begin;
${hold.insertPayment(':target', ':client_id')};
${hold.insertTicket(':target', ':client_id')};
${hold.moveStock(':target')};
commit;
`

/** The version that pgbench tells; null where it isn't on the PATH. */
export const pgbenchVersion = (): Promise<string | null> =>
  run('pgbench', ['--version']).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  )

// Not on the command line, where everybody on the machine reads the password.
function connectionOf(databaseUrl: string): Record<string, string> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl)
  return {
    PGHOST: hostname,
    PGPORT: port || '5432',
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
  }
}

function numberIn(output: string, pattern: RegExp): number {
  const found = pattern.exec(output)?.[1]
  if (found === undefined) throw new Error(`pgbench said something else than was expected:\n${output}`)
  return Number(found)
}

/** Holds for some seconds with one connection a client. pgbench finishes what runs at the end, and counts it. */
export async function holdWithPgbench(
  databaseUrl: string,
  { clients, seconds, targets }: HoldTask,
): Promise<HoldResult> {
  const folder = await mkdtemp(join(tmpdir(), 'boxoffice-bench-'))
  try {
    await writeFile(join(folder, 'hold.sql'), script)
    const { stdout } = await run(
      'pgbench',
      [
        ...['--no-vacuum', '--protocol', 'prepared', '--file', 'hold.sql', '--define', `targets=${targets}`],
        ...['--client', String(clients), '--jobs', '2', '--time', String(seconds), '--log'],
      ],
      { cwd: folder, env: { ...process.env, ...connectionOf(databaseUrl) } },
    )
    const logs = (await readdir(folder)).filter((name) => name.startsWith('pgbench_log.'))
    const lines = (await Promise.all(logs.map((name) => readFile(join(folder, name), 'utf8')))).join('')
    // client_id transaction_no time …, with the time in microseconds
    const latencies = lines
      .trimEnd()
      .split('\n')
      .map((line) => Number(line.split(' ')[2]) / 1000)
    const failed = numberIn(stdout, /failed transactions: (\d+)/)
    if (failed > 0) throw new Error(`pgbench failed ${failed} times:\n${stdout}`)
    const transactions = numberIn(stdout, /transactions actually processed: (\d+)/)
    return {
      transactions,
      seconds: transactions / numberIn(stdout, /tps = ([\d.]+)/),
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
