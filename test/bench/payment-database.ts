import type { BenchDatabase } from './database.ts'
import { settle } from './database.ts'
import {
  countPaid,
  createDue,
  type DuePayment,
  fillDue,
  type Provider,
  readDue,
  readPaymentRules,
} from './due-payments.ts'
import type { MakeDue } from './payment-sides.ts'
import type { Holds } from './sides.ts'

/** A database with due payments. */
export type PaymentDatabase = {
  makeDue: MakeDue
  countPaid(): Promise<Holds>
  /** Lists the broken invariants, or returns null. */
  findBroken(): Promise<string | null>
}

// More than either side can pay.
const duePerSecond = 5000

/** Prepares a copy of the base database with due payments of a provider for this many seconds. */
export async function openPaymentDatabase(
  database: BenchDatabase,
  provider: Provider,
  seconds: number,
): Promise<PaymentDatabase> {
  const { sql } = database
  const makeDue: MakeDue = async (seconds) => {
    await sql.begin(async (tx) => {
      for (const statement of fillDue(seconds * duePerSecond, provider)) await tx.unsafe(statement)
    })
    return [...(await sql.unsafe<DuePayment[]>(readDue))]
  }
  for (const statement of createDue) await sql.unsafe(statement)
  await makeDue(seconds)
  await settle(database)
  return {
    makeDue,
    async countPaid() {
      const [counts] = await sql.unsafe<Record<string, string>[]>(countPaid)
      return Object.fromEntries(Object.entries(counts ?? {}).map(([kind, count]) => [kind, Number(count)]))
    },
    async findBroken() {
      for (const [rule, broken] of Object.entries(await readPaymentRules())) {
        const [row] = await sql.unsafe<{ count: number }[]>(
          `select count(*)::integer as count from (${broken}) as broken`,
        )
        if (row?.count) return `${rule}: ${row.count}`
      }
      return null
    },
  }
}
