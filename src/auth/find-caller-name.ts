import { sql } from 'drizzle-orm'
import { query } from '../data/query.ts'
import type { Database } from '../database/database.ts'
import type { Caller } from './caller.ts'
import { channels, integrations } from './table.ts'

const nameFrom = (kind: Caller['kind'], table: typeof channels | typeof integrations) =>
  query<{ name: string }>(
    `name_of_${kind}`,
    () => sql`select ${table.name} from ${table} where ${table.id} = ${sql.placeholder('id')}`,
  )
const [ofChannel, ofIntegration] = [nameFrom('channel', channels), nameFrom('integration', integrations)]

/** Finds the name that a caller was given when it was made. */
export async function findCallerName(db: Database, caller: Caller): Promise<string> {
  const [row] =
    caller.kind === 'integration'
      ? await ofIntegration(db, { id: caller.integrationId })
      : await ofChannel(db, { id: caller.channelId })
  if (!row) throw new Error('a caller without its name')
  return row.name
}
