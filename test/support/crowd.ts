import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { onTestFinished } from 'vitest'

/** A socket of a crowd: the loopback address that it comes from, and what it sends once it is open. */
export type CrowdSocket = { localAddress: string; send?: string }

/** Sockets so far: `waiting` are not opened yet, `bytes` is all that they have received. */
type CrowdState = { waiting: number; open: number; closed: number; bytes: number }

/** Opens sockets to a service, from a thread of its own, until the test ends. */
export function openCrowd(url: string, sockets: CrowdSocket[]): { state(): Promise<CrowdState> } {
  const workerData = { port: Number(new URL(url).port), sockets }
  const worker = new Worker(new URL('crowd-worker.js', import.meta.url), { workerData })
  onTestFinished(async () => {
    await worker.terminate()
  })
  return {
    async state() {
      worker.postMessage('state')
      const [state] = await once(worker, 'message')
      return state
    },
  }
}

const medianOf = (times: number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0

/** Median times of requests in milliseconds. */
export type Medians = Record<string, number>

/** Sends each request so many times, one after the other. */
export async function mediansOf(
  requests: Record<string, () => Promise<unknown>>,
  times: number,
): Promise<Medians> {
  const named = Object.entries(requests).map(([name, send]) => ({ name, send, taken: [] as number[] }))
  for (let time = 0; time < times; time++)
    for (const { send, taken } of named) {
      const start = performance.now()
      await send()
      taken.push(performance.now() - start)
    }
  return Object.fromEntries(named.map(({ name, taken }) => [name, medianOf(taken)]))
}
