import { LRUCache } from 'lru-cache'

// About 5 MB with keys of 80 characters. Beyond that the least recently used key is evicted.
const maxKeys = 20_000

/** Creates counters of events by key for this process, bounded in memory, in fixed windows that begin with the first
 *  event. */
export function createLimitCounters(windowMs: number) {
  const clock = { perf: { now: () => Date.now() }, ttlResolution: 0 }
  // A key is kept to the end of its last millisecond.
  const window = { ttl: windowMs - 1, noUpdateTTL: true }
  const counts = new LRUCache<string, number>({ max: maxKeys, ...window, ...clock })
  /** Returns the count of a key in its current window, and the time left in that window. */
  const read = (key: string) => ({ count: counts.get(key) ?? 0, leftMs: counts.getRemainingTTL(key) + 1 })
  return {
    /** Counts an event, or adds an amount, and returns the new count. */
    add(key: string, amount = 1) {
      counts.set(key, read(key).count + amount)
      return read(key)
    },
    /** Removes one event from the current window. */
    takeBack(key: string): void {
      const { count } = read(key)
      if (count > 0) counts.set(key, count - 1)
    },
    read,
  }
}
