import { busy, refusal } from '../../shared/errors.ts'

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

/** Counts open streams by credentials, those of feeds once more, and by address. The returned function counts
 *  a stream, by a hash of its credentials and its address, and returns a function that takes it back.
 *  Refuses: RATE_LIMITED with the path of what is limited, BUSY. */
export function countStreams({ total, perKey, feedsPerKey, perAddress }: StreamLimits) {
  const counts = new Map<string, number>()
  const requireRoom = (name: string, limit: number, source: string, path: string) => {
    if ((counts.get(name) ?? 0) < limit) return
    throw refusal('RATE_LIMITED', `Too many event streams ${source}.`, [path], { limit, retryAfter: 5 })
  }
  return (key: string, address: string, isFeed: boolean): (() => void) => {
    const [byKey, byFeed, byAddress] = [`key ${key}`, `feed ${key}`, `address ${address}`]
    requireRoom(byKey, perKey, 'with this key', 'x-api-key')
    if (isFeed) requireRoom(byFeed, feedsPerKey, 'of changes and check-ins with this key', 'x-api-key')
    requireRoom(byAddress, perAddress, 'from this address', 'address')
    if ((counts.get('all') ?? 0) >= total) throw busy('Too many event streams. Try again.')
    const count = (change: 1 | -1) => {
      for (const name of ['all', byKey, byAddress, ...(isFeed ? [byFeed] : [])]) {
        const open = (counts.get(name) ?? 0) + change
        if (open > 0) counts.set(name, open)
        else counts.delete(name)
      }
    }
    count(1)
    return () => count(-1)
  }
}
