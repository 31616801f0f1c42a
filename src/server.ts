import { run } from './app/run.ts'

run()
