import { getTableColumns } from 'drizzle-orm'
import { loadOne } from '../../engine/data/batch-loader.ts'
import { readByIds } from '../../engine/data/by-organization.ts'
import { fewRowsOf, rowsOf } from '../../engine/data/json-rows.ts'
import { ownById, query } from '../../engine/data/query.ts'
import type { Context } from '../caller/context.ts'
import { soldBatch } from '../caller/sold.ts'
import { refusal } from '../contract/problem-codes.ts'
import { type Payment, type PaymentOfRate, payments, rateOfPayment } from './table.ts'

/** Loads payments that the caller made as a channel, or that its organization sold. */
export const paymentById = loadOne(
  'own',
  soldBatch<PaymentOfRate>({
    name: 'payment_by_id',
    rows: rowsOf({ ...getTableColumns(payments), ticketRateId: rateOfPayment }),
    table: payments,
    column: payments.id,
    key: ({ id }) => id,
  }),
)

/** Loads a payment of the caller. Refuses: NOT_FOUND, also for somebody else's payment. */
export async function requirePayment(id: string, { loaders }: Context, path = ['paymentId']) {
  const payment = await loaders.load(paymentById, id)
  if (!payment) throw refusal('NOT_FOUND', 'There is no such payment.', path)
  return payment
}

/** Finds a payment of an organization without permission checks. */
export const findPayment = readByIds<Payment>('any_payment_by_id', {
  rows: rowsOf(getTableColumns(payments)),
  query: ownById(payments),
})

const { id, organizationId, mode } = payments

/** Finds payments of an organization with the rates of their tickets, without what else they have. */
export const ratesOfPayments = query('rates_of_payments', {
  rows: fewRowsOf({ id, organizationId, ticketRateId: rateOfPayment, mode }),
  query: ownById(payments),
})
