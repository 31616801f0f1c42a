import { index, integer, pgEnum, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, minorUnits, organizationForeignKey } from '../../engine/database/columns.ts'
import { organizationId } from '../organization/table.ts'
import { payments } from '../payment/table.ts'
import { refunds } from '../refund/table.ts'

/** Kinds of invoices. Each has a series of its own, so that test sales leave no gap in the live ones. */
export const invoiceKind = pgEnum('invoice_kind', [
  'invoice',
  'corrective',
  'test_invoice',
  'test_corrective',
])

/** Series of an organization's invoices, one per kind and year, with the last number issued. */
export const invoiceSeries = pgTable(
  'invoice_series',
  {
    organizationId: organizationId(),
    kind: invoiceKind().notNull(),
    /** Of the day at the venue. */
    year: integer().notNull(),
    last: integer().notNull(),
  },
  (series) => [primaryKey({ columns: [series.organizationId, series.kind, series.year] })],
)

/** Invoices: one per paid checkout, and a corrective one per refund of a ticket. */
export const invoices = pgTable(
  'invoices',
  {
    id: text().notNull(),
    organizationId: organizationId(),
    kind: invoiceKind().notNull(),
    year: integer().notNull(),
    /** 1, 2, 3 within its series, without gaps. */
    number: integer().notNull(),
    /** Printed number: `F2026-000001`, or `R2026-000001` for a corrective one; `TEST-F2026-000001` and
     *  `TEST-R2026-000001` in test mode. */
    reference: text().notNull(),
    paymentId: text('payment_id').notNull(),
    /** Refund that a corrective invoice is for. */
    refundId: text('refund_id'),
    /** Amount paid, or refunded for a corrective one, in minor units. */
    amount: minorUnits('amount').notNull(),
    currency: text().notNull(),
    createdAt: createdAt(),
  },
  (invoice) => [
    primaryKey({ columns: [invoice.id, invoice.organizationId] }),
    organizationForeignKey('invoices_of_payments', invoice, invoice.paymentId, payments),
    organizationForeignKey('invoices_of_refunds', invoice, invoice.refundId, refunds),
    uniqueIndex('invoices_in_series').on(invoice.organizationId, invoice.kind, invoice.year, invoice.number),
    uniqueIndex('invoices_once_per_refund').on(invoice.refundId, invoice.organizationId),
    index().on(invoice.paymentId),
  ],
)

export type Invoice = typeof invoices.$inferSelect
