import { setTimeout } from 'node:timers/promises'
import type postgres from 'postgres'
import { databaseCode, isReadOnly } from '../database.ts'
import type { FindHost } from './find-host.ts'
import { connectionError, PoolConnection, type Run } from './pool-connection.ts'
import { runTransaction, type Transaction } from './run-transaction.ts'

// Everybody who asks the database has an answer, or an error, within a time that this process keeps by itself. The
// database ends what takes too long, but a connection that went silent tells nobody, the driver waits for ever, and so
// does what stands behind in its pool. A deadline can be kept only by who knows which connection a statement is on: a
// statement that is too old ends its connection, with all that is on it, and one that is too old before it has a
// connection is refused. So this pool gives statements to connections of one driver's client each. It costs a statement
// two writes to an array: the clock is looked at four times a second, for all of them.

export type PoolOptions = {
  settings: postgres.Sql['options']
  findHost: FindHost & { forget(): void }
  /** The most connections. */
  max: number
  /** The most of them that transactions have for themselves: the others are left for single statements. */
  maxReserved: number
  /** The most statements on one connection, which is asked for more before it has answered. */
  maxPipeline: number
  /** Milliseconds that a statement may take, and may wait for a connection. */
  timeoutMs: number
}

export type Pool = {
  execute: Run
  /** Runs a transaction on a connection of its own. Any statement in it that fails makes all of it fail. */
  begin<Result>(run: (transaction: Transaction) => Promise<Result>): Promise<Result>
  /** Replaces connections as they become idle, but for those that were just made. */
  renew(): void
  /** Ends once nothing runs any more, at the latest after so many seconds. */
  close(seconds: number): Promise<void>
}

type Waiting = { since: number; start(connection: PoolConnection): void; reject(error: unknown): void }

// Milliseconds.
const checkMs = 250
const firstRetryMs = 50
const maxRetryMs = 1_000
const renewAfterMs = 5_000
const lifetimeMs = 45 * 60_000

const noAnswer = () => connectionError('the database gave no answer in time', 'CONNECTION_TIMEOUT')
const waitedTooLong = () =>
  connectionError('no connection to the database was free in time', 'CONNECTION_WAIT_TIMEOUT')
const ended = () => connectionError('the connections to the database are closed', 'CONNECTION_ENDED')

/** Opens a pool of connections, which are made as they are needed. */
export function openPool(options: PoolOptions): Pool {
  const { max, maxReserved, maxPipeline, timeoutMs, findHost } = options
  const connections = new Set<PoolConnection>()
  const statements: Waiting[] = []
  const transactions: Waiting[] = []
  let reserved = 0
  /** Why the last connection could not be made, and until when none is tried again. */
  let down: { error: unknown; until: number; pauseMs: number } | null = null
  let isClosing = false
  let onIdle = () => {}
  let checkedAt = performance.now()

  function onChange(connection: PoolConnection, error?: unknown): void {
    if (connection.isOver) {
      connections.delete(connection)
      findHost.forget()
      if (!connection.isOpen) {
        const pauseMs = Math.min(maxRetryMs, (down?.pauseMs ?? firstRetryMs / 2) * 2)
        down = { error, until: performance.now() + pauseMs, pauseMs }
      }
    } else if (connection.isOpen) down = null
    if (error && isReadOnly(error)) renew()
    dispatch()
  }

  // While no connection can be made, one at a time is tried.
  function canGrow(): boolean {
    if (connections.size >= max) return false
    if (!down) return true
    return performance.now() >= down.until && [...connections].every(({ isOpen }) => isOpen)
  }

  /** The one that has the least to do, where it is not full. */
  function pick(): PoolConnection | null {
    let best: PoolConnection | null = null
    for (const connection of connections) {
      const { isReserved, isRetiring, load } = connection
      if (isReserved || isRetiring || load >= (best?.load ?? maxPipeline)) continue
      best = connection
      if (load === 0) return best
    }
    if (!canGrow()) return best
    const made = new PoolConnection({ ...options, onChange })
    connections.add(made)
    return made
  }

  function reserve(): PoolConnection | null {
    const connection = reserved < maxReserved ? pick() : null
    if (connection) {
      connection.isReserved = true
      reserved++
    }
    return connection
  }

  function release(connection: PoolConnection): void {
    reserved--
    connection.isReserved = false
    if (connection.isRetiring) connection.retire()
    dispatch()
  }

  function serve(waiting: Waiting[], take: () => PoolConnection | null): void {
    while (waiting.length > 0) {
      const connection = take()
      if (!connection) return
      waiting.shift()?.start(connection)
    }
  }

  function dispatch(): void {
    serve(transactions, reserve)
    serve(statements, pick)
    // Nobody waits for a database that is known to be out of reach.
    if (down && connections.size === 0) refuse(() => true, outOfReach)
    if (isClosing && reserved === 0 && [...connections].every(({ load }) => load === 0)) onIdle()
  }

  // An error of its own for each: the driver writes parameters into those that it throws.
  const outOfReach = () =>
    connectionError('the database is out of reach', databaseCode(down?.error) ?? 'CONNECTION_FAILED')

  function refuse(isRefused: (waiting: Waiting) => boolean, error: () => unknown): void {
    for (const waiting of [statements, transactions])
      while (waiting[0] && isRefused(waiting[0])) waiting.shift()?.reject(error())
  }

  const execute: Run = (asked, isRaw) => {
    if (isClosing) return Promise.reject(ended())
    const connection = statements.length === 0 ? pick() : null
    if (connection) return connection.execute(asked, isRaw)
    return new Promise((resolve, reject) => {
      const since = performance.now()
      const start = (free: PoolConnection) => void free.execute(asked, isRaw, since).then(resolve, reject)
      statements.push({ since, start, reject })
      dispatch()
    })
  }

  async function begin<Result>(run: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    if (isClosing) throw ended()
    const connection = await new Promise<PoolConnection>((resolve, reject) => {
      transactions.push({ since: performance.now(), start: resolve, reject })
      dispatch()
    })
    return runTransaction(connection.execute, run).finally(() => release(connection))
  }

  function renew(): void {
    const now = performance.now()
    findHost.forget()
    for (const connection of connections) if (now - connection.madeAt > renewAfterMs) connection.retire()
  }

  function check(): void {
    const now = performance.now()
    const elapsed = now - checkedAt
    checkedAt = now
    // After a pause of the whole process answers may be there that nobody has read yet.
    if (elapsed > 4 * checkMs) return
    for (const connection of connections)
      if (now - connection.waitsSince > timeoutMs) connection.end(noAnswer())
      else if (now - connection.madeAt > lifetimeMs) connection.retire()
    refuse(({ since }) => now - since > timeoutMs, waitedTooLong)
    dispatch()
  }
  const timer = setInterval(check, checkMs).unref()

  async function close(seconds: number): Promise<void> {
    isClosing = true
    refuse(() => true, ended)
    const idle = new Promise<void>((resolve) => {
      onIdle = resolve
    })
    dispatch()
    await Promise.race([idle, setTimeout(seconds * 1000, undefined, { ref: false })])
    clearInterval(timer)
    await Promise.all([...connections].map((connection) => connection.close()))
  }

  return { execute, begin, renew, close }
}
