import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import postgres from 'postgres'
import { afterAll, beforeAll, inject } from 'vitest'
import { createApp } from '../../src/app/app.ts'
import type { Companion } from '../../src/app/companion.ts'
import { parseConfig } from '../../src/app/settings.ts'
import type { PaymentProvider } from '../../src/domain/payment/provider.ts'
import { sandboxProvider } from '../../src/domain/payment/sandbox.ts'
import type { DatabaseOptions, OpenDatabase } from '../../src/engine/database/database.ts'
import { openDatabase } from '../../src/engine/database/open.ts'
import type { RequestTimeouts } from '../../src/engine/http/connection-limits.ts'
import { checkAnswers } from './openapi/check-answers.ts'
import { createCitusDatabase, dropCitusDatabase } from './setup/citus.ts'
import { copyFolder, inDatabase } from './setup/database.ts'

type Settings = Record<string, string>

/** A database of one test. `settings` are the environment variables by which another process opens it; on
 *  PGlite, that process finds it locked until the test closes its own connection. */
export type TestDatabase = {
  settings: Settings
  open(options?: DatabaseOptions): Promise<OpenDatabase>
  drop(): Promise<void>
}

// A connection costs PostgreSQL more than a copy of the template: this process keeps one until it ends.
let server: postgres.Sql | undefined

/** Opens a database of PostgreSQL as a service does that starts. */
export async function openPostgres(databaseUrl: string, options?: DatabaseOptions): Promise<OpenDatabase> {
  const opened = await openDatabase({ databaseUrl, dataDir: '' }, options)
  // So it learns of how many servers the database is.
  await opened.whyUnready()
  return opened
}

/** Creates a copy of the migrated template, or an empty database. */
export async function createTestDatabase({ empty = false } = {}): Promise<TestDatabase> {
  const given = inject('database')
  const from = empty ? given.empty : given.template
  const id = randomBytes(6).toString('hex')
  if (given.kind === 'pglite') {
    const folder = join(given.folder, id)
    await copyFolder(from, folder)
    return {
      settings: { DATA_DIR: folder },
      open: (options) => openDatabase({ databaseUrl: undefined, dataDir: folder }, options),
      drop: () => rm(folder, { recursive: true, force: true }),
    }
  }
  const name = `${given.prefix}_${id}`
  if (given.kind === 'citus') {
    const databaseUrl = await createCitusDatabase(given, name, from || undefined)
    return {
      settings: { DATABASE_URL: databaseUrl },
      open: (options) => openPostgres(databaseUrl, options),
      drop: () => dropCitusDatabase(given, name),
    }
  }
  const databaseUrl = inDatabase(given.server, name)
  server ??= postgres(given.server, { max: 1, onnotice: () => {} })
  await server.unsafe(`create database ${name} template ${from} strategy file_copy`)
  return {
    settings: { DATABASE_URL: databaseUrl },
    open: (options) => openPostgres(databaseUrl, options),
    drop: async () => void (await server?.unsafe(`drop database if exists ${name} with (force)`)),
  }
}

/** Opens a fresh copy of the migrated database. Closing it drops it. */
export async function openTestDatabase(options: DatabaseOptions = {}): Promise<OpenDatabase> {
  const database = await createTestDatabase()
  const opened = await database.open(options)
  return {
    ...opened,
    async close() {
      await opened.close()
      await database.drop()
    },
  }
}

type GraphqlAnswer<Data> = {
  status: number
  headers: LightMyRequestResponse['headers']
  data: Data | null | undefined
  errors: { message: string; path?: (string | number)[]; extensions?: Record<string, unknown> }[] | undefined
}

