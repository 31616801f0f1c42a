import postgres from 'postgres'
import { inSpan } from '../../shared/instruments.ts'
import type { Run, Statement } from './pool-connection.ts'
import type { Pool } from './pool-types.ts'
import type { Transaction } from './run-transaction.ts'
import { traced } from './trace-statements.ts'

// The statement starts in the next microtask, because Drizzle asks for raw rows by calling `values` on it.
const unsafeOver =
  (run: Run) =>
  (...statement: Statement) => {
    let isRaw = false
    const answer = Promise.resolve().then(() => traced(run, statement, isRaw))
    const values = () => {
      isRaw = true
      return answer
    }
    return Object.assign(answer, { values })
  }

// Implements the part of the driver's transaction that Drizzle uses. Nested transactions are savepoints.
const transactionOver = ({ execute, savepoint }: Transaction): object => ({
  unsafe: unsafeOver(execute),
  savepoint: <Result>(run: (part: object) => Promise<Result>) =>
    savepoint((part) => run(transactionOver(part))),
})

/** Creates a driver for Drizzle that runs its statements and transactions on our pool. The driver's own pool
 *  stays unused, and opens no connection. */
export function driverOver(settings: object, pool: Pool) {
  return Object.assign(postgres(settings), {
    unsafe: unsafeOver(pool.execute),
    begin: <Result>(run: (transaction: object) => Promise<Result>) =>
      inSpan('transaction', { 'db.system.name': 'postgresql' }, () =>
        pool.begin((transaction) => run(transactionOver(transaction))),
      ),
  })
}
