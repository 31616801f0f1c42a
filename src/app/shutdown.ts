import cluster, { type Worker } from 'node:cluster'

// How one of several processes ends. A worker that closes the port by itself gives back the connections that are still
// on their way to it, and Node forgets those that the last worker gives back: they stay open, and nobody answers
// (nodejs/node#21746). So the primary takes the port away first, and whatever it accepted comes before its word.
const drain = 'drain'
const listens = 'listens'
// Before that a worker is told that it leaves: it still answers, and says that it is not ready.
const leave = 'leave'

/** Looks after a worker from its fork on. What comes back tells it to leave, and to end so many seconds later; it may be
 *  called again. */
export function createDrainer(worker: Worker, drainSeconds: number): () => void {
  let isListening = false
  let isLeaving = false
  const close = () => {
    if (!worker.isConnected() || worker.exitedAfterDisconnect) return
    worker.send(drain)
    worker.disconnect()
  }
  const end = () => {
    // One that does not listen yet has nothing to finish.
    if (!isListening) worker.process.kill('SIGTERM')
    else if (drainSeconds === 0) close()
    else if (!isLeaving) {
      isLeaving = true
      worker.send(leave)
      setTimeout(close, drainSeconds * 1000)
    }
  }
  worker.on('message', (word) => {
    if (word === listens) isListening = true
    else end()
  })
  return end
}

export type ShutdownHandlers = {
  drainSeconds: number
  /** Called when the process is told to end: from then on it is not ready. */
  leave(): void
  /** Called `drainSeconds` later, when it is to finish what runs and to end; maybe more than once. */
  stop(): void
}

/** Waits until this process is told to end: by SIGTERM and SIGINT, which a worker passes on to the primary, whose word
 *  it then waits for. */
export function onShutdown({ drainSeconds, leave: begin, stop }: ShutdownHandlers): void {
  const { worker } = cluster
  const ask = () => {
    if (worker?.isConnected()) worker.send(drain)
  }
  const leaveByItself = () => {
    begin()
    setTimeout(stop, drainSeconds * 1000)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, worker ? ask : leaveByItself)
  if (!worker) return
  process.on('message', (word) => {
    begin()
    if (word === drain) stop()
  })
  worker.send(listens)
}
