import { type Ask, openClient, toBytes } from './http-client.ts'
import { percentile } from './statistics.ts'

export type Load = {
  port: number
  clients: number
  seconds: number
  asks: Ask[]
  /** Whether each client asks for the same thing all the time, rather than for one after another. */
  stay?: boolean
  /** Whether each of the requests is sent once, in order, by the first client that is free. */
  once?: boolean
}

/** What came of a load. Latencies in milliseconds. */
export type LoadResult = {
  answers: number
  seconds: number
  p50: number
  p99: number
  /** How many answers there were of each status. */
  statuses: Record<string, number>
  /** The length of the shortest and of the longest body, in bytes. */
  shortest: number
  longest: number
  /** Whether all requests that are sent once were sent before the time was over. */
  ranOut: boolean
}

/** Asks again and again for some seconds, each client for itself: the next request when the last one is answered.
 *  Every request that is sent is answered and counted, so that what the server did is what is told here. Each client
 *  begins at another of the requests, so that they don't ask for the same thing in step. */
export async function runLoad({
  port,
  clients,
  seconds,
  asks,
  stay = false,
  once = false,
}: Load): Promise<LoadResult> {
  const requests = asks.map((ask) => toBytes(ask, port))
  const opened = await Promise.all(Array.from({ length: clients }, () => openClient(port)))
  const latencies: number[] = []
  const statuses: Record<string, number> = {}
  let shortest = Number.POSITIVE_INFINITY
  let longest = 0
  let sent = 0
  let ranOut = false
  const start = performance.now()
  const end = start + seconds * 1000
  await Promise.all(
    opened.map(async (client, index) => {
      let next = Math.floor((index * requests.length) / clients)
      for (let now = performance.now(); now < end; ) {
        if (once && sent === requests.length) {
          ranOut = true
          break
        }
        const turn = once ? sent++ : next % requests.length
        const { status, length } = await client.send(requests[turn] ?? Buffer.alloc(0))
        if (!stay) next++
        shortest = Math.min(shortest, length)
        longest = Math.max(longest, length)
        const answered = performance.now()
        latencies.push(answered - now)
        statuses[status] = (statuses[status] ?? 0) + 1
        now = answered
      }
    }),
  ).finally(() => {
    for (const client of opened) client.close()
  })
  return {
    answers: latencies.length,
    seconds: (performance.now() - start) / 1000,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    statuses,
    shortest,
    longest,
    ranOut,
  }
}
