import { setTimeout } from 'node:timers/promises'
import type postgres from 'postgres'
import { errorCode } from '../../base/errors.ts'
import { Turns } from '../../base/turns.ts'
import { connectionError, isReadOnly } from './failures.ts'
import type { FindHost } from './find-host.ts'
import { PoolConnection, type Run } from './pool-connection.ts'

// Guarantees that every statement gets an answer or an error within a timeout that this process enforces.
// PostgreSQL's own timeouts don't help if a connection goes silent: the driver then waits forever, and so
// does everything queued behind. Enforcing a timeout requires knowing the connection of each statement, so
// this pool assigns statements to connections, each a driver client of its own. A statement that times out
// ends its connection with everything on it; one that times out in the queue is rejected. The cost per
// statement is two array writes: one timer checks all of them four times a second.

/** Runs a transaction on a reserved connection. If any statement fails, the transaction fails, even if its
 *  caller ignores the error: PostgreSQL would silently answer COMMIT with a rollback. */
async function runTransaction<Result>(execute: Run, run: (inside: Run) => Promise<Result>): Promise<Result> {
  const failures: unknown[] = []
  let isOver = false
  const executeInside: Run = (statement, isRaw) => {
    if (isOver) return Promise.reject(connectionError('the transaction is over', 'TRANSACTION_OVER'))
    const answer = execute(statement, isRaw)
    answer.catch((error: unknown) => failures.push(error))
    return answer
  }
  await execute(['begin'], false)
  try {
    const result = await run(executeInside)
    if (failures.length > 0) throw failures[0]
    isOver = true
    await execute(['commit'], false)
    return result
  } catch (error) {
    isOver = true
    // If the rollback fails, the connection is lost, and the transaction with it.
    await execute(['rollback'], false).catch(() => {})
    throw error
  }
}

type QueueEntry = { since: number; start(connection: PoolConnection): void; reject(error: unknown): void }

// Transactions of one owner that wait for a connection.
const maxWaiting = 1_000

const checkMs = 250
const firstRetryMs = 50
const maxRetryMs = 1_000
const renewAfterMs = 5_000
const lifetimeMs = 45 * 60_000

const noAnswer = () => connectionError('the database gave no answer in time', 'CONNECTION_TIMEOUT')
const waitedTooLong = () =>
  connectionError('no connection to the database was free in time', 'CONNECTION_WAIT_TIMEOUT')
const ended = () => connectionError('the connections to the database are closed', 'CONNECTION_ENDED')

type PoolOptions = {
  settings: postgres.Sql['options']
  findHost: FindHost
  /** Maximum number of connections. */
  max: number
  /** Maximum number of connections reserved by transactions. The others remain for single statements. */
  maxReserved: number
  /** Maximum number of statements that are pipelined on one connection. */
  maxPipeline: number
  /** Timeout for a statement, and for waiting for a connection. */
  timeoutMs: number
}

export type Pool = ReturnType<typeof openPool>

/** Use of a pool of connections at a moment: connections that are open and idle, that run statements, and that
 *  transactions have reserved; statements and transactions that wait for one. */
export type PoolUsage = ReturnType<Pool['usage']> & {
  /** Of a replica: whether it is read, or the primary answers for it. */
  isRead?: boolean
}

