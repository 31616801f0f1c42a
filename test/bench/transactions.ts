import { percentile } from './statistics.ts'

/** Transactions made one after another by each client for some seconds. Latencies in milliseconds. */
export type Transactions = { transactions: number; seconds: number; p50: number; p99: number }

/** Runs a transaction again and again by so many clients, each for itself. What runs at the end is finished and counted.
 *  `turn` counts a client's transactions from 0. */
export async function runTransactions(
  { clients, seconds }: { clients: number; seconds: number },
  runOnce: (client: number, turn: number) => Promise<void>,
): Promise<Transactions> {
  const latencies: number[] = []
  const start = performance.now()
  const end = start + seconds * 1000
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      let turn = 0
      for (let now = performance.now(); now < end; ) {
        await runOnce(client, turn++)
        const done = performance.now()
        latencies.push(done - now)
        now = done
      }
    }),
  )
  return {
    transactions: latencies.length,
    seconds: (performance.now() - start) / 1000,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  }
}
