import { runPayments } from './payment-load.ts'
import { answerTasks } from './worker.ts'

answerTasks(runPayments)
