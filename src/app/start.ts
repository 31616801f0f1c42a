import type { FastifyInstance } from 'fastify'
import { openSenders } from '../domain/delivery/open-senders.ts'
import { organizations } from '../domain/organization/table.ts'
import { openProvider } from '../domain/payment/open-provider.ts'
import type { PaymentProvider } from '../domain/payment/provider.ts'
import { createRetention } from '../domain/retention/retain.ts'
import { countBacklog, needsPerson } from '../domain/sale/report/count-backlog.ts'
import { measured } from '../domain/sale/report/measured.ts'
import { requireWritable } from '../engine/base/files.ts'
import { makeOnce } from '../engine/base/make-once.ts'
import type { OpenDatabase } from '../engine/database/database.ts'
import { inspectServers } from '../engine/database/inspect.ts'
import { problemOf } from '../engine/database/pool/failures.ts'
import { logFailure, repetitions } from '../engine/http/mask-error.ts'
import { explainListening, publicUrlOf } from '../engine/http/public-url.ts'
import { openTelemetry } from '../engine/telemetry/open-telemetry.ts'
import { createApp } from './app.ts'
import type { OpenCompanion } from './companion.ts'
import { startJobs } from './jobs.ts'
import { openLog } from './log.ts'
import { commandsOn, serveCommands } from './served-commands.ts'
import type { Config } from './settings.ts'
import { onShutdown, watchUnhandled } from './shutdown.ts'

/** Opens what is put beside the service on the embedded database, whose tables it brings up to date first: safe there,
 *  because no other process uses it. */
async function openBeside(config: Config, database: OpenDatabase, openCompanion?: OpenCompanion) {
  if (config.databaseUrl) return null
  await database.migrate()
  if (!openCompanion || config.background === 'only') return null
  const run = commandsOn(config, database)
  return openCompanion({
    dataDir: config.dataDir,
    isEmpty: (await database.db.$count(organizations)) === 0,
    async command(...args) {
      const { code, output, errors } = await run([...args, '--json'])
      if (code !== 0) throw new Error(errors)
      return JSON.parse(output)
    },
  })
}

/** Starts the background jobs, unless other processes have them. The returned function stops them. */
async function startBackground(
  config: Config,
  app: FastifyInstance,
  { db, keepUp }: OpenDatabase,
  provider: PaymentProvider,
) {
  if (config.background === 'off') return async () => {}
  const { mail } = config.delivery
  if (mail.smtpUrl === undefined) await requireWritable(mail.folder, 'MAIL_DIR')
  const { senders, close } = openSenders(config.delivery, publicUrlOf(app, config), app.log)
  // Each runs every second, also while the database is away.
  const isRepeated = repetitions(60_000)
  const stop = startJobs(
    {
      db,
      provider,
      senders,
      privateWebhooks: config.privateWebhooks,
      upkeep: keepUp,
      isAlone: config.databaseUrl === undefined,
      retention: createRetention({
        db,
        settings: config,
        mailFolder: mail.folder,
        onDone: (facts) => app.log.info(facts, 'data that was kept long enough is gone'),
      }),
      onTrouble: (trouble) => app.log[needsPerson(trouble.code) ? 'error' : 'warn'](trouble, 'jobs are late'),
      onMismatch: (mismatch) => app.log.error(mismatch, 'money does not match its payment, and is refunded'),
    },
    (error, job) => {
      if (!isRepeated(error, job)) logFailure(app.log, error, 'a background job failed', { job })
    },
  )
  return async () => {
    await stop()
    close()
  }
}

/** Serves the port in this process until a shutdown is requested. Then it reports that it is not ready, keeps
 *  answering for `drainSeconds`, finishes running work and exits with 0, or with 1 if that takes longer than
 *  `shutdownSeconds`. */
export async function serve(config: Config, database: OpenDatabase, openCompanion?: OpenCompanion) {
  const provider = await openProvider(config)
  const { db } = database
  const companion = await openBeside(config, database, openCompanion)
  let isLeaving = false
  const telemetry = await openTelemetry(config, {
    poolUsage: () => database.poolUsage(),
    isReady: async () => (await database.whyUnready()) === null,
    ...measured,
    count: () => countBacklog(db, provider.name),
    inspectServers: () => inspectServers(db),
  })
  const log = await openLog(config.logFormat, process.stdout)
  process.once('exit', log.flush)
  const app = await createApp({
    db,
    replica: database.replica,
    config,
    provider,
    whyUnready: async () => (isLeaving ? 'LEAVING' : ((await database.whyUnready())?.reason ?? null)),
    isLeaving: () => isLeaving,
    companion,
    logTo: log,
    logFacts: config.webConcurrency > 1 ? { pid: process.pid } : undefined,
    instrument: telemetry.instrument,
  })
  watchUnhandled(app.log)
  for (const mistake of config.misspelt) app.log.warn(mistake)
  await database.followReplicas?.(({ isUp, ...facts }) =>
    isUp
      ? app.log.info(facts, 'the catalogue is read from a replica')
      : app.log.warn(facts, 'a replica is not read: the primary answers for it'),
  )
  const stopJobs = await startBackground(config, app, database, provider)
  const stopCommands = config.databaseUrl ? async () => {} : await serveCommands(config, database, app.log)
  const unready = await database.whyUnready()
  if (unready) app.log.warn({ ...unready }, problemOf(unready))
  else if (!(await database.hasStatementTimeouts()))
    app.log.warn(
      config.databasePooler === 'none'
        ? problemOf({ reason: 'POOLER_UNDECLARED' })
        : 'the database sets no statement timeout: run npm run migrate',
    )
  await telemetry.listen(app.log)

  const stop = makeOnce(async () => {
    // The deadline: whatever hangs, the process exits.
    setTimeout(() => process.exit(1), config.shutdownSeconds * 1000).unref()
    await app.close()
    await stopCommands()
    await stopJobs()
    await telemetry.close()
    await database.close()
    process.exit(0)
  })
  const fail = (error: unknown) => {
    logFailure(app.log, error, 'closing failed')
    process.exit(1)
  }
  // Nobody sends requests to a process of background jobs, so nobody has to learn that it leaves.
  const drainSeconds = config.background === 'only' ? 0 : config.drainSeconds
  const leave = () => {
    if (!isLeaving)
      app.log.info({ seconds: drainSeconds }, 'told to shut down: the port stays open for some seconds')
    isLeaving = true
  }
  const { port, host } = config
  const listening = app.listen({ port, host }).catch((error: unknown) => {
    throw explainListening(error, { host, port, setting: 'PORT' })
  })
  // A worker that does not listen yet is ended by its primary. Anything else may be asked to leave as soon as it does.
  if (config.webConcurrency > 1) await listening
  onShutdown({ drainSeconds, leave, stop: () => void stop().catch(fail) })
  await listening
  await companion?.onListening?.(app, publicUrlOf(app, config)())
}
