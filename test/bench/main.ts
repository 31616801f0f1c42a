import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { openServer } from './database.ts'
import { growthPlans } from './growth-jobs.ts'
import { pgbenchVersion } from './hold-pgbench.ts'
import type { JobPlan } from './job-plan.ts'
import { plans } from './jobs.ts'
import { describeMachine } from './machine.ts'
import { measure, type Result } from './measure.ts'
import { type Options, parseOptions } from './options.ts'
import { tableOf } from './report.ts'
import { openScope, type Scope } from './scope.ts'
import { openGrowthStage, openStage, type SetUp } from './stages.ts'

const say = (text: string) => console.log(text)

const everything = openScope()

/** Measures what was chosen on a stage that is open for so long; nothing is opened for nothing. */
async function measureOn<Stage>(
  chosen: JobPlan<Stage>[],
  open: (setUp: SetUp) => Promise<Stage>,
  setUp: Omit<SetUp, 'scope'>,
): Promise<Result[]> {
  if (chosen.length === 0) return []
  const scope = await everything.keep<Scope>(Promise.resolve(openScope()), (scope) => scope.stop())
  const stage = await open({ ...setUp, scope })
  const results: Result[] = []
  for (const { on, ...named } of chosen) {
    const result = await measure({ ...named, ...(await on(stage)) }, setUp.options)
    results.push(result)
    say(`${results.length}/${chosen.length} ${result.job}: ${result.description}`)
  }
  await scope.stop()
  return results
}

async function run(options: Options): Promise<void> {
  const onOne = plans.filter(({ name }) => name.includes(options.only))
  const onMany = growthPlans(options.sizes).filter(({ name }) => name.includes(options.only))
  if (onOne.length + onMany.length === 0) {
    const names = [...plans, ...growthPlans(options.sizes)].map(({ name }) => name)
    throw new Error(`no job has ${options.only} in its name: ${names.join(', ')}`)
  }
  const server = await everything.keep(openServer(), (server) => server.stop())
  const pgbench = await pgbenchVersion()
  const machine = {
    ...describeMachine(),
    postgresql: server.version,
    holdYardstick: pgbench ?? 'postgres.js: there is no pgbench on the PATH',
  }
  say(`${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, PostgreSQL ${machine.postgresql}.`)
  say(`Bare holds: ${machine.holdYardstick}.`)
  const setUp = { server, options, hasPgbench: pgbench !== null, say }
  const results = [
    ...(await measureOn(onOne, openStage, setUp)),
    ...(await measureOn(onMany, openGrowthStage, setUp)),
  ]
  say(`\n${tableOf(results)}\n`)
  await mkdir(dirname(options.out), { recursive: true })
  const report = { at: new Date().toISOString(), options, machine, results }
  await writeFile(options.out, `${JSON.stringify(report, null, 2)}\n`)
  say(`All of it, round by round: ${options.out}`)
  if (results.some(({ problem }) => problem !== null)) process.exitCode = 1
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void everything.stop().then(() => process.exit(1)))

await Promise.resolve(process.argv.slice(2))
  .then(parseOptions)
  .then(run)
  .catch((error) => {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  })
  .finally(() => everything.stop())
