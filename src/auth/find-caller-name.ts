import { eq, sql } from 'drizzle-orm'
import { statement } from '../data/prepared.ts'
import type { Database } from '../database/database.ts'
import type { Caller } from './caller.ts'
import { channels, integrations } from './table.ts'

/** Finds the name that a caller was given when it was made. */
export async function findCallerName(db: Database, caller: Caller): Promise<string> {
  const [name, id] =
    caller.kind === 'integration' ? ['integration', caller.integrationId] : ['channel', caller.channelId]
  const table = caller.kind === 'integration' ? integrations : channels
  const [row] = await statement(db, `name_of_${name}`, (db) =>
    db
      .select({ name: table.name })
      .from(table)
      .where(eq(table.id, sql.placeholder('id'))),
  ).execute({ id })
  if (!row) throw new Error(`a caller without its ${name}`)
  return row.name
}
