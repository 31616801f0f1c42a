import { percentile } from './statistics.ts'

/** Results of sequential transactions of several clients. Latencies in milliseconds. */
export type Transactions = { transactions: number; seconds: number; p50: number; p99: number }

/** Repeats a transaction with each client for some seconds. Running transactions are finished and counted.
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
