import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { pino } from 'pino'
import type { Config } from '../config/config.ts'
import { createDrainer, onShutdown } from './shutdown.ts'

// Milliseconds until one that ended has a successor: twice as many each time that one ends before it ran for long.
const shortestPause = 100
const longestPause = 30_000
const longRun = 10_000

const backoff = (shortRuns: number) => Math.min(longestPause, shortestPause * 2 ** shortRuns)

/** How a worker ended: 0 where it did as it was told, which it also did when it did not yet listen. */
async function exitCodeOf(worker: Worker): Promise<number> {
  const [code, signal] = await once(worker, 'exit')
  return signal === 'SIGTERM' ? 0 : (code ?? 1)
}

/** Runs the service in `webConcurrency` processes on one port. The first starts alone: what keeps it from starting
 *  would keep each of them, and ends the service with its exit code. Later on, one that ends is replaced. On SIGTERM
 *  and SIGINT all are told to leave and, `drainSeconds` later, to end; what has not `shutdownSeconds` after that is killed. */
export function runWorkers({ webConcurrency, logLevel, shutdownSeconds, drainSeconds }: Config): void {
  const log = pino({ level: logLevel, base: { pid: process.pid } })
  const workers = new Map<Worker, () => void>()
  let hasStarted = false
  let draining = false

  function start(shortRuns: number): void {
    if (draining) return
    const startedAt = Date.now()
    const worker = cluster.fork()
    const { pid } = worker.process
    workers.set(worker, createDrainer(worker, drainSeconds))
    worker.on('error', (error) => log.error({ worker: pid, error: error.name }, 'a process is out of reach'))
    worker.once('listening', () => {
      if (hasStarted) return
      hasStarted = true
      for (let started = 1; started < webConcurrency; started++) start(0)
    })
    worker.once('exit', (code: number | null, signal: string | null) => {
      workers.delete(worker)
      if (draining) return
      if (!hasStarted) process.exit(code || 1)
      const again = Date.now() - startedAt < longRun ? shortRuns + 1 : 0
      const ms = backoff(again)
      log.error({ worker: pid, code, signal, ms }, 'a process ended: another takes its place')
      setTimeout(() => start(again), ms)
    })
  }

  async function stop(): Promise<void> {
    if (draining) return
    draining = true
    const running = [...workers.keys()]
    setTimeout(
      () => {
        for (const worker of running) worker.process.kill('SIGKILL')
      },
      (drainSeconds + shutdownSeconds) * 1000,
    )
    const ended = running.map(exitCodeOf)
    for (const end of workers.values()) end()
    process.exit(Math.max(0, ...(await Promise.all(ended))))
  }

  // Each worker has its own time to leave.
  onShutdown({ drainSeconds: 0, leave: () => {}, stop: () => void stop() })
  start(0)
}
