import { createBulkhead, type TurnLimits } from '../base/turns.ts'
import { announce } from './announcements.ts'
import {
  type Connection,
  type Database,
  isDistributed,
  markLike,
  ownerOf,
  perDatabase,
  runSql,
} from './database.ts'
import { invalidateShared } from './shared-invalidation.ts'

/** Work to be done once each of these transactions is committed. */
const afterCommit = new WeakMap<Connection, ((db: Database) => void)[]>()

/** Marks a transaction as one that changes what a shared read must show at once: its commit
 *  invalidates, before anything else. Throws unless `transaction` runs it. */
export function changesShared(tx: Connection): void {
  const callbacks = afterCommit.get(tx)
  if (!callbacks) throw new Error('only a transaction of `transaction` can change what is shared')
  callbacks.unshift(invalidateShared)
}

/** Calls back once a transaction is committed. Does nothing unless `transaction` runs it. */
export function onCommit(tx: Connection, callback: (db: Database) => void): void {
  afterCommit.get(tx)?.push(callback)
}

/** Announces rows that a transaction changes, or null for any of the topic, once it is committed. Does
 *  nothing unless `transaction` runs it: listeners then find the change by their next look. */
export const announceOnCommit = (tx: Connection, topic: string, names: string[] | null): void =>
  onCommit(tx, (db) => announce(db, topic, names))

/** Runs a transaction, and what it has asked for after its commit. */
export async function transaction<Result>(db: Database, work: (tx: Connection) => Promise<Result>) {
  const callbacks: ((db: Database) => void)[] = []
  const result = await db.transaction(async (tx) => {
    afterCommit.set(tx, callbacks)
    markLike(tx, db)
    return work(tx)
  })
  for (const callback of callbacks) callback(db)
  return result
}

const lineOfRow = perDatabase(() =>
  createBulkhead({ maxAtOnce: Number.POSITIVE_INFINITY, maxOfOwner: 1, maxWaiting: 500 }),
)

/** Runs work that begins by locking a row, alone of all that its owner does to that row in this process: what would wait
 *  for the lock waits here, and takes no connection. `row` is the row's identifier, or what the caller names it by. Refuses:
 *  BUSY if too much waits for the same row. */
export const aloneOnRow = <Result>(db: Database, row: string, work: () => Promise<Result>): Promise<Result> =>
  lineOfRow(db)(`${ownerOf(db)} ${row}`, work)

/** Creates transactions of one kind, which run through a bulkhead of each database: a rush of this kind leaves
 *  connections to the others, of the same owner as well. */
export function boundedTransactions(limits: TurnLimits) {
  const inTurn = perDatabase(() => createBulkhead(limits))
  return <Result>(db: Database, work: (tx: Connection) => Promise<Result>): Promise<Result> =>
    inTurn(db)(ownerOf(db), () => transaction(db, work))
}

/** Awaits reads and writes that need no results of each other, such as those of one transaction, so that their statements
 *  go to the database together, in this order. Waits for all of them, because a statement that comes after the end of its
 *  transaction would be no part of it, and throws what failed first. */
export async function atOnce<Results extends unknown[]>(
  ...writes: { [Index in keyof Results]: Promise<Results[Index]> }
): Promise<Results> {
  const failures: unknown[] = []
  const results = await Promise.all(writes.map((write) => write.catch((error) => void failures.push(error))))
  if (failures.length > 0) throw failures[0]
  return results as Results
}

/** Reads a page of rows in the order of an index, however few of them the planner expects: otherwise it would read and sort
 *  all that are left, for each page. */
export const inIndexOrder = <Rows>(db: Database, read: (tx: Connection) => Promise<Rows>): Promise<Rows> =>
  transaction(db, async (tx) => {
    await runSql(tx, 'set local enable_bitmapscan = off')
    return read(tx)
  })

/** Lets the statements of a transaction that follow wait for a lock this long at most, also on the servers of a cluster.
 *  Then they fail: see `isLockTimeout`. */
export async function limitLockWaits(tx: Connection, milliseconds: number): Promise<void> {
  const limit = `set local lock_timeout = ${milliseconds}`
  if (!isDistributed(tx)) await runSql(tx, limit)
  else await atOnce(runSql(tx, "set local citus.propagate_set_commands = 'local'"), runSql(tx, limit))
}
