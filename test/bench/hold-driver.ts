import postgres from 'postgres'
import { callHold, hold } from './hold-statements.ts'
import { runTransactions } from './transactions.ts'
import { answerTasks } from './worker.ts'

export type HoldTask = {
  clients: number
  seconds: number
  targets: number
  /** Number of holds of a call of the product's own function; without it, a transaction is one bare hold. */
  ofCall?: number
}

// The yardsticks of checkouts without pgbench: the transaction or the call, run directly by the driver.

const sql = postgres(process.env.DATABASE_URL ?? '', { max: 64, onnotice: () => {} })

async function holdOnce(target: number, client: number): Promise<void> {
  const prepare = { prepare: true }
  await sql.begin(async (tx) => {
    await tx.unsafe(hold.insertPayment('$1::integer', '$2'), [target, String(client)], prepare)
    await tx.unsafe(hold.insertTicket('$1::integer', '$2'), [target, String(client)], prepare)
    await tx.unsafe(hold.moveStock('$1::integer'), [target], prepare)
  })
}

const holdMany = (target: number, ofCall: number) =>
  sql.unsafe(callHold('$1::integer', ofCall), [target], { prepare: true })

answerTasks((task: HoldTask) =>
  runTransactions(task, async (client) => {
    const target = 1 + Math.floor(Math.random() * task.targets)
    await (task.ofCall ? holdMany(target, task.ofCall) : holdOnce(target, client))
  }),
)
