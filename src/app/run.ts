import cluster from 'node:cluster'
import type { OpenCompanion } from './companion.ts'
import { parseConfig } from './settings.ts'

async function start(openCompanion?: OpenCompanion): Promise<void> {
  const config = parseConfig(process.env)
  // The primary of a cluster only supervises, so it loads nothing of the service.
  if (config.webConcurrency > 1 && cluster.isPrimary) {
    const { runWorkers } = await import('./cluster.ts')
    await runWorkers(config)
  } else {
    const { openDatabase } = await import('../engine/database/open.ts')
    // Opened while the modules of the service load.
    const [database, { serve }] = await Promise.all([openDatabase(config), import('./start.ts')])
    await serve(config, database, openCompanion)
  }
}

/** Runs the service until a shutdown is requested, and what is put beside it on an embedded database. */
export function run(openCompanion?: OpenCompanion): void {
  start(openCompanion).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : 'The service could not start.')
    process.exit(1)
  })
}
