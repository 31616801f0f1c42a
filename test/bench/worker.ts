import { fork } from 'node:child_process'
import { once } from 'node:events'

/** A child process that runs one task after another. */
export type Worker<Task, Result> = { run(task: Task): Promise<Result>; stop(): Promise<void> }

type Reply = { result: unknown } | { error: string }

/** Starts a child process for tasks, so that their work takes no time from the measuring process. `file` must
 *  call `answerTasks`. */
export function startWorker<Task extends object, Result>(
  file: URL,
  env: Record<string, string> = {},
): Worker<Task, Result> {
  const child = fork(file, { env: { ...process.env, ...env } })
  return {
    run: (task) =>
      new Promise((resolve, reject) => {
        const settle = (reply: Reply) => {
          child.off('message', onMessage).off('exit', onExit)
          if ('error' in reply) reject(new Error(reply.error))
          else resolve(reply.result as Result)
        }
        const onMessage = (reply: unknown) => settle(reply as Reply)
        const onExit = (code: number | null) => settle({ error: `${file.pathname} ended with ${code}` })
        child.on('message', onMessage).on('exit', onExit)
        child.send(task, (error) => error && settle({ error: error.message }))
      }),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

/** Runs each task that the parent sends. The process ends with its parent. */
export function answerTasks<Task, Result>(work: (task: Task) => Promise<Result>): void {
  process.on('message', (task) => {
    work(task as Task).then(
      (result) => process.send?.({ result }),
      (error) => process.send?.({ error: String(error) }),
    )
  })
  process.on('disconnect', () => process.exit())
}
