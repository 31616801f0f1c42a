import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { pino } from 'pino'
import { logFormatters, openLog } from './log.ts'
import type { Config } from './settings.ts'
import { createDrainer, onShutdown } from './shutdown.ts'

// Milliseconds until a worker that exited is replaced. Doubled after each run that was short.
const minPause = 100
const maxPause = 30_000
const longRun = 10_000

const backoff = (shortRuns: number) => Math.min(maxPause, minPause * 2 ** shortRuns)

/** Resolves to a worker's exit code. SIGTERM, which stops a worker that does not listen yet, counts as 0. */
async function exitCodeOf(worker: Worker): Promise<number> {
  const [code, signal] = await once(worker, 'exit')
  return signal === 'SIGTERM' ? 0 : (code ?? 1)
}

/** Runs the service in `webConcurrency` processes on one port. The first worker starts alone: if it fails to
 *  start, so would the others, and the service exits with its exit code. Later, a worker that exits is
 *  replaced. On SIGTERM and SIGINT all workers leave and, `drainSeconds` later, stop. Those that have not
 *  exited after another `shutdownSeconds` are killed. */
export async function runWorkers(config: Config): Promise<void> {
  const { webConcurrency, logLevel, logFormat, shutdownSeconds, drainSeconds, metricsPort, host } = config
  const options = { level: logLevel, base: { pid: process.pid }, formatters: logFormatters }
  const logTo = await openLog(logFormat, process.stdout)
  process.once('exit', logTo.flush)
  const log = pino(options, logTo)
  if (metricsPort !== undefined) {
    const { serveMetrics } = await import('../engine/telemetry/metrics-server.ts')
    const { collectFromWorkers } = await import('../engine/telemetry/cluster-metrics.ts')
    await serveMetrics(host, metricsPort, collectFromWorkers, log)
  }
  const workers = new Map<Worker, () => void>()
  let hasStarted = false
  let draining = false

  function start(shortRuns: number): void {
    if (draining) return
    const startedAt = Date.now()
    const worker = cluster.fork()
    const { pid } = worker.process
    workers.set(worker, createDrainer(worker, drainSeconds))
    worker.on('error', (error) =>
      log.error({ worker: pid, error: error.name }, 'a message to a process failed'),
    )
    worker.once('listening', () => {
      if (hasStarted) return
      hasStarted = true
      for (let started = 1; started < webConcurrency; started++) start(0)
    })
    worker.once('exit', (code: number | null, signal: string | null) => {
      workers.delete(worker)
      if (draining) return
      if (!hasStarted) process.exit(code || 1)
      const runs = Date.now() - startedAt < longRun ? shortRuns + 1 : 0
      const ms = backoff(runs)
      log.error({ worker: pid, code, signal, ms }, 'a process ended: it is replaced')
      setTimeout(() => start(runs), ms)
    })
  }

  async function stop(): Promise<void> {
    if (draining) return
    draining = true
    const running = [...workers.keys()]
    const killAll = () => {
      for (const worker of running) worker.process.kill('SIGKILL')
    }
    setTimeout(killAll, (drainSeconds + shutdownSeconds) * 1000)
    const exitCodes = running.map(exitCodeOf)
    for (const shutDown of workers.values()) shutDown()
    process.exit(Math.max(0, ...(await Promise.all(exitCodes))))
  }

  // The workers drain, so the primary itself stops at once.
  onShutdown({
    drainSeconds: 0,
    leave: () => log.info({ workers: workers.size }, 'told to shut down: so are its processes'),
    stop: () => void stop(),
  })
  start(0)
}
