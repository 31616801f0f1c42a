import { runPace } from './pace.ts'
import { answerTasks } from './worker.ts'

answerTasks(runPace)
