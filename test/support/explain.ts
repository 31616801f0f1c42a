import { sql } from 'drizzle-orm'
import type { Connection, Database, DatabaseOptions } from '../../src/engine/database/database.ts'
import { inIndexOrder } from '../../src/engine/database/transaction.ts'
import { anEvent, aRateNamed } from './factories.ts'
import { openTestDatabase } from './harness.ts'
import { openSale, type Sale } from './sale.ts'

/** A statement that the service sent, with its parameters. */
export type SeenStatement = { text: string; parameters: unknown[] }

/** Returns PostgreSQL's plan of this exact statement with its parameters; with `(analyze)` as it is run. */
export async function explain(
  db: Connection,
  { text, parameters }: SeenStatement,
  options: '' | '(analyze)' = '',
): Promise<string> {
  const [head = '', ...tail] = text.split(/\$\d+/)
  const order = [...text.matchAll(/\$(\d+)/g)].map((match) => parameters[Number(match[1]) - 1])
  const statement = tail.reduce(
    (built, part, index) => sql`${built}${sql.param(order[index])}${sql.raw(part)}`,
    sql`explain ${sql.raw(options)} ${sql.raw(head)}`,
  )
  const rows = (await db.execute(statement)) as unknown as { 'QUERY PLAN': string }[]
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

/** Returns the plan within a transaction that reads in the order of an index. */
export const explainInIndexOrder = (db: Database, statement: SeenStatement): Promise<string> =>
  inIndexOrder(db, (tx) => explain(tx, statement))

/** Returns the plan that PostgreSQL would make with the settings of the server, which allow a look through a whole table. */
export const explainByDefaults = (db: Database, statement: SeenStatement): Promise<string> =>
  db.transaction(async (tx) => {
    await tx.execute(sql`set local enable_seqscan = on`)
    await tx.execute(sql`set local random_page_cost = 4`)
    return explain(tx, statement)
  })

/** Opens a sale of events `evt_0`, `evt_1`, …, each with one rate and price of its number, and collects the
 *  statements that it sends. `available` is null for any number of places. */
export async function openSeenSale(
  eventCount: number,
  available: number | null,
  options: DatabaseOptions = {},
): Promise<{ sale: Sale; seen: SeenStatement[] }> {
  const seen: SeenStatement[] = []
  const database = await openTestDatabase({
    onStatement: (text, parameters) => seen.push({ text, parameters }),
    ...options,
  })
  const events = Array.from({ length: eventCount }, (_, number) =>
    anEvent({
      _id: `evt_${number}`,
      ticket_rates: [aRateNamed(String(number), { availability: { sold: 0, available } })],
    }),
  )
  const sale = await openSale({
    events,
    database: { settings: {}, open: async () => database, drop: async () => {} },
  })
  return { sale, seen }
}
