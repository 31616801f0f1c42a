import type postgres from 'postgres'
import type { FindHost } from './find-host.ts'
import type { Run } from './pool-connection.ts'
import type { Transaction } from './run-transaction.ts'

export type PoolOptions = {
  settings: postgres.Sql['options']
  findHost: FindHost & { forget(): void }
  /** Maximum number of connections. */
  max: number
  /** Maximum number of connections reserved by transactions. The others remain for single statements. */
  maxReserved: number
  /** Maximum number of statements that are pipelined on one connection. */
  maxPipeline: number
  /** Timeout for a statement, and for waiting for a connection. */
  timeoutMs: number
}

/** Use of a pool of connections at a moment: connections that are open and idle, that run statements, and that
 *  transactions have reserved; statements and transactions that wait for one. */
export type PoolUsage = {
  max: number
  idle: number
  busy: number
  reserved: number
  waitingStatements: number
  waitingTransactions: number
}

export type Pool = {
  execute: Run
  /** Runs a transaction on a connection of its own. If any of its statements fails, the transaction fails. */
  begin<Result>(run: (transaction: Transaction) => Promise<Result>): Promise<Result>
  /** Replaces connections as they become idle, except very recent ones. */
  renew(): void
  /** Counts connections, and work that waits for one. */
  usage(): PoolUsage
  /** Closes the pool once nothing is running, after `seconds` at the latest. */
  close(seconds: number): Promise<void>
}
