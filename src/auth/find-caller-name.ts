import { eq } from 'drizzle-orm'
import type { Database } from '../database/database.ts'
import type { Caller } from './caller.ts'
import { channels, integrations } from './table.ts'

/** Finds the name that a caller was given when it was made. */
export async function findCallerName(db: Database, caller: Caller): Promise<string> {
  const isIntegration = caller.kind === 'integration'
  const table = isIntegration ? integrations : channels
  const id = isIntegration ? caller.integrationId : caller.channelId
  const [row] = await db.select({ name: table.name }).from(table).where(eq(table.id, id))
  if (!row) throw new Error('a caller without its name')
  return row.name
}
