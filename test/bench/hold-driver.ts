import postgres from 'postgres'
import { hold } from './hold-statements.ts'
import { percentile } from './statistics.ts'
import { answerTasks } from './worker.ts'

export type HoldTask = { clients: number; seconds: number; targets: number }
/** Latencies in milliseconds. */
export type HoldResult = { transactions: number; seconds: number; p50: number; p99: number }

// The yardstick of the checkouts where there is no pgbench: the driver, and nothing between it and the transaction.

const sql = postgres(process.env.DATABASE_URL ?? '', { max: 64, onnotice: () => {} })

async function holdOnce(target: number, client: number): Promise<void> {
  const prepare = { prepare: true }
  await sql.begin(async (tx) => {
    await tx.unsafe(hold.insertPayment('$1::integer', '$2'), [target, String(client)], prepare)
    await tx.unsafe(hold.insertTicket('$1::integer', '$2'), [target, String(client)], prepare)
    await tx.unsafe(hold.moveStock('$1::integer'), [target], prepare)
  })
}

answerTasks(async ({ clients, seconds, targets }: HoldTask): Promise<HoldResult> => {
  const latencies: number[] = []
  const start = performance.now()
  const end = start + seconds * 1000
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let now = performance.now(); now < end; ) {
        await holdOnce(1 + Math.floor(Math.random() * targets), client)
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
})
