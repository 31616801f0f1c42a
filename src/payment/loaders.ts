import { and, eq, or, sql } from 'drizzle-orm'
import { anyOf, loadOne, type Scope } from '../batch.ts'
import type { Database } from '../database.ts'
import { payments } from './table.ts'

export const paymentLoaders = (db: Database, scope: Scope) => ({
  paymentById: loadOne(db, scope, {
    name: 'payment_by_id',
    query: (db) =>
      db
        .select()
        .from(payments)
        .where(
          and(
            anyOf(payments.id, 'keys'),
            or(
              eq(payments.channelId, sql.placeholder('channelId')),
              anyOf(payments.organizationId, 'ownOrganizationIds'),
            ),
          ),
        ),
    key: (payment) => payment.id,
  }),
})
