import cluster from 'node:cluster'
import { parseConfig } from './config/config.ts'

async function start(): Promise<void> {
  const config = parseConfig(process.env)
  // The primary of a cluster only supervises, so it loads nothing of the service.
  if (config.webConcurrency > 1 && cluster.isPrimary) {
    const { runWorkers } = await import('./app/cluster.ts')
    await runWorkers(config)
  } else {
    const { openDatabase } = await import('./database/open.ts')
    // Opened while the modules of the service load.
    const [database, { serve }] = await Promise.all([openDatabase(config), import('./app/start.ts')])
    await serve(config, database)
  }
}

start().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : 'The service could not start.')
  process.exit(1)
})
