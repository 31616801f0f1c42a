import { connectionError } from './failures.ts'
import type { Run } from './pool-connection.ts'

/** A transaction, or a part of one after a savepoint. */
export type Transaction = {
  execute: Run
  /** Runs a part of the transaction behind a savepoint. If the caller catches its error, only that part is
   *  rolled back. */
  savepoint<Result>(run: (part: Transaction) => Promise<Result>): Promise<Result>
}

type Commands = { begin: string; commit: string; rollback: string }

const transactionCommands: Commands = { begin: 'begin', commit: 'commit', rollback: 'rollback' }
const savepointCommands = (name: string): Commands => ({
  begin: `savepoint ${name}`,
  commit: `release savepoint ${name}`,
  rollback: `rollback to savepoint ${name}`,
})

async function runBetween<Result>(
  execute: Run,
  { begin, commit, rollback }: Commands,
  run: (transaction: Transaction) => Promise<Result>,
  depth: number,
): Promise<Result> {
  const failures: unknown[] = []
  let isOver = false
  const executeInside: Run = (statement, isRaw) => {
    if (isOver) return Promise.reject(connectionError('the transaction is over', 'TRANSACTION_OVER'))
    const answer = execute(statement, isRaw)
    answer.catch((error: unknown) => failures.push(error))
    return answer
  }
  const savepoint: Transaction['savepoint'] = (part) =>
    runBetween(execute, savepointCommands(`part_${depth}`), part, depth + 1)
  await execute([begin], false)
  try {
    const result = await run({ execute: executeInside, savepoint })
    if (failures.length > 0) throw failures[0]
    isOver = true
    await execute([commit], false)
    return result
  } catch (error) {
    isOver = true
    // If the rollback fails, the connection is lost, and the transaction with it.
    await execute([rollback], false).catch(() => {})
    throw error
  }
}

/** Runs a transaction on a reserved connection. If any statement fails, the transaction fails, even if its
 *  caller ignores the error: PostgreSQL would silently answer COMMIT with a rollback. */
export const runTransaction = <Result>(
  execute: Run,
  run: (transaction: Transaction) => Promise<Result>,
): Promise<Result> => runBetween(execute, transactionCommands, run, 0)
