import { busy, refusal } from '../../base/errors.ts'
import type { HttpConfig } from '../../config/http.ts'

// Share of all connections that event streams may take; the rest is for requests.
const shareOfConnections = 0.8

/** Counts open streams by credentials, those of feeds once more, and by address, in this process. Those of feeds are
 *  sent every event, not the latest state alone. The returned function counts a stream, by a hash of its credentials
 *  and its address, and returns a function that takes it back. Refuses: RATE_LIMITED with the path of what is
 *  limited, BUSY. */
export function countStreams(limits: HttpConfig) {
  const total = Math.ceil(limits.maxConnections * shareOfConnections)
  const counts = new Map<string, number>()
  const requireRoom = (name: string, limit: number, source: string, path: string) => {
    if ((counts.get(name) ?? 0) < limit) return
    throw refusal('RATE_LIMITED', `Too many event streams ${source}.`, [path], { limit, retryAfter: 5 })
  }
  return (key: string, address: string, isFeed: boolean): (() => void) => {
    const [byKey, byFeed, byAddress] = [`key ${key}`, `feed ${key}`, `address ${address}`]
    requireRoom(byKey, limits.streamsPerKey, 'with this key', 'x-api-key')
    if (isFeed)
      requireRoom(byFeed, limits.feedStreamsPerKey, 'of changes and check-ins with this key', 'x-api-key')
    requireRoom(byAddress, limits.streamsPerAddress, 'from this address', 'address')
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
