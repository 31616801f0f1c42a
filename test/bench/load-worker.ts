import { runLoad } from './load.ts'
import { answerTasks } from './worker.ts'

answerTasks(runLoad)
