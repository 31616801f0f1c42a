import { LRUCache } from 'lru-cache'

// About 5 MB with keys of 80 characters. Beyond that the least recently used key is evicted.
const maxKeys = 20_000

/** Creates counters of events by key for this process, bounded in memory, in fixed windows that begin with the first
 *  event. */
export function createLimitCounters(windowMs: number) {
  const windows = new LRUCache<string, { count: number; endsAt: number }>({ max: maxKeys })
  const currentOf = (key: string) => {
    const found = windows.get(key)
    return found && Date.now() < found.endsAt ? found : { count: 0, endsAt: Date.now() + windowMs }
  }
  /** Returns the count of a key in its current window, and the time left in that window. */
  const read = (key: string) => {
    const { count, endsAt } = currentOf(key)
    return { count, leftMs: endsAt - Date.now() }
  }
  return {
    /** Counts an event, or adds an amount, and returns the new count. */
    add(key: string, amount = 1) {
      const current = currentOf(key)
      current.count += amount
      windows.set(key, current)
      return read(key)
    },
    /** Removes one event from the current window. */
    takeBack(key: string): void {
      const current = currentOf(key)
      if (current.count > 0) current.count--
    },
    read,
  }
}