/** Opens a pool that connects on demand. */
export function openPool(options: PoolOptions) {
  const { max, maxReserved, maxPipeline, timeoutMs, findHost } = options
  const connections = new Set<PoolConnection>()
  // Half of what transactions may reserve, and as many statements at once: so an owner whose statements wait for locks, or
  // are slow, leaves connections to the others.
  const maxOfOwner = Math.ceil(maxReserved / 2)
  const unbounded = Number.POSITIVE_INFINITY
  const statements = new Turns<QueueEntry>({ maxAtOnce: unbounded, maxOfOwner, maxWaiting: unbounded })
  const transactions = new Turns<QueueEntry>({ maxAtOnce: maxReserved, maxOfOwner, maxWaiting })
  /** Last error in connecting, and the time of the next attempt. */
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

  // While connecting fails, only one attempt is made at a time.
  function canGrow(): boolean {
    if (connections.size >= max) return false
    if (!down) return true
    return performance.now() >= down.until && [...connections].every(({ isOpen }) => isOpen)
  }

  /** Picks the connection with the lowest load, or a new one; null if all are full. */
  function pick(): PoolConnection | null {
    let best: PoolConnection | null = null
    for (const connection of connections) {
      const { isReserved, isRetiring, load } = connection
      if (isReserved || isRetiring || load >= (best?.load ?? maxPipeline)) continue
      best = connection
      if (load === 0) return best
    }
    if (!canGrow()) return best
    const created = new PoolConnection({ ...options, onChange })
    connections.add(created)
    return created
  }

  function reserve(): PoolConnection | null {
    const connection = pick()
    if (connection) connection.isReserved = true
    return connection
  }

  function release(connection: PoolConnection, owner: string): void {
    transactions.end(owner)
    connection.isReserved = false
    if (connection.isRetiring) connection.retire()
    dispatch()
  }

  function serve(waiting: Turns<QueueEntry>, take: () => PoolConnection | null): void {
    for (let next = waiting.next(take); next; next = waiting.next(take)) next.piece.start(next.got)
  }

  function dispatch(): void {
    serve(transactions, reserve)
    serve(statements, pick)
    // Fails fast while the database is known to be unreachable.
    if (down && connections.size === 0) refuse(() => true, outOfReach)
    if (isClosing && transactions.atWork === 0 && [...connections].every(({ load }) => load === 0)) onIdle()
  }

  // A new error for each statement: the driver adds parameters to the errors that it throws. Its cause shows
  // that the server refused the connection, which the code alone does not (3D000).
  const outOfReach = () => {
    const code = errorCode(down?.error) ?? 'CONNECTION_FAILED'
    return connectionError('the database is out of reach', code, down?.error)
  }

  function refuse(isRefused: (waiting: QueueEntry) => boolean, error: () => unknown): void {
    for (const waiting of [statements, transactions])
      for (const { reject } of waiting.giveUp(isRefused)) reject(error())
  }

  /** Runs a statement at its owner's turn. */
  const execute = (owner: string, ...[statement, isRaw]: Parameters<Run>): Promise<unknown> => {
    if (isClosing) return Promise.reject(ended())
    return new Promise((resolve, reject) => {
      const since = performance.now()
      const end = () => {
        statements.end(owner)
        if (statements.size > 0) dispatch()
      }
      const start = (free: PoolConnection) => {
        void free.execute(statement, isRaw, since).then(resolve, reject).then(end)
      }
      const free = statements.size === 0 ? statements.begin(owner, pick) : null
      if (free) return start(free)
      statements.wait(owner, { since, start, reject })
      dispatch()
    })
  }

  /** Runs a transaction on a connection of its own, at its owner's turn. If any of its statements fails, the transaction
   *  fails. Refuses: BUSY if too many of its owner wait. */
  async function begin<Result>(owner: string, run: (inside: Run) => Promise<Result>): Promise<Result> {
    if (isClosing) throw ended()
    const connection = await new Promise<PoolConnection>((start, reject) => {
      transactions.wait(owner, { since: performance.now(), start, reject })
      dispatch()
    })
    return runTransaction(connection.execute, run).finally(() => release(connection, owner))
  }

  /** Replaces connections as they become idle, except very recent ones. */
  function renew(): void {
    const now = performance.now()
    findHost.forget()
    for (const connection of connections) if (now - connection.createdAt > renewAfterMs) connection.retire()
  }

  function check(): void {
    const now = performance.now()
    const elapsed = now - checkedAt
    checkedAt = now
    // After a pause of the whole process, answers may have arrived that are not read yet.
    if (elapsed > 4 * checkMs) return
    for (const connection of connections)
      if (now - connection.waitsSince > timeoutMs) connection.end(noAnswer())
      else if (now - connection.createdAt > lifetimeMs) connection.retire()
    refuse(({ since }) => now - since > timeoutMs, waitedTooLong)
    dispatch()
  }
  const timer = setInterval(check, checkMs).unref()

  /** Closes the pool once nothing is running, after `seconds` at the latest. */
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

  function usage() {
    const open = [...connections].filter(({ isOpen }) => isOpen)
    return {
      max,
      idle: open.filter(({ isReserved, load }) => !isReserved && load === 0).length,
      busy: open.filter(({ isReserved, load }) => !isReserved && load > 0).length,
      reserved: transactions.atWork,
      waitingStatements: statements.size,
      waitingTransactions: transactions.size,
    }
  }

  return { execute, begin, renew, usage, close }
}
