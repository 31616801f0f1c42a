import { type Ask, type Client, openClient, toBytes } from './http-client.ts'
import { percentile } from './statistics.ts'

/** Several kinds of requests, each sent at a steady pace by a client of its own. */
export type Pace = { port: number; seconds: number; perSecond: number; kinds: Record<string, Ask[]> }

/** Results of one kind. Latencies in milliseconds. */
export type Paced = { answers: number; p50: number; p99: number; statuses: Record<string, number> }

// Connections of each kind, opened before the clock starts.
const spare = 4

/** Sends `perSecond` requests of each kind without waiting for earlier responses. If all connections are
 *  busy, opening another one counts as part of its request. */
export async function runPace({ port, seconds, perSecond, kinds }: Pace): Promise<Record<string, Paced>> {
  const pause = 1000 / perSecond
  const names = Object.keys(kinds)
  const opened: Client[] = []
  const open = async () => {
    const client = await openClient(port)
    opened.push(client)
    return client
  }
  const start = performance.now() + 100
  const wait = (until: number) =>
    new Promise((resolve) => setTimeout(resolve, Math.max(0, until - performance.now())))

  async function paced(asks: Ask[], offset: number): Promise<Paced> {
    const requests = asks.map((ask) => toBytes(ask, port))
    const idle = await Promise.all(Array.from({ length: spare }, open))
    const latencies: number[] = []
    const statuses: Record<string, number> = {}
    const send = async (turn: number) => {
      const sent = performance.now()
      const client = idle.pop() ?? (await open())
      const { status } = await client.send(requests[turn % requests.length] ?? Buffer.alloc(0))
      latencies.push(performance.now() - sent)
      statuses[status] = (statuses[status] ?? 0) + 1
      idle.push(client)
    }
    const sending: Promise<void>[] = []
    let failure: unknown = null
    for (let turn = 0; turn < seconds * perSecond; turn++) {
      await wait(start + offset + turn * pause)
      sending.push(
        send(turn).catch((error) => {
          failure ??= error
        }),
      )
    }
    await Promise.all(sending)
    if (failure) throw failure
    return {
      answers: latencies.length,
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
      statuses,
    }
  }
  try {
    // Spreads the kinds over the interval.
    const all = names.map((name, index) => paced(kinds[name] ?? [], (index * pause) / names.length))
    return Object.fromEntries((await Promise.all(all)).map((result, index) => [names[index], result]))
  } finally {
    for (const client of opened) client.close()
  }
}
