import { type Ask, freshKey, openClient, toBytes } from './http-client.ts'
import { percentile } from './statistics.ts'

export type Load = {
  port: number
  clients: number
  seconds: number
  asks: Ask[]
  /** True if each client repeats the same request instead of cycling through all. */
  stay?: boolean
  /** True if each request is sent once, in order, by the first free client. */
  once?: boolean
}

/** Results of a load. Latencies in milliseconds. */
export type LoadResult = {
  answers: number
  seconds: number
  p50: number
  p99: number
  /** Number of responses by status. */
  statuses: Record<string, number>
  /** Lengths of the shortest and the longest body, in bytes. */
  shortest: number
  longest: number
  /** True if all one-time requests were sent before the time was over. */
  ranOut: boolean
}

/** Runs closed-loop clients for some seconds: each sends its next request after the last response. Every
 *  request that was sent is awaited and counted, so that the result covers all the server's work. Clients
 *  start at different requests, so that they don't send the same ones in step. */
export async function runLoad({
  port,
  clients,
  seconds,
  asks,
  stay = false,
  once = false,
}: Load): Promise<LoadResult> {
  const requests = asks.map((ask) => toBytes(ask, port))
  const keyPlaces = requests.map((bytes) => bytes.indexOf(freshKey))
  const toSend = (turn: number) => {
    const [bytes = Buffer.alloc(0), place = -1] = [requests[turn], keyPlaces[turn]]
    if (place < 0) return bytes
    const fresh = Buffer.from(bytes)
    fresh.write(crypto.randomUUID(), place)
    return fresh
  }
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
        const { status, length } = await client.send(toSend(turn))
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
