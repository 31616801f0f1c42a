import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { findProgram } from '../support/setup/managed-process.ts'
import { type AblationStage, ablationPlans, paymentAblationPlans } from './ablation-jobs.ts'
import { openAblationStage } from './ablation-stage.ts'
import { openServer } from './database.ts'
import { doorPlans } from './door-jobs.ts'
import { type GrowthStage, growthPlans } from './growth-jobs.ts'
import type { JobPlan } from './job-plan.ts'
import { plans, type Stage } from './jobs.ts'
import { type LiveStage, livePlans, openLiveStage } from './live-jobs.ts'
import { describeMachine } from './machine.ts'
import { measure, type Result } from './measure.ts'
import { type Options, parseOptions } from './options.ts'
import { type PaymentStage, paymentPlans } from './payment-jobs.ts'
import { openPaymentStage } from './payment-stage.ts'
import { pgbenchVersion } from './pgbench.ts'
import { tableOf } from './report.ts'
import { openScope, type Scope } from './scope.ts'
import type { SetUp } from './set-up.ts'
import { openGrowthStage, openStage } from './stages.ts'

const say = (text: string) => console.log(text)

const everything = openScope()

/** Measures the selected jobs of a stage, which is opened only if there are any. */
async function measureOn<Stage>(
  chosen: JobPlan<Stage>[],
  open: (setUp: SetUp) => Promise<Stage>,
  setUp: Omit<SetUp, 'scope'>,
  results: Result[],
): Promise<void> {
  if (chosen.length === 0) return
  const scope = await everything.keep<Scope>(Promise.resolve(openScope()), (scope) => scope.stop())
  const stage = await open({ ...setUp, scope })
  for (const [index, { on, ...named }] of chosen.entries()) {
    results.push(await measure({ ...named, ...(await on(stage)) }, setUp.options))
    say(`${index + 1}/${chosen.length} ${named.name}: ${named.description}`)
  }
  await scope.stop()
}

async function report(options: Options, machine: object, results: Result[]): Promise<void> {
  say(`\n${tableOf(results)}\n`)
  await mkdir(dirname(options.out), { recursive: true })
  const all = { at: new Date().toISOString(), options, machine, results }
  await writeFile(options.out, `${JSON.stringify(all, null, 2)}\n`)
  say(`All of it, round by round: ${options.out}`)
}

type Plans = {
  onOne: JobPlan<Stage>[]
  onMany: JobPlan<GrowthStage>[]
  onPayments: JobPlan<PaymentStage>[]
  onLive: JobPlan<LiveStage>[]
  onAblation: JobPlan<AblationStage>[]
}

async function run(options: Options): Promise<void> {
  const pgbouncer = await findProgram('pgbouncer')
  const all: Plans = options.ablate
    ? { onOne: [], onMany: [], onLive: [], onPayments: paymentAblationPlans, onAblation: ablationPlans }
    : {
        onOne: [...plans, ...doorPlans],
        onMany: growthPlans(options.sizes),
        onPayments: paymentPlans({ hasPgbouncer: pgbouncer !== null }),
        onLive: livePlans,
        onAblation: [],
      }
  const isChosen = ({ name }: { name: string }) => options.only.some((part) => name.includes(part))
  const [onOne, onMany, onPayments, onLive, onAblation] = [
    all.onOne.filter(isChosen),
    all.onMany.filter(isChosen),
    all.onPayments.filter(isChosen),
    all.onLive.filter(isChosen),
    all.onAblation.filter(isChosen),
  ]
  if (onOne.length + onMany.length + onPayments.length + onLive.length + onAblation.length === 0) {
    const names = Object.values(all).flatMap((plans) => plans.map(({ name }) => name))
    throw new Error(`no job has ${options.only.join(' or ')} in its name: ${names.join(', ')}`)
  }
  const server = await everything.keep(openServer(), (server) => server.stop())
  const pgbench = await pgbenchVersion()
  const machine = {
    ...describeMachine(),
    postgresql: server.version,
    holdYardstick: pgbench ?? 'postgres.js: there is no pgbench on the PATH',
  }
  say(`${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, PostgreSQL ${machine.postgresql}.`)
  say(`Bare holds and payments: ${machine.holdYardstick}.`)
  if (!pgbouncer) say('There is no PgBouncer on the PATH: payments through it are not measured.')
  const setUp = { server, options, hasPgbench: pgbench !== null, say }
  const results: Result[] = []
  try {
    await measureOn(onOne, openStage, setUp, results)
    await measureOn(onAblation, openAblationStage, setUp, results)
    await measureOn(onPayments, openPaymentStage, setUp, results)
    await measureOn(onLive, openLiveStage, setUp, results)
    await measureOn(onMany, openGrowthStage, setUp, results)
  } finally {
    // Results are reported even if a later job fails the run.
    if (results.length > 0) await report(options, machine, results)
  }
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
