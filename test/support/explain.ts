import { sql } from 'drizzle-orm'
import type { Database } from '../../src/database/database.ts'

/** A statement that the service sent, with its parameters. */
export type SeenStatement = { text: string; parameters: unknown[] }

/** Returns PostgreSQL's plan of this exact statement with its parameters. */
export async function explain(db: Database, { text, parameters }: SeenStatement): Promise<string> {
  const [head = '', ...tail] = text.split(/\$\d+/)
  const order = [...text.matchAll(/\$(\d+)/g)].map((match) => parameters[Number(match[1]) - 1])
  const statement = tail.reduce(
    (built, part, index) => sql`${built}${sql.param(order[index])}${sql.raw(part)}`,
    sql`explain ${sql.raw(head)}`,
  )
  const rows = (await db.execute(statement)) as unknown as { 'QUERY PLAN': string }[]
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}
