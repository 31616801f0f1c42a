import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createDatabase, fillDatabase, holdsOf, sampleOf, sizesOf, targetsOf } from './database.ts'
import type { HoldResult, HoldTask } from './hold-driver.ts'
import { holdWithPgbench, pgbenchVersion } from './hold-pgbench.ts'
import { chooseJobs, type Stage } from './jobs.ts'
import type { Load, LoadResult } from './load.ts'
import { measure, type Result } from './measure.ts'
import { type Options, parseOptions } from './options.ts'
import { tableOf } from './report.ts'
import { pageAsks, pageParameters } from './requests.ts'
import { startServer } from './server-process.ts'
import { startWorker } from './worker.ts'

const say = (text: string) => console.log(text)

// What was started, in order: it ends in the other order, however the run ends.
const running: (() => Promise<void>)[] = []
async function keep<Started>(starting: Promise<Started>, stop: (started: Started) => Promise<void>) {
  const started = await starting
  running.push(() => stop(started))
  return started
}
const stopAll = async () => {
  for (let stop = running.pop(); stop; stop = running.pop()) await stop().catch(console.error)
}

const gatewaySettings = (databaseUrl: string) => ({
  DATABASE_URL: databaseUrl,
  NODE_ENV: 'production',
  ALLOW_SANDBOX_PAYMENTS: 'true',
  RATE_LIMIT: 'off',
  LOG_LEVEL: 'silent',
  // No hold expires while it runs.
  HOLD_MINUTES: '1440',
})

async function run(options: Options): Promise<void> {
  const jobs = chooseJobs(options.only)
  const database = await keep(createDatabase(), (database) => database.close())
  say(`PostgreSQL ${database.version}; seeding ${options.events} events…`)
  const { apiKey } = await fillDatabase(database, options.events)
  const sample = await sampleOf(database)
  const gateway = await keep(
    startServer(['dist/server.js'], gatewaySettings(database.url), '/ready'),
    (server) => server.stop(),
  )
  const barePages = await keep(
    startServer(
      [fileURLToPath(new URL('./bare-pages.js', import.meta.url))],
      { DATABASE_URL: database.url, PARAMETERS: JSON.stringify(pageParameters(sample)) },
      '/ready',
    ),
    (server) => server.stop(),
  )
  const load = startWorker<Load, LoadResult>(new URL('./load-worker.js', import.meta.url))
  const driver = startWorker<HoldTask, HoldResult>(new URL('./hold-driver.js', import.meta.url), {
    DATABASE_URL: database.url,
  })
  running.push(load.stop, driver.stop)
  const pgbench = await pgbenchVersion()
  const machine = {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGigabytes: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${release()}`,
    node: process.version,
    postgresql: database.version,
    holdYardstick: pgbench ?? 'postgres.js: there is no pgbench on the PATH',
  }
  const catalogue = await sizesOf(database)
  say(`${machine.cpu}, ${machine.cores} cores, Node ${machine.node}. Bare holds: ${machine.holdYardstick}.`)
  say(
    `Catalogue: ${Object.entries(catalogue)
      .map(([table, count]) => `${count} ${table}`)
      .join(', ')}.\n`,
  )

  const stage: Stage = {
    apiKey,
    gateway,
    barePages,
    load,
    pages: pageAsks(apiKey, sample),
    targets: await targetsOf(database),
    hold: pgbench
      ? { name: 'pgbench', run: (task) => holdWithPgbench(database.url, task) }
      : { name: 'postgres.js', run: driver.run },
    countHolds: () => holdsOf(database),
    holdProblem: database.problem,
  }
  const results: Result[] = []
  for (const job of jobs) {
    const result = await measure(job(stage), options)
    results.push(result)
    say(`${results.length}/${jobs.length} ${result.job}: ${result.description}`)
  }
  say(`\n${tableOf(results)}\n`)
  await mkdir(dirname(options.out), { recursive: true })
  const report = { at: new Date().toISOString(), options, machine, catalogue, sample, results }
  await writeFile(options.out, `${JSON.stringify(report, null, 2)}\n`)
  say(`All of it, round by round: ${options.out}`)
  if (results.some(({ problem }) => problem !== null)) process.exitCode = 1
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stopAll().then(() => process.exit(1)))

await Promise.resolve(process.argv.slice(2))
  .then(parseOptions)
  .then(run)
  .catch((error) => {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  })
  .finally(stopAll)
