import { LRUCache } from 'lru-cache'
import { perDatabase } from '../../../engine/database/database.ts'

// Parallel requests to a receiver that is new to this process, or has failed.
const minConcurrency = 4
// Maximum number of parallel requests to one receiver, so that sockets are left for others.
const maxConcurrency = 64
// Receivers that are remembered. One that is forgotten begins anew.
const maxReceivers = 1_000

/** Rounds of parallel requests in a batch. */
export const roundsPerBatch = 5

/** Number of deliveries that are claimed at once for a receiver that is new to this process. */
export const firstBatchSize = minConcurrency * roundsPerBatch

type Pace = { concurrency: number; fastestMs: number }
type BatchOutcome = { hasFailed: boolean; isFull: boolean; meanMs: number }

/** Numbers of parallel requests that receivers take, as this process has seen: doubled after each full batch
 *  that was answered about as fast as the fastest one, halved when answers take more than twice as long, and
 *  back at the minimum after a failure. */
export class Paces {
  readonly #paces = new LRUCache<string, Pace>({ max: maxReceivers })

  /** Returns the number of parallel requests to a webhook. */
  concurrencyOf(webhookId: string): number {
    return this.#paces.get(webhookId)?.concurrency ?? minConcurrency
  }

  /** Lists the webhooks that may have more than `firstBatchSize`, and how many. */
  batches(): { webhookId: string; size: number }[] {
    const faster = [...this.#paces.entries()].filter(([, { concurrency }]) => concurrency > minConcurrency)
    return faster.map(([webhookId, { concurrency }]) => ({ webhookId, size: concurrency * roundsPerBatch }))
  }

  /** Adapts the pace of a webhook to the outcome of a batch: whether an attempt failed, and the mean time of an answer in
   *  milliseconds. `isFull` if there was as much to send as the pace allows. */
  learn(webhookId: string, { hasFailed, isFull, meanMs }: BatchOutcome): void {
    if (hasFailed) return void this.#paces.delete(webhookId)
    const concurrency = this.concurrencyOf(webhookId)
    const fastestMs = this.#paces.get(webhookId)?.fastestMs ?? meanMs
    const isSlower = meanMs > 2 * fastestMs
    const faster = isFull ? Math.min(maxConcurrency, 2 * concurrency) : concurrency
    this.#paces.set(webhookId, {
      concurrency: isSlower ? Math.max(minConcurrency, concurrency / 2) : faster,
      // Rises slowly, so that a receiver that has become slower for good is not held back for ever.
      fastestMs: Math.min(meanMs, fastestMs + Math.max(0, meanMs - fastestMs) / 10),
    })
  }
}

/** The paces of receivers of a database in this process. */
export const pacesOf = perDatabase(() => new Paces())
