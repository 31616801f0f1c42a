import { createApp } from './app.ts'
import { parseConfig } from './config.ts'
import { openDatabase } from './database.ts'
import { sandboxProvider } from './payment/sandbox.ts'
import { sweepHolds } from './payment/sweep-holds.ts'

const fail = (error: unknown): never => {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(1)
}

async function start(): Promise<void> {
  const config = parseConfig(process.env)
  const database = await openDatabase(config)
  if (!config.databaseUrl) await database.migrate()
  let draining = false
  const app = await createApp({
    db: database.db,
    config,
    provider: sandboxProvider,
    ready: async () => !draining && (await database.ready()),
  })
  const stopSweeping = sweepHolds(database.db, 1, (error) =>
    app.log.error({ error: String(error) }, 'sweep failed'),
  )
  await app.listen({ port: config.port, host: config.host })
  const stop = async () => {
    if (draining) return
    draining = true
    setTimeout(() => process.exit(1), config.shutdownSeconds * 1000).unref()
    await app.close()
    await stopSweeping()
    await database.close()
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop().catch(fail))
}

start().catch(fail)
