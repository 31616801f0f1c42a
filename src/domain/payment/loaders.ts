import { and, getTableColumns } from 'drizzle-orm'
import { type Batch, loadOne, type Readers } from '../../data/batch-loader.ts'
import { rowsOf } from '../../data/json-rows.ts'
import { anyOf, isOwn } from '../../data/prepared.ts'
import { type Payment, payments } from './table.ts'

const byId: Batch<Payment> = {
  name: 'payment_by_id',
  rows: rowsOf(getTableColumns(payments)),
  query: (select, keys) => select.from(payments).where(and(anyOf(payments.id, keys), isOwn(payments))),
  key: ({ id }) => id,
}

/** Loads payments that the caller made as a channel, or that its organization sold. */
export const paymentById = ({ own }: Readers) => loadOne(own, byId)
