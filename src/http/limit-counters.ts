import { LRUCache } from 'lru-cache'

/** Events of a key in the current window, and the time left in that window. */
export type WindowCount = { count: number; leftMs: number }

/** Counts events by key, in fixed windows that begin with the first event. */
export type LimitCounters = {
  /** Counts an event and returns the new count. */
  add(key: string): WindowCount
  /** Removes one event from the current window. */
  takeBack(key: string): void
  /** Returns the count without changing it. */
  read(key: string): WindowCount
}

// About 5 MB with keys of 80 characters. Beyond that the least recently used key is evicted.
const maxKeys = 20_000

/** Creates counters for this process, bounded in memory. */
export function createLimitCounters(windowMs: number): LimitCounters {
  const windows = new LRUCache<string, { count: number; startedAt: number }>({ max: maxKeys })
  const findCurrent = (key: string) => {
    const found = windows.get(key)
    return found && Date.now() < found.startedAt + windowMs ? found : null
  }
  const counted = ({ count, startedAt }: { count: number; startedAt: number }): WindowCount => ({
    count,
    leftMs: startedAt + windowMs - Date.now(),
  })
  return {
    add(key) {
      const current = findCurrent(key) ?? { count: 0, startedAt: Date.now() }
      current.count++
      windows.set(key, current)
      return counted(current)
    },
    takeBack(key) {
      const current = findCurrent(key)
      if (current && current.count > 0) current.count--
    },
    read: (key) => counted(findCurrent(key) ?? { count: 0, startedAt: Date.now() }),
  }
}
