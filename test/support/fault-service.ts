import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { expect } from 'vitest'
import type { DatabaseOptions } from '../../src/engine/database/database.ts'
import { openDatabase } from '../../src/engine/database/open.ts'
import { type DatabaseProxy, startDatabaseProxy } from './database-proxy.ts'
import { type FaultLoad, faultCatalogue, faultLoad } from './fault-sale.ts'
import { startGateway } from './harness.ts'
import { mustStartServer } from './processes.ts'
import { openSale, type Sale } from './sale.ts'
import { inDatabase } from './setup/database.ts'
import { type OwnPostgresServer, startPostgres } from './setup/postgres-server.ts'

/** Default statement timeout of the service, in seconds. */
const statementSeconds = 15

/** A service with its own PostgreSQL server, which the test may restart, break and fill. */
export type FaultService = {
  server: OwnPostgresServer
  /** Proxy between the service and the server. */
  proxy: DatabaseProxy
  /** The same database without the proxy. */
  sale: Sale
  url: string
  /** Superuser connection that reconnects if lost. */
  admin: postgres.Sql
  /** Runs `fault` under load. Once it resolves, the service must sell again by itself within
   *  `soldAgainWithin` seconds, report ready, and have kept its promises. */
  runFault(
    name: string,
    fault: (load: FaultLoad) => Promise<unknown>,
    soldAgainWithin?: number,
  ): Promise<FaultLoad>
  close(): Promise<void>
}

// Committed transactions survive a crash of the server.
const durable = { synchronous_commit: 'on', full_page_writes: 'on' }

type FaultOptions = {
  /** Runs the service in this process with a statement timeout that a test can wait for. If omitted, the
   *  built service runs in its own process with its default timeouts. */
  statementTimeoutMs?: number
  /** Starts a transaction pooler in front of the database and returns its address. */
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
  // Makes the driver fetch its types now. If a fault interrupts that, it causes an unhandled rejection in
  // this process.
  expect((await gateway.rest('GET', '/events', { headers: sale.channel })).statusCode).toBe(200)
  return { url: gateway.url, expectAlive: () => {}, stop: gateway.close }
}

export async function startFaultService(options: FaultOptions = {}): Promise<FaultService> {
  const server = await startPostgres(durable)
  // Fetching types causes unhandled rejections if the server stops meanwhile.
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
  // Two seconds above the statement timeout; two more if the clients share the service's process.
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

/** Terminates every connection except the superuser's. */
export const terminateAll = (admin: postgres.Sql) =>
  admin`select pg_terminate_backend(pid) from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid()`

/** Backend PIDs of the service's connections. */
export const servicePids = async (admin: postgres.Sql): Promise<number[]> =>
  (await admin`select pid from pg_stat_activity where datname = 'tickets' order by pid`).map(({ pid }) => pid)

/** Responses of a kind with this status. */
export const answersWith = ({ answers }: FaultLoad, kind: string, status: number) =>
  answers.filter((answer) => answer.kind === kind && answer.status === status)

// A buyer retries a step before its next one, so all buyers may be at the same step.
const sells = ({ kind }: { kind: string }) => kind === 'checkout' || kind === 'payment'

/** Statuses of checkouts and payments, in the order of the responses. */
export const saleStatuses = ({ answers }: Pick<FaultLoad, 'answers'>): number[] =>
  answers.filter(sells).map(({ status }) => status)

/** Counts the checkouts and payments that got a 503. */
export const refusedSales = (load: Pick<FaultLoad, 'answers'>): number =>
  saleStatuses(load).filter((status) => status === 503).length
