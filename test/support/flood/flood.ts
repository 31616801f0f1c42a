import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

type Headers = Record<string, string>

/** A request that a flood repeats. `{{n}}` in its body is a number that no other has. */
export type FloodRequest = { headers: Headers; body: string }

/** Answers by status and code: `200`, `503 BUSY`. */
export type FloodAnswers = Record<string, number>

/** Sends requests of one caller over and over on that many connections, from a thread of its own, while `work` runs. */
export async function duringFlood<Result>(
  url: string,
  requests: FloodRequest[],
  connections: number,
  work: () => Promise<Result>,
): Promise<{ result: Result; answers: FloodAnswers }> {
  const [first] = requests
  const sent = { ...first?.headers, 'content-type': 'application/json', accept: 'application/json' }
  const bodies = requests.map(({ body }) => body)
  const workerData = { url: `${url}/graphql`, headers: sent, bodies, connections }
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
