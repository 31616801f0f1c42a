import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'
import type { Database, OpenDatabase } from '../database/database.ts'
import { problemOf } from '../database/why-unready.ts'
import {
  type DemoCredentials,
  openDemo,
  openShopKey,
  setPosters,
} from '../domain/catalogue/demo/open-demo.ts'
import { openSenders } from '../domain/delivery/open-senders.ts'
import { openProvider } from '../domain/payment/open-provider.ts'
import type { PaymentProvider } from '../domain/payment/provider.ts'
import { createMonthKeeper } from '../domain/retention/keep-months.ts'
import { createRetention } from '../domain/retention/retain.ts'
import { countBacklog } from '../domain/sale/report/count-backlog.ts'
import { explainListening } from '../http/explain-listening.ts'
import { logFailure } from '../http/mask-error.ts'
import { publicUrlOf } from '../http/public-url.ts'
import { requireWritable } from '../shared/writable-folder.ts'
import { openTelemetry } from '../telemetry/open-telemetry.ts'
import { createApp } from './app.ts'
import { demoTabs, sellDemoTicket } from './demo-tabs.ts'
import { startJobs } from './jobs.ts'
import { openLog } from './log.ts'
import { serveCommands } from './served-commands.ts'
import { onShutdown } from './shutdown.ts'
import { watchUnhandled } from './unhandled.ts'

const greeting = (url: string, demo: DemoCredentials) => `
Boxoffice sells tickets at ${url}

  Shop              ${url}/shop
  GraphiQL          ${url}/graphql
  REST              ${url}/docs

  Demo channel      X-Api-Key: ${demo.key}
  Demo integration  X-Api-Key: ${demo.integration_key}
                    or integration_id: ${demo.integration_id}
                       secret: ${demo.secret}
`

/** Migrates the embedded database and seeds the demo. Safe here, because no other process uses it. */
async function prepare({ db, migrate }: OpenDatabase, dataDir: string) {
  await migrate()
  return openDemo(db, dataDir)
}

/** Listens on the port. If that fails, the error names the setting to change. */
async function listen(app: FastifyInstance, { port, host }: Config): Promise<string> {
  return app.listen({ port, host }).catch((error: unknown) => {
    throw explainListening(error, { host, port, setting: 'PORT' })
  })
}

type Background = { db: Database; provider: PaymentProvider; app: FastifyInstance }

/** Starts the background jobs, unless other processes have them. The returned function stops them. */
async function startBackground(
  config: Config,
  { db, provider, app }: Background,
): Promise<() => Promise<void>> {
  if (config.background === 'off') return async () => {}
  const { mail } = config.delivery
  if (mail.smtpUrl === undefined) await requireWritable(mail.folder, 'MAIL_DIR')
  const { senders, close } = openSenders(config.delivery, publicUrlOf(app, config), app.log)
  const stop = startJobs(
    {
      ...{ db, provider, senders, privateWebhooks: config.privateWebhooks },
      isAlone: config.databaseUrl === undefined,
      retention: createRetention({
        ...{ db, settings: config, mailFolder: mail.folder },
        onDone: (facts) => app.log.info(facts, 'data that was kept long enough is gone'),
      }),
      months: createMonthKeeper({
        ...{ db, settings: config },
        onDone: (facts) => app.log.info(facts, 'a partition was made, or was kept long enough'),
      }),
      onMismatch: (mismatch) => app.log.error(mismatch, 'money does not match its payment, and is refunded'),
    },
    (error, job) => logFailure(app.log, error, 'a background job failed', { job }),
  )
  return async () => {
    await stop()
    close()
  }
}

/** Serves the port in this process until a shutdown is requested. Then it reports that it is not ready, keeps
 *  answering for `drainSeconds`, finishes running work and exits with 0, or with 1 if that takes longer than
 *  `shutdownSeconds`. */
export async function serve(config: Config, database: OpenDatabase): Promise<void> {
  const provider = await openProvider(config)
  const { db } = database
  const demo = config.databaseUrl ? null : await prepare(database, config.dataDir)
  let isLeaving = false
  let draining = false
  let shopKey: string | null = null
  const telemetry = await openTelemetry(config, {
    poolUsage: () => database.poolUsage(),
    isReady: () => database.ready(),
    countBacklog: () => countBacklog(db, provider.name),
  })
  const app = await createApp({
    db,
    replica: database.replica,
    config,
    provider,
    whyUnready: async () => (isLeaving ? 'LEAVING' : ((await database.whyUnready())?.reason ?? null)),
    isLeaving: () => isLeaving,
    findDemo: demo ? () => demoTabs(db, demo, shopKey) : undefined,
    shopKey: demo ? () => shopKey : undefined,
    logTo: await openLog(config.logFormat, process.stdout.isTTY),
    logFacts: config.webConcurrency > 1 ? { pid: process.pid } : undefined,
    instrument: telemetry.instrument,
  })
  watchUnhandled(app.log)
  for (const mistake of config.misspelt) app.log.warn(mistake)
  await database.followReplicas(({ isUp, ...facts }) =>
    isUp
      ? app.log.info(facts, 'the catalogue is read from a replica')
      : app.log.warn(facts, 'a replica is out of reach: the primary answers for it'),
  )
  const stopJobs = await startBackground(config, { db, provider, app })
  const stopCommands = config.databaseUrl ? async () => {} : await serveCommands(config, database, app.log)
  const unready = await database.whyUnready()
  if (unready) app.log.warn({ ...unready }, problemOf(unready.reason))
  else if (!(await database.hasStatementTimeouts()))
    app.log.warn(
      config.databasePooler === 'none'
        ? problemOf('POOLER_UNDECLARED')
        : 'the database sets no statement timeout: run npm run migrate',
    )
  if (demo) await sellDemoTicket(app, db, demo)
  await telemetry.listen(app.log)
  const url = await listen(app, config)
  if (demo) {
    const publicUrl = publicUrlOf(app, config)()
    await setPosters(db, publicUrl)
    shopKey = await openShopKey(db, config.dataDir, new URL(publicUrl).origin)
    console.log(greeting(config.publicUrl ?? url, demo))
  }

  // The timer is the deadline: whatever hangs, the process exits.
  const stop = async () => {
    if (draining) return
    draining = true
    setTimeout(() => process.exit(1), config.shutdownSeconds * 1000).unref()
    await app.close()
    await stopCommands()
    await stopJobs()
    await telemetry.close()
    await database.close()
    process.exit(0)
  }
  const fail = (error: unknown) => {
    logFailure(app.log, error, 'closing failed')
    process.exit(1)
  }
  const leave = () => {
    isLeaving = true
  }
  // Nobody sends requests to a process of background jobs, so nobody has to learn that it leaves.
  const drainSeconds = config.background === 'only' ? 0 : config.drainSeconds
  onShutdown({ drainSeconds, leave, stop: () => void stop().catch(fail) })
}
