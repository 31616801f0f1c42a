import { announce, type Topic } from './announcements.ts'
import { invalidateCatalogue } from './catalogue-version.ts'
import type { Connection, Database } from './database.ts'

/** Work to be done once a transaction is committed. */
type AfterCommit = {
  changesCatalogue: boolean
  announced: [topic: Topic, names: string[] | null][]
  callbacks: (() => void)[]
}

const open = new WeakMap<Connection, AfterCommit>()

/** Marks a transaction as one that changes what a catalogue read must show at once: its commit
 *  invalidates. Throws unless `transaction` runs it. */
export function changesCatalogue(tx: Connection): void {
  const after = open.get(tx)
  if (!after) throw new Error('only a transaction of `transaction` can change the catalogue')
  after.changesCatalogue = true
}

/** Announces rows that a transaction changes, or null for any of the topic, once it is committed. Does
 *  nothing unless `transaction` runs it: listeners then find the change by their next look. */
export function announceOnCommit(tx: Connection, topic: Topic, names: string[] | null): void {
  open.get(tx)?.announced.push([topic, names])
}

/** Calls back once a transaction is committed. Does nothing unless `transaction` runs it. */
export function onCommit(tx: Connection, callback: () => void): void {
  open.get(tx)?.callbacks.push(callback)
}

/** Runs a transaction. After the commit, invalidates the catalogue if the transaction was marked, and sends
 *  its announcements. */
export async function transaction<Result>(
  db: Database,
  work: (tx: Connection) => Promise<Result>,
): Promise<Result> {
  const after: AfterCommit = { changesCatalogue: false, announced: [], callbacks: [] }
  const result = await db.transaction(async (tx) => {
    open.set(tx, after)
    return work(tx)
  })
  if (after.changesCatalogue) invalidateCatalogue(db)
  for (const [topic, names] of after.announced) announce(db, topic, names)
  for (const callback of after.callbacks) callback()
  return result
}

/** Awaits writes of one transaction that need nothing of each other, so that their statements go to the database
 *  together. Waits for all of them, because a statement that comes after the end of its transaction would be none of
 *  it, and throws what failed first. */
export async function atOnce<Results extends unknown[]>(
  ...writes: { [Index in keyof Results]: Promise<Results[Index]> }
): Promise<Results> {
  const failures: unknown[] = []
  const results = await Promise.all(writes.map((write) => write.catch((error) => void failures.push(error))))
  if (failures.length > 0) throw failures[0]
  return results as Results
}
