import { runWholeSale } from './whole-sale.ts'
import { answerTasks } from './worker.ts'

answerTasks(runWholeSale)
