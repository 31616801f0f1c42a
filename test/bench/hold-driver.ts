import postgres from 'postgres'
import { hold } from './hold-statements.ts'
import { runTransactions } from './transactions.ts'
import { answerTasks } from './worker.ts'

export type HoldTask = { clients: number; seconds: number; targets: number }

// The yardstick of the checkouts where there is no pgbench: the driver, and nothing between it and the transaction.

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
