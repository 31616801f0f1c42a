import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { AggregatorRegistry, type Registry } from 'prom-client'
import { withTimeout } from '../base/timers.ts'

// Messages between the primary of a cluster, which is scraped, and its workers. prom-client's own ones fail a
// worker that is disconnected while it answers, and keep each request that was never answered.
type Question = { metricsQuestion: number }
type Answer = { metricsAnswer: number; metrics: object[] }

const timeoutMs = 4_000

/** Lets a worker answer the primary with its metrics. */
export function answerPrimary(registry: Registry): void {
  const { worker } = cluster
  worker?.on('message', async (message: Partial<Question> | null) => {
    if (message?.metricsQuestion === undefined) return
    const answer = { metricsAnswer: message.metricsQuestion, metrics: await registry.getMetricsAsJSON() }
    if (worker.isConnected()) worker.send(answer satisfies Answer)
  })
}

let questions = 0

/** Asks a worker. Resolves to null if it exits first. Throws if it does not answer in time. */
async function ask(worker: Worker): Promise<object[] | null> {
  const id = ++questions
  const ended = new AbortController()
  const { signal } = ended
  async function answered(): Promise<object[]> {
    for (;;) {
      const [message]: (Answer | null)[] = await once(worker, 'message', { signal })
      if (message?.metricsAnswer === id) return message.metrics
    }
  }
  const outcomes = [answered(), once(worker, 'exit', { signal }).then(() => null)]
  const late = () => {
    throw new Error('a process does not answer')
  }
  try {
    worker.send({ metricsQuestion: id } satisfies Question)
    return await withTimeout(timeoutMs, Promise.race(outcomes), late)
  } finally {
    ended.abort()
    await Promise.allSettled(outcomes)
  }
}

/** Collects the metrics of all workers of a cluster, added up; gauges of what they share count once. Throws if
 *  one does not answer, because sums without it would look like a restart of all. */
export async function collectFromWorkers(): Promise<string> {
  const workers = Object.values(cluster.workers ?? {})
  const asked = workers.flatMap((worker) => (worker?.isConnected() ? [ask(worker)] : []))
  const metrics = (await Promise.all(asked)).filter((answer) => answer !== null)
  return AggregatorRegistry.aggregate(metrics).metrics()
}
