import { sql } from 'drizzle-orm'
import { integrations } from '../../auth/table.ts'
import { preparedSql } from '../../data/prepared.ts'
import type { Connection } from '../../database/database.ts'

const turnMs = 10 * 60_000

/** Reports whether the month changes within ten minutes, or did: longer than any transaction, with clocks that
 *  differ. */
export const isAtTurnOfMonth = (now: Date): boolean =>
  new Date(now.getTime() - turnMs).getUTCMonth() !== new Date(now.getTime() + turnMs).getUTCMonth()

const lockIntegration = preparedSql(
  'lock_integration',
  () =>
    sql`select from ${integrations} where ${integrations.id} = ${sql.placeholder('integrationId')} for no key update`,
)

/** Keeps other transactions of the integration from using its nonces until this one ends: of two that begin in
 *  different months, the key of the table stops neither. */
export const lockNonces = (tx: Connection, integrationId: string) => lockIntegration(tx, { integrationId })
