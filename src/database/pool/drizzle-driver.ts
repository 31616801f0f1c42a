import postgres from 'postgres'
import type { Pool } from './pool.ts'
import type { Asked, Run } from './pool-connection.ts'
import type { Transaction } from './run-transaction.ts'

// It runs in the next turn of microtasks, because rows are asked for as lists of values after the statement is.
const statementsBy =
  (run: Run) =>
  (...asked: Asked) => {
    let isRaw = false
    const answer = Promise.resolve().then(() => run(asked, isRaw))
    const values = () => {
      isRaw = true
      return answer
    }
    return Object.assign(answer, { values })
  }

// A transaction as Drizzle uses it, which runs one in another behind a savepoint.
const transactionOver = ({ execute, savepoint }: Transaction): object => ({
  unsafe: statementsBy(execute),
  savepoint: <Result>(run: (part: object) => Promise<Result>) =>
    savepoint((part) => run(transactionOver(part))),
})

/** The driver as Drizzle uses it, with the statements and transactions of a pool of ours. What it would open by itself
 *  it is never asked for. */
export function driverOver(settings: object, pool: Pool) {
  return Object.assign(postgres(settings), {
    unsafe: statementsBy(pool.execute),
    begin: <Result>(run: (transaction: object) => Promise<Result>) =>
      pool.begin((transaction) => run(transactionOver(transaction))),
  })
}
