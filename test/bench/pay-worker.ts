import postgres from 'postgres'
import { type PayTask, payOnce } from './pay-driver.ts'
import { runTransactions } from './transactions.ts'
import { answerTasks } from './worker.ts'

const sql = postgres(process.env.DATABASE_URL ?? '', { max: 64, onnotice: () => {} })

// Clients share no numbers of the list.
answerTasks((task: PayTask) =>
  runTransactions(task, (client, turn) => payOnce(sql, turn * task.clients + client + 1, client)),
)
