import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type BenchDatabase,
  fillDatabase,
  holdsOf,
  queue,
  queuedIn,
  refundsOf,
  sampleOf,
  scansOf,
  sell,
  settle,
  sizesOf,
  targetsOf,
  ticketsOf,
} from './database.ts'
import { growCatalogue } from './grow-catalogue.ts'
import type { Grown, GrowthStage } from './growth-jobs.ts'
import type { HoldTask } from './hold-driver.ts'
import { holdWithPgbench } from './hold-pgbench.ts'
import { clients } from './job-plan.ts'
import type { Stage } from './jobs.ts'
import type { Load, LoadResult } from './load.ts'
import { installMercurius } from './mercurius-package.ts'
import { pageParameters } from './requests.ts'
import { gatewaySettings, once, type SetUp, service, starterOf, startTasks } from './set-up.ts'
import type { Transactions } from './transactions.ts'

const unsharedReads = { SHARED_READS_MS: '0' }

// Tickets sold before the lookups.
const soldTickets = 5000

const compiled = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** Opens one catalogue with two gateways and all yardsticks. */
export async function openStage({ scope, server, options, hasPgbench, say }: SetUp): Promise<Stage> {
  say(`Seeding ${options.events} events…`)
  const database = await scope.keep(server.create(), (database) => database.drop())
  const { keys } = await fillDatabase(database, { events: options.events, channels: clients })
  await sell(database, soldTickets)
  const sample = await sampleOf(database)
  const start = starterOf(scope)
  const driver = await startTasks<HoldTask, Transactions>(scope, './hold-driver.js', {
    DATABASE_URL: database.url,
  })
  const catalogue = Object.entries(await sizesOf(database)).map(([table, count]) => `${count} ${table}`)
  say(`It has ${catalogue.join(', ')}.\n`)
  return {
    keys,
    tickets: await ticketsOf(database),
    gateway: await start(service, database, gatewaySettings),
    unshared: await start(service, database, {
      ...gatewaySettings,
      ...unsharedReads,
    }),
    forgetful: once(() =>
      start(service, database, { ...gatewaySettings, ...unsharedReads, REMEMBERED_EVENTS: '0' }),
    ),
    bare: await start([compiled('./bare-server.js')], database, {
      PARAMETERS: JSON.stringify(pageParameters(sample)),
    }),
    bytes: await start([compiled('./bare-bytes.js')], database),
    mercurius: once(async () => start([await installMercurius(say)], database)),
    load: await startTasks<Load, LoadResult>(scope, './load-worker.js'),
    sample,
    targets: await targetsOf(database),
    hold: hasPgbench
      ? { name: 'pgbench', run: (task) => holdWithPgbench(database.url, task) }
      : { name: 'postgres.js', run: driver.run },
    countHolds: () => holdsOf(database),
    countScans: () => scansOf(database),
    countRefunds: () => refundsOf(database),
    holdProblem: server.problem,
  }
}

/** Opens the same catalogue in several databases, with different sizes and numbers of sold tickets. */
export async function openGrowthStage({ scope, server, options, say }: SetUp): Promise<GrowthStage> {
  const [events = 0] = options.sizes.events
  const base = await scope.keep(server.create(), (database) => database.drop())
  const { keys } = await fillDatabase(base, { events, channels: clients })
  const targets = await targetsOf(base)
  const start = starterOf(scope)
  const mails = await scope.keep(mkdtemp(join(tmpdir(), 'boxoffice-bench-')), (folder) =>
    rm(folder, { recursive: true }),
  )

  /** Starts a gateway on a grown copy of the base, once per size. */
  const grown = (
    what: string,
    settings: Record<string, string>,
    grow: (database: BenchDatabase, count: number) => Promise<void>,
  ) => {
    const made = new Map<number, () => Promise<Grown>>()
    const make = async (count: number): Promise<Grown> => {
      say(`Making ${count} ${what}…`)
      const database = await scope.keep(server.create(base), (database) => database.drop())
      await grow(database, count)
      await settle(database)
      return {
        gateway: await start(service, database, {
          ...gatewaySettings,
          ...settings,
        }),
        countHolds: () => holdsOf(database),
        countQueued: () => queuedIn(database),
      }
    }
    return (count: number) => {
      const found = made.get(count) ?? once(() => make(count))
      made.set(count, found)
      return found()
    }
  }
  return {
    keys,
    load: await startTasks<Load, LoadResult>(scope, './load-worker.js'),
    targets,
    withEvents: grown('events', unsharedReads, async ({ sql }, count) => {
      await sql.begin(async (tx) => {
        for (const statement of growCatalogue(count / events)) await tx.unsafe(statement)
      })
    }),
    withTickets: grown('sold tickets', {}, sell),
    withDeliveries: grown('queued deliveries', { MAIL_DIR: mails }, async (database, count) => {
      await sell(database, count)
      await queue(database)
    }),
    holdProblem: server.problem,
  }
}
