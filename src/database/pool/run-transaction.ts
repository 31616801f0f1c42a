import { connectionError, type Run } from './pool-connection.ts'

/** A transaction, or a part of one behind a savepoint. */
export type Transaction = {
  execute: Run
  /** Runs a part of the transaction. Where it fails only that part is undone, if the caller catches what it throws. */
  savepoint<Result>(run: (part: Transaction) => Promise<Result>): Promise<Result>
}

type Words = { begin: string; commit: string; rollback: string }

const words: Words = { begin: 'begin', commit: 'commit', rollback: 'rollback' }
const wordsOfPart = (name: string): Words => ({
  begin: `savepoint ${name}`,
  commit: `release savepoint ${name}`,
  rollback: `rollback to savepoint ${name}`,
})

async function runBetween<Result>(
  execute: Run,
  { begin, commit, rollback }: Words,
  run: (transaction: Transaction) => Promise<Result>,
  depth: number,
): Promise<Result> {
  const failures: unknown[] = []
  let isOver = false
  const inside: Run = (asked, isRaw) => {
    if (isOver) return Promise.reject(connectionError('the transaction is over', 'TRANSACTION_OVER'))
    const answer = execute(asked, isRaw)
    answer.catch((error: unknown) => failures.push(error))
    return answer
  }
  const savepoint: Transaction['savepoint'] = (part) =>
    runBetween(execute, wordsOfPart(`part_${depth}`), part, depth + 1)
  await execute([begin], false)
  try {
    const result = await run({ execute: inside, savepoint })
    if (failures.length > 0) throw failures[0]
    isOver = true
    await execute([commit], false)
    return result
  } catch (error) {
    isOver = true
    // Where this fails the connection is over, and the transaction with it.
    await execute([rollback], false).catch(() => {})
    throw error
  }
}

/** Runs a transaction on a connection that nobody else uses. Any statement in it that fails makes all of it fail, whether
 *  or not somebody looked at the failure: PostgreSQL would answer COMMIT by rolling back. */
export const runTransaction = <Result>(
  execute: Run,
  run: (transaction: Transaction) => Promise<Result>,
): Promise<Result> => runBetween(execute, words, run, 0)
