import { and, eq, getTableColumns, or, sql } from 'drizzle-orm'
import { anyOf } from '../batch.ts'
import { loadOne, type Reader } from '../reader.ts'
import { rowsOf } from '../rows.ts'
import { payments } from './table.ts'

const paymentRows = rowsOf(getTableColumns(payments))

export const paymentLoaders = (reader: Reader) => ({
  paymentById: loadOne(reader, {
    name: 'payment_by_id',
    rows: paymentRows,
    query: (select) =>
      select
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
