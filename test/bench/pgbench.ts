import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { percentile } from './statistics.ts'
import type { Transactions } from './transactions.ts'

const run = promisify(execFile)

/** Version of pgbench, or null if it isn't on the PATH. */
export const pgbenchVersion = (): Promise<string | null> =>
  run('pgbench', ['--version']).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  )

// Passed in the environment, because any user of the machine can read a command line with its password.
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

type Script = {
  script: string
  /** Variables of the script. Each client has its own and keeps them between transactions. */
  variables: Record<string, number>
  clients: number
  seconds: number
}

/** Runs a script for some seconds with one connection per client and prepared statements. pgbench finishes
 *  and counts running transactions. Throws if a transaction failed. */
export async function runPgbench(
  databaseUrl: string,
  { script, variables, clients, seconds }: Script,
): Promise<Transactions> {
  const folder = await mkdtemp(join(tmpdir(), 'boxoffice-bench-'))
  try {
    await writeFile(join(folder, 'script.sql'), script)
    const defined = Object.entries(variables).flatMap(([name, value]) => ['--define', `${name}=${value}`])
    const { stdout } = await run(
      'pgbench',
      [
        ...['--no-vacuum', '--protocol', 'prepared', '--file', 'script.sql', ...defined],
        ...['--client', String(clients), '--jobs', '2', '--time', String(seconds), '--log'],
      ],
      { cwd: folder, env: { ...process.env, ...connectionOf(databaseUrl) } },
    )
    const logs = (await readdir(folder)).filter((name) => name.startsWith('pgbench_log.'))
    const lines = (await Promise.all(logs.map((name) => readFile(join(folder, name), 'utf8')))).join('')
    // client_id transaction_no time …, with the time in microseconds
    const latencies = lines
      .split('\n')
      .filter(Boolean)
      .map((line) => Number(line.split(' ')[2]) / 1000)
    const failed = numberIn(stdout, /failed transactions: (\d+)/)
    if (failed > 0) throw new Error(`pgbench failed ${failed} times:\n${stdout}`)
    const transactions = numberIn(stdout, /transactions actually processed: (\d+)/)
    return {
      transactions,
      // pgbench reports no rate for zero transactions.
      seconds: transactions === 0 ? seconds : transactions / numberIn(stdout, /tps = ([\d.]+)/),
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
