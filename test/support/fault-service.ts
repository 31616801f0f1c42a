import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { expect } from 'vitest'
import type { DatabaseOptions } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import { type DatabaseProxy, startDatabaseProxy } from './database-proxy.ts'
import { type FaultLoad, faultCatalogue, faultLoad } from './fault-sale.ts'
import { startGateway } from './harness.ts'
import { mustStartServer } from './processes.ts'
import { openSale, type Sale } from './sale.ts'
import { inDatabase } from './setup/database.ts'
import { type OwnPostgresServer, startPostgres } from './setup/postgres-server.ts'

/** Seconds that PostgreSQL gives a statement. */
const statementSeconds = 15

/** A service on a PostgreSQL of its own, of which the test may do what it likes. */
export type FaultService = {
  server: OwnPostgresServer
  /** The way of the service to it. */
  proxy: DatabaseProxy
  /** Straight to the same database. */
  sale: Sale
  url: string
  /** A connection of an administrator, which is made anew where it was lost. */
  admin: postgres.Sql
  /** Lets a fault happen while buyers buy. `fault` resolves once it is over. Then the service must sell again by itself
   *  within so many seconds, be ready, and have kept what it promised. */
  runFault(
    name: string,
    fault: (load: FaultLoad) => Promise<unknown>,
    soldAgainWithin?: number,
  ): Promise<FaultLoad>
  close(): Promise<void>
}

// Nothing that was committed is lost where the server crashes.
const durable = { synchronous_commit: 'on', full_page_writes: 'on' }

type FaultOptions = {
  /** Milliseconds of a statement, for a service in this process: nobody waits for the others as long as they are. Else
   *  it is the built one, in a process of its own. */
  statementTimeoutMs?: number
  /** Starts a pooler of transactions before the database, and gives its address. */
  through?: (address: string) => Promise<string>
}

async function startService(way: string, sale: Sale, { statementTimeoutMs, through }: FaultOptions) {
  const url = (await through?.(way)) ?? way
  const databasePooler = through ? 'transaction' : 'none'
  if (statementTimeoutMs === undefined) {
    const started = await mustStartServer({
      DATABASE_URL: url,
      DATABASE_POOLER: databasePooler,
      RATE_LIMIT: 'off',
    })
    return {
      url: started.url,
      expectAlive: () => expect(started.child.exitCode, started.output().slice(-2000)).toBe(null),
      stop: () => started.stop('SIGKILL'),
    }
  }
  const open = (options: DatabaseOptions = {}) =>
    openDatabase({ databaseUrl: url, dataDir: '', databasePooler }, options)
  const database = { settings: {}, open, drop: async () => {} }
  const gateway = await startGateway({
    ...{ database, statementTimeoutMs, listen: true },
    answerTimeoutMs: statementTimeoutMs + 500,
  })
  // A driver that knows its types leaves no errors behind that nobody awaits: those would be this process's.
  expect((await gateway.rest('GET', '/events', { headers: sale.channel })).statusCode).toBe(200)
  return { url: gateway.url, expectAlive: () => {}, stop: gateway.close }
}

export async function startFaultService(options: FaultOptions = {}): Promise<FaultService> {
  const server = await startPostgres(durable)
  // Asked for its types it leaves errors that nobody awaits, where the server ends meanwhile.
  const admin = postgres(server.url, { max: 1, fetch_types: false, onnotice: () => {}, backoff: () => 0.2 })
  await admin`create role box login password 'box'`
  await admin`create database tickets owner box`
  const address = inDatabase(server.url.replace(/\/\/.*@/, '//box:box@'), 'tickets')
  const open = () => openDatabase({ databaseUrl: address, dataDir: '' })
  const migrated = await open()
  await migrated.migrate()
  await migrated.close()
  const database = { settings: {}, open, drop: async () => {} }
  const sale = await openSale(faultCatalogue, { database })
  const proxy = await startDatabaseProxy(address)
  const service = await startService(proxy.url, sale, options)
  // On top of what a statement may take: two seconds, and as many in a process that is busy with its own clients.
  const maxSeconds = options.statementTimeoutMs ? options.statementTimeoutMs / 1000 + 4 : statementSeconds + 2
  return {
    ...{ server, proxy, sale, admin },
    url: service.url,
    async runFault(name, fault, soldAgainWithin = 15) {
      const load = faultLoad(sale, service.url)
      try {
        await load.waitForSales(20)
        await fault(load)
        const soldAgain = await load.waitForSales()
        await pause(500)
        await load.stop()
        console.log(load.summary(name, soldAgain))
        service.expectAlive()
        await load.expectPromisesKept(maxSeconds)
        expect(soldAgain).toBeLessThan(soldAgainWithin)
        await expect.poll(async () => (await fetch(`${service.url}/ready`)).status).toBe(200)
        return load
      } finally {
        await load.stop()
      }
    },
    async close() {
      await service.stop()
      await sale.close()
      await admin.end({ timeout: 1 })
      await proxy.close()
      await server.stop()
    },
  }
}

/** Ends every connection but the administrator's. */
export const terminateAll = (admin: postgres.Sql) =>
  admin`select pg_terminate_backend(pid) from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid()`

/** Connections of the service that PostgreSQL knows of. */
export const servicePids = async (admin: postgres.Sql): Promise<number[]> =>
  (await admin`select pid from pg_stat_activity where datname = 'tickets' order by pid`).map(({ pid }) => pid)

/** The answers of a kind that have a status. */
export const answersWith = ({ answers }: FaultLoad, kind: string, status: number) =>
  answers.filter((answer) => answer.kind === kind && answer.status === status)

// A buyer who is told to come again does so before going on: all of them may be at the same.
const sells = ({ kind }: { kind: string }) => kind === 'checkout' || kind === 'payment'

/** Statuses of what buyers asked for, in the order of the answers. */
export const saleStatuses = ({ answers }: Pick<FaultLoad, 'answers'>): number[] =>
  answers.filter(sells).map(({ status }) => status)

/** How many checkouts and payments were refused for now. */
export const refusedSales = (load: Pick<FaultLoad, 'answers'>): number =>
  saleStatuses(load).filter((status) => status === 503).length
