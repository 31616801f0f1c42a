import postgres from 'postgres'
import { hold } from './hold-statements.ts'
import { runTransactions } from './transactions.ts'
import { answerTasks } from './worker.ts'

export type HoldTask = { clients: number; seconds: number; targets: number }

// The yardstick of checkouts without pgbench: the transaction run directly by the driver.

const sql = postgres(process.env.DATABASE_URL ?? '', { max: 64, onnotice: () => {} })

async function holdOnce(target: number, client: number): Promise<void> {
  const prepare = { prepare: true }
  await sql.begin(async (tx) => {
    await tx.unsafe(hold.insertPayment('$1::integer', '$2'), [target, String(client)], prepare)
    await tx.unsafe(hold.insertTicket('$1::integer', '$2'), [target, String(client)], prepare)
    await tx.unsafe(hold.moveStock('$1::integer'), [target], prepare)
  })
}

answerTasks((task: HoldTask) =>
  runTransactions(task, (client) => holdOnce(1 + Math.floor(Math.random() * task.targets), client)),
)
