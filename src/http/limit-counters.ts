import { LRUCache } from 'lru-cache'

/** Events of a key in the running window, and how long that window still lasts. */
export type Counted = { count: number; leftMs: number }

/** Counts events by key, in windows of a fixed length that begin with the first event. */
export type LimitCounters = {
  /** Counts one more event, and gives what that makes. */
  add(key: string): Counted
  /** Takes one back that was counted in the window that runs. */
  takeBack(key: string): void
  /** The same without counting. */
  read(key: string): Counted
}

// Some 5 MB, with keys of 80 characters. Beyond that the key that was used longest ago is forgotten.
const maxKeys = 20_000

/** Makes counters that are bounded in memory and belong to this process alone. */
export function createLimitCounters(windowMs: number): LimitCounters {
  const windows = new LRUCache<string, { count: number; startedAt: number }>({ max: maxKeys })
  const find = (key: string) => {
    const found = windows.get(key)
    return found && Date.now() < found.startedAt + windowMs ? found : null
  }
  const counted = ({ count, startedAt }: { count: number; startedAt: number }): Counted => ({
    count,
    leftMs: startedAt + windowMs - Date.now(),
  })
  return {
    add(key) {
      const running = find(key) ?? { count: 0, startedAt: Date.now() }
      running.count++
      windows.set(key, running)
      return counted(running)
    },
    takeBack(key) {
      const running = find(key)
      if (running && running.count > 0) running.count--
    },
    read: (key) => counted(find(key) ?? { count: 0, startedAt: Date.now() }),
  }
}
