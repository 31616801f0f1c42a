import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** A request of a flood. */
export type FloodRequest = {
  method: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: string
}

/** Floods a service with requests by so many connections of one address, from a thread of its own, while work runs.
 *  Resolves to what the work did, and to the number of answers by status. */
export async function beside<Result>(
  flood: { url: string; requests: FloodRequest[]; connections: number },
  work: () => Promise<Result>,
): Promise<{ result: Result; statuses: Record<string, number> }> {
  const worker = new Worker(new URL('flood-worker.js', import.meta.url), { workerData: flood })
  try {
    const result = await work()
    worker.postMessage('end')
    const [statuses] = await once(worker, 'message')
    return { result, statuses }
  } finally {
    await worker.terminate()
  }
}
