import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** A request that a flood repeats, to GraphQL if it names no path. `{{n}}` in its body is a number that no other has. */
export type FloodRequest = {
  method?: 'GET' | 'POST'
  path?: string
  headers?: Record<string, string>
  body?: string
}

/** Answers by status and code: `200`, `503 BUSY`. */
export type FloodAnswers = Record<string, number>

/** Floods a service with requests in turn by that many connections, from a thread of its own, while `work` runs. Resolves
 *  to what the work did, and to the number of answers. */
export async function duringFlood<Result>(
  url: string,
  requests: FloodRequest[],
  connections: number,
  work: () => Promise<Result>,
): Promise<{ result: Result; answers: FloodAnswers }> {
  const workerData = { url, requests, connections }
  const worker = new Worker(new URL('flood-worker.js', import.meta.url), { workerData })
  try {
    const result = await work()
    worker.postMessage('stop')
    const [answers] = (await once(worker, 'message')) as [FloodAnswers]
    return { result, answers }
  } finally {
    await worker.terminate()
  }
}