export type Gateway = {
  app: FastifyInstance
  database: OpenDatabase
  db: OpenDatabase['db']
  /** SQL of each statement since the start or the last `reset()`. */
  statements: string[] & { reset(): void }
  /** Base URL; only with `listen: true`. */
  url: string
  graphql<Data = unknown>(
    query: string,
    variables?: Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<GraphqlAnswer<Data>>
  /** Sends an object as JSON, and text unchanged. */
  rest(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS',
    url: string,
    request?: { headers?: Record<string, string>; body?: InjectOptions['payload'] },
  ): Promise<LightMyRequestResponse>
  close(): Promise<void>
}

export type GatewayOptions = {
  /** Environment variables that override the test defaults. */
  settings?: Settings
  /** Database of the caller, which outlives the gateway. Defaults to a fresh copy. */
  database?: TestDatabase
  provider?: PaymentProvider
  /** Receives each log line that `LOG_LEVEL` lets through. */
  onLog?: (line: string) => void
  /** Statement and response timeouts, for tests that cannot wait for the defaults. */
  statementTimeoutMs?: number
  answerTimeoutMs?: number
  /** Listens on a free loopback port, for clients that need a real address. */
  listen?: boolean
  /** Called with each statement and its parameters. */
  onStatement?: (text: string, parameters: unknown[]) => void
  /** Called with each notice of PostgreSQL. */
  onNotice?: NonNullable<DatabaseOptions['onNotice']>
  /** Timeouts for receiving a request, for tests that cannot wait for the defaults. */
  timeouts?: RequestTimeouts
  /** Companion that is put beside the gateway; none by default. */
  companion?: Companion
}

const startStatements = () => {
  const texts: string[] = []
  return Object.assign(texts, {
    reset() {
      texts.length = 0
    },
  })
}

/** Starts the complete gateway on its own database, with clients for GraphQL and REST. */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const { settings, provider = sandboxProvider, onLog, listen = false, timeouts, companion } = options
  const config = parseConfig({
    LOG_LEVEL: 'silent',
    RATE_LIMIT: 'off',
    PUBLISHABLE_RATE_LIMIT: 'off',
    PUBLISHABLE_HELD_PLACES: 'off',
    SHARED_READS_MS: '0',
    ...settings,
  })
  const statements = startStatements()
  const { statementTimeoutMs, answerTimeoutMs, onNotice } = options
  const onStatement = (text: string, parameters: unknown[]) => {
    statements.push(text)
    options.onStatement?.(text, parameters)
  }
  const watch = { onStatement, onNotice, statementTimeoutMs }
  const database = await (options.database?.open(watch) ?? openTestDatabase(watch))
  try {
    const { db, replica } = database
    const whyUnready = async () => (await database.whyUnready())?.reason ?? null
    const logTo = onLog && { write: onLog }
    const app = await createApp({
      ...{ db, replica, config, provider, whyUnready, answerTimeoutMs, logTo, timeouts, companion },
    })
    checkAnswers(app, config, () => createApp({ db, config, provider, logTo: { write() {} } }))
    const url = listen ? await app.listen({ host: '127.0.0.1', port: 0 }) : ''
    return {
      app,
      database,
      db,
      statements,
      url,
      async graphql<Data>(query: string, variables = {}, headers = {}) {
        const answer = await app.inject({
          method: 'POST',
          url: '/graphql',
          headers: { accept: 'application/json', ...headers },
          payload: { query, variables },
        })
        const { data, errors } = answer.json<Pick<GraphqlAnswer<Data>, 'data' | 'errors'>>()
        return { status: answer.statusCode, headers: answer.headers, data, errors }
      },
      rest: (method, url, { headers, body } = {}) => app.inject({ method, url, headers, payload: body }),
      async close() {
        await app.close()
        await database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** What all tests of a file share: opened before the first, closed after the last. It is empty until then. */
export function shared<Opened extends { close(): Promise<unknown> }>(open: () => Promise<Opened>): Opened {
  const opened = {} as Opened
  beforeAll(async () => void Object.assign(opened, await open()))
  // Missing if it could not be opened.
  afterAll(() => opened.close?.())
  return opened
}
