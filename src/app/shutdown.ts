import cluster, { type Worker } from 'node:cluster'
import { errorCode } from '../engine/base/errors.ts'
import { isConnectionFailure } from '../engine/database/pool/failures.ts'
import { type Log, logFailure } from '../engine/http/mask-error.ts'

// Messages between the primary of a cluster and its workers. If a worker closed the port itself, it would
// return connections in transit to the primary, and Node drops those that the last worker returns: they stay
// open and are never answered (nodejs/node#21746). So the primary disconnects the worker itself; connections
// already handed over arrive before `drain` does.
const drainMessage = 'drain'
const listensMessage = 'listens'
// Sent before `drain`: the worker still answers, but `/ready` says that it is not ready.
const leaveMessage = 'leave'

/** Tracks a worker from its fork on. The returned function makes it leave, and stop `drainSeconds` later;
 *  calling it again is harmless. */
export function createDrainer(worker: Worker, drainSeconds: number): () => void {
  let isListening = false
  let isLeaving = false
  const close = () => {
    if (!worker.isConnected() || worker.exitedAfterDisconnect) return
    worker.send(drainMessage)
    worker.disconnect()
  }
  const shutDown = () => {
    // A worker that does not listen yet has nothing to finish.
    if (!isListening) worker.process.kill('SIGTERM')
    else if (!isLeaving) {
      isLeaving = true
      worker.send(leaveMessage)
      setTimeout(close, drainSeconds * 1000)
    }
  }
  worker.on('message', (message) => {
    if (message === listensMessage) isListening = true
    else if (message === drainMessage) shutDown()
  })
  return shutDown
}

type ShutdownHandlers = {
  drainSeconds: number
  /** Called when a shutdown is requested. From then on the process must report that it is not ready. */
  leave(): void
  /** Called `drainSeconds` later, possibly more than once. Must finish running work and exit. */
  stop(): void
}

/** Registers handlers for a shutdown by SIGTERM or SIGINT. A worker passes the signal on to the primary and
 *  waits for its messages. */
export function onShutdown({ drainSeconds, leave, stop }: ShutdownHandlers): void {
  const { worker } = cluster
  const askPrimary = () => {
    if (worker?.isConnected()) worker.send(drainMessage)
  }
  const shutDown = () => {
    leave()
    setTimeout(stop, drainSeconds * 1000)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, worker ? askPrimary : shutDown)
  if (!worker) return
  process.on('message', (message) => {
    if (message !== drainMessage && message !== leaveMessage) return
    leave()
    if (message === drainMessage) stop()
  })
  worker.send(listensMessage)
}

// The driver wrote to a socket that is already closed. Not EPIPE, which the log itself may cause.
const isClosedSocket = (error: unknown) => errorCode(error) === 'EBADF'

/** Tolerates unhandled errors of database connections, which the driver (3.4.9) causes if a server stops
 *  while it is asked for its types, or if TLS ends before the last message is written. Any other unhandled
 *  error leaves the process in an unknown state: it is logged, and the process exits with 1. */
export function watchUnhandled(log: Log): void {
  const handle = (isTolerated: (error: unknown) => boolean) => (error: unknown) => {
    if (isTolerated(error)) return logFailure(log, error, 'a connection to the database failed')
    logFailure(log, error, 'unhandled error: the process ends')
    process.exit(1)
  }
  process.on('unhandledRejection', handle(isConnectionFailure))
  process.on('uncaughtException', handle(isClosedSocket))
}
