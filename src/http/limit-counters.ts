import { LRUCache } from 'lru-cache'

/** Events of a key in the current window, or their sum, and the time left in that window. */
type WindowCount = { count: number; leftMs: number }

/** Counts events by key, in fixed windows that begin with the first event. */
type LimitCounters = {
  /** Counts an event, or adds an amount, and returns the new count. */
  add(key: string, amount?: number): WindowCount
  /** Removes one event from the current window. */
  takeBack(key: string): void
  /** Returns the count without changing it. */
  read(key: string): WindowCount
}

// About 5 MB with keys of 80 characters. Beyond that the least recently used key is evicted.
const maxKeys = 20_000

/** Creates counters for this process, bounded in memory. */
export function createLimitCounters(windowMs: number): LimitCounters {
  const windows = new LRUCache<string, { count: number; endsAt: number }>({ max: maxKeys })
  const currentOf = (key: string) => {
    const found = windows.get(key)
    return found && Date.now() < found.endsAt ? found : { count: 0, endsAt: Date.now() + windowMs }
  }
  const read = (key: string) => {
    const { count, endsAt } = currentOf(key)
    return { count, leftMs: endsAt - Date.now() }
  }
  return {
    add(key, amount = 1) {
      const current = currentOf(key)
      current.count += amount
      windows.set(key, current)
      return read(key)
    },
    takeBack(key) {
      const current = currentOf(key)
      if (current.count > 0) current.count--
    },
    read,
  }
}
