import cluster, { type Worker } from 'node:cluster'

// How one of several processes ends. A worker that closes the port by itself gives back the connections that are still
// on their way to it, and Node forgets those that the last worker gives back: they stay open, and nobody answers
// (nodejs/node#21746). So the primary takes the port away first, and whatever it accepted comes before its word.
const drain = 'drain'
const listens = 'listens'

/** Looks after a worker from its fork on. What comes back tells it to end; it may be called again. */
export function drainer(worker: Worker): () => void {
  let isListening = false
  const end = () => {
    // One that does not listen yet has nothing to finish.
    if (!isListening) worker.process.kill('SIGTERM')
    else if (!worker.exitedAfterDisconnect) {
      worker.send(drain)
      worker.disconnect()
    }
  }
  worker.on('message', (word) => {
    if (word === listens) isListening = true
    else end()
  })
  return end
}

/** Calls back whenever this process is told to end: by SIGTERM and SIGINT, which a worker passes on to the primary,
 *  whose word it then waits for. */
export function whenToldToEnd(stop: () => void): void {
  const { worker } = cluster
  const ask = () => {
    if (worker?.isConnected()) worker.send(drain)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, worker ? ask : stop)
  if (!worker) return
  process.on('message', stop)
  worker.send(listens)
}
