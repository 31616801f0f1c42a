import { busy, problem, Refusal } from '../../shared/errors.ts'

/** Limits of open streams, in each process. */
export type StreamLimits = {
  /** Streams of all clients. */
  total: number
  /** Streams with the same credentials. */
  perKey: number
  /** Those of them that are sent every event, not the latest state alone. */
  feedsPerKey: number
  /** Streams of the same address. */
  perAddress: number
}

const tooMany = (source: string, path: string, limit: number) =>
  new Refusal(problem('RATE_LIMITED', `Too many event streams ${source}.`, [path], { limit, retryAfter: 5 }))

/** Counts streams by name. */
class Counter {
  readonly #counts = new Map<string, number>()

  read(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  add(name: string, change: 1 | -1): void {
    const count = this.read(name) + change
    if (count > 0) this.#counts.set(name, count)
    else this.#counts.delete(name)
  }
}

/** Counts open streams by credentials, those of feeds once more, and by address. */
export class StreamCounts {
  readonly #limits: StreamLimits
  readonly #byKey = new Counter()
  readonly #feedsByKey = new Counter()
  readonly #byAddress = new Counter()
  #total = 0

  constructor(limits: StreamLimits) {
    this.#limits = limits
  }

  /** Counts a stream, by a hash of its credentials and its address. The returned function takes it back.
   *  Refuses: RATE_LIMITED with the path of what is limited, BUSY. */
  add(key: string, address: string, isFeed: boolean): () => void {
    const { total, perKey, feedsPerKey, perAddress } = this.#limits
    if (this.#byKey.read(key) >= perKey) throw tooMany('with this key', 'x-api-key', perKey)
    if (isFeed && this.#feedsByKey.read(key) >= feedsPerKey)
      throw tooMany('of changes and check-ins with this key', 'x-api-key', feedsPerKey)
    if (this.#byAddress.read(address) >= perAddress) throw tooMany('from this address', 'address', perAddress)
    if (this.#total >= total) throw busy('Too many event streams. Try again.')
    const count = (change: 1 | -1) => {
      this.#total += change
      this.#byKey.add(key, change)
      if (isFeed) this.#feedsByKey.add(key, change)
      this.#byAddress.add(address, change)
    }
    count(1)
    return () => count(-1)
  }
}
