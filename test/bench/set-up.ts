import type { BenchDatabase, BenchServer } from './database.ts'
import type { Options } from './options.ts'
import type { Scope } from './scope.ts'
import { startServer } from './server-process.ts'
import { startWorker } from './worker.ts'

/** Inputs of the stages. */
export type SetUp = {
  scope: Scope
  server: BenchServer
  options: Options
  hasPgbench: boolean
  say(text: string): void
}

export const gatewaySettings = {
  NODE_ENV: 'production',
  ALLOW_MAIL_TO_FILES: 'true',
  ALLOW_SANDBOX_PAYMENTS: 'true',
  RATE_LIMIT: 'off',
  LOG_LEVEL: 'silent',
  // The doors are open, whenever the events begin.
  ADMISSION_HOURS: '8760',
  // No hold expires during a run. Stripe's sessions allow no longer one.
  HOLD_MINUTES: '1380',
}

/** The service as `npm start` runs it. */
export const service = ['--max-old-space-size=1024', '--max-semi-space-size=64', 'dist/server.js']

/** Memoizes a start function: runs it once and returns the same promise afterwards. */
export function once<Result>(start: () => Promise<Result>): () => Promise<Result> {
  let started: Promise<Result> | null = null
  return () => {
    started ??= start()
    return started
  }
}

/** Returns a function that starts servers on a database. They stop with the scope. */
export const starterOf =
  (scope: Scope) =>
  (args: string[], { url }: Pick<BenchDatabase, 'url'>, settings: Record<string, string> = {}) =>
    scope.keep(startServer(args, { DATABASE_URL: url, ...settings }, '/ready'), (server) => server.stop())

/** Starts a worker by the name of its compiled file. It stops with the scope. */
export const startTasks = <Task extends object, Result>(
  scope: Scope,
  file: string,
  env: Record<string, string> = {},
) =>
  scope.keep(Promise.resolve(startWorker<Task, Result>(new URL(file, import.meta.url), env)), (worker) =>
    worker.stop(),
  )
