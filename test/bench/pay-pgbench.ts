import { pay } from './bare-payment.ts'
import type { PayTask } from './pay-driver.ts'
import { runPgbench } from './pgbench.ts'
import type { Transactions } from './transactions.ts'

// The yardstick of payments: pgbench running the bare payment.

const due = {
  organizationId: ':organization_id',
  paymentId: ':payment_id',
  amount: ':amount',
  currency: ':currency',
}
const invoice = { year: ':year', number: ':invoice_number', reference: ':reference' }

// Clients share no numbers of the list. A paid or missing payment returns no row, in which case \gset ends
// the run with an error.
const script = `
\\set number :turn * :clients + :client_id + 1
\\set turn :turn + 1
begin;
${pay.lockPayment(':number')} \\gset
${pay.moveStock(':rate_id', ':price_id')};
${pay.takeNumber(':organization_id')} \\gset
${pay.insertInvoice(':client_id', due, invoice)};
${pay.updatePayment(':payment_id', ':reference')};
${pay.updateTicket(':payment_id', ':reference')};
commit;
`

/** Pays due payments for some seconds, each once, with one connection per client. */
export const payWithPgbench = (databaseUrl: string, { clients, seconds }: PayTask): Promise<Transactions> =>
  runPgbench(databaseUrl, { script, variables: { turn: 0, clients }, clients, seconds })
