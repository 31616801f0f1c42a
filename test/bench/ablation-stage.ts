import type { AblationStage } from './ablation-jobs.ts'
import { fillDatabase, sampleOf, sell, targetsOf, ticketsOf } from './database.ts'
import { clients } from './job-plan.ts'
import type { Load, LoadResult } from './load.ts'
import { openScope, type Scope } from './scope.ts'
import type { Server } from './server-process.ts'
import { gatewaySettings, type SetUp, service, starterOf, startTasks } from './set-up.ts'

const soldTickets = 5000
const settings = { ...gatewaySettings, SHARED_READS_MS: '0' }

/** Opens one catalogue, and the service on it: as it comes, and without one optimisation after the other. */
export async function openAblationStage({ scope, server, options, say }: SetUp): Promise<AblationStage> {
  say(`Seeding ${options.events} events…`)
  const database = await scope.keep(server.create(), (database) => database.drop())
  const { keys } = await fillDatabase(database, { events: options.events, channels: clients })
  await sell(database, soldTickets)
  let slow: { name: string; scope: Scope; server: Server } | null = null
  return {
    keys,
    tickets: await ticketsOf(database),
    load: await startTasks<Load, LoadResult>(scope, './load-worker.js'),
    sample: await sampleOf(database),
    targets: await targetsOf(database),
    fast: await starterOf(scope)(service, database, settings),
    async without(optimisation) {
      if (slow?.name === optimisation) return slow.server
      await slow?.scope.stop()
      const own = await scope.keep(Promise.resolve(openScope()), (scope) => scope.stop())
      const server = await starterOf(own)(service, database, { ...settings, FAST: `-${optimisation}` })
      slow = { name: optimisation, scope: own, server }
      return server
    },
  }
}
