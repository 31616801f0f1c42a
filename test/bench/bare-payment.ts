// The bare payment: only the writes of paying for one ticket, in one transaction, to the same tables with the
// same constraints. It checks, announces and returns nothing.

/** Columns of the locked payment. */
export const dueColumns = ['payment_id', 'organization_id', 'rate_id', 'price_id', 'amount', 'currency']

// Unique per transaction, and equal in all its statements.
const key = (client: string) =>
  `to_hex((extract(epoch from now()) * 1000000)::bigint) || '_' || ${client}::text`

/** The statements between `begin` and `commit`, in order. Each argument is the placeholder of a parameter.
 *  The first returns `dueColumns`, or no row if the payment is paid or missing; `takeNumber` returns `year`,
 *  `invoice_number` and `reference`. */
export const pay = {
  lockPayment: (number: string) => `
    select ${dueColumns.map((column) => `due.${column}`).join(', ')}
    from bench_due as due join payments on payments.id = due.payment_id
    where due.number = ${number} and payments.status = 'pending' for update of payments`,
  // Locked in order, because a deadlock costs a second.
  moveStock: (rateId: string, priceId: string) => `
    with locked as (select id, kind from stock where mode = 'live' and id in (${rateId}, ${priceId}) order by id for update)
    update stock set held = held - 1, sold = sold + 1 from locked
    where stock.mode = 'live' and stock.id = locked.id and stock.kind = locked.kind`,
  takeNumber: (organizationId: string) => `
    update invoice_series set last = last + 1
    where organization_id = ${organizationId} and kind = 'invoice'
      and year = extract(year from now() at time zone 'UTC')::integer
    returning year, last as invoice_number, 'F' || year || '-' || lpad(last::text, 6, '0') as reference`,
  insertInvoice: (
    client: string,
    due: { organizationId: string; paymentId: string; amount: string; currency: string },
    invoice: { year: string; number: string; reference: string },
  ) => `
    insert into invoices (id, organization_id, kind, year, number, reference, payment_id, amount, currency)
    values ('inv_' || ${key(client)}, ${due.organizationId}, 'invoice', ${invoice.year}, ${invoice.number},
      ${invoice.reference}, ${due.paymentId}, ${due.amount}, ${due.currency})`,
  updatePayment: (paymentId: string, reference: string) => `
    update payments set status = 'paid', paid_at = now(), invoice_reference = ${reference} where id = ${paymentId}`,
  updateTicket: (paymentId: string, reference: string) => `
    update tickets set status = 'active', activated_at = now(), invoice_reference = ${reference},
      document_token = replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')
    where payment_id = ${paymentId}`,
}
