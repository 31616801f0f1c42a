import { createApp } from './app.ts'
import { startBackground } from './background.ts'
import { type DemoCredentials, demoOffer, openDemo } from './catalogue/open-demo.ts'
import type { Config } from './config.ts'
import type { OpenDatabase } from './database.ts'
import { openSenders } from './delivery/open-senders.ts'
import { whenToldToEnd } from './drain.ts'
import { logFailure } from './mask.ts'
import { openProvider } from './payment/open-provider.ts'
import { publicUrlOf } from './public-url.ts'

const greeting = (url: string, demo: DemoCredentials) => `
Boxoffice sells tickets at ${url}

  GraphiQL          ${url}/graphql
  REST              ${url}/docs

  Demo channel      X-Api-Key: ${demo.key}
  Demo integration  X-Api-Key: ${demo.integration_key}
                    or integration_id: ${demo.integration_id}
                       secret: ${demo.secret}
`

/** The embedded database belongs to this process alone, so it brings it up to date and fills it by itself. */
async function prepare({ db, migrate }: OpenDatabase, dataDir: string) {
  await migrate()
  const credentials = await openDemo(db, dataDir)
  const offer = credentials && (await demoOffer(db))
  return credentials && { credentials, tabs: offer ? { key: credentials.key, ...offer } : undefined }
}

/** Serves the port in this process, on this database, until it is told to end. Then it is not ready any more, finishes
 *  what runs and exits with 0; with 1 where that takes longer than `shutdownSeconds`. */
export async function serve(config: Config, database: OpenDatabase): Promise<void> {
  const provider = await openProvider(config)
  const { db } = database
  const demo = config.databaseUrl ? null : await prepare(database, config.dataDir)
  let draining = false
  const app = await createApp({
    db,
    replica: database.replica,
    config,
    provider,
    ready: async () => !draining && (await database.ready()),
    demo: demo?.tabs,
    logFacts: config.webConcurrency > 1 ? { pid: process.pid } : undefined,
  })
  await database.followReplicas(({ isUp, ...facts }) =>
    isUp
      ? app.log.info(facts, 'the catalogue is read from a replica')
      : app.log.warn(facts, 'a replica is out of reach: the primary answers for it'),
  )
  const { senders, close: closeSenders } = openSenders(config.delivery, publicUrlOf(app, config), app.log)
  const { privateWebhooks } = config
  const stopBackground = startBackground({ db, provider, senders, privateWebhooks }, (error, task) =>
    logFailure(app.log, error, `${task} failed`),
  )
  if (!(await database.ready()))
    app.log.warn('the tables are not up to date, or out of reach: run npm run migrate')
  else if (!(await database.hasDeadlines()))
    app.log.warn('no deadline ends a statement that takes too long: run npm run migrate')
  const url = await app.listen({ port: config.port, host: config.host })
  if (demo) console.log(greeting(config.publicUrl ?? url, demo.credentials))

  // Not ready any more, finish what runs, close: within the deadline, or not at all.
  const stop = async () => {
    if (draining) return
    draining = true
    setTimeout(() => process.exit(1), config.shutdownSeconds * 1000).unref()
    await app.close()
    await stopBackground()
    closeSenders()
    await database.close()
    process.exit(0)
  }
  const fail = (error: unknown) => {
    logFailure(app.log, error, 'closing failed')
    process.exit(1)
  }
  whenToldToEnd(() => void stop().catch(fail))
}
