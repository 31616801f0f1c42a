import type { HoldTask } from './hold-driver.ts'
import { hold } from './hold-statements.ts'
import { runPgbench } from './pgbench.ts'
import type { Transactions } from './transactions.ts'

// The yardstick of the checkouts: pgbench, doing the bare hold.

const script = `
\\set target random(1, :targets)
begin;
${hold.insertPayment(':target', ':client_id')};
${hold.insertTicket(':target', ':client_id')};
${hold.moveStock(':target')};
commit;
`

/** Holds for some seconds with one connection a client. */
export const holdWithPgbench = (
  databaseUrl: string,
  { clients, seconds, targets }: HoldTask,
): Promise<Transactions> => runPgbench(databaseUrl, { script, variables: { targets }, clients, seconds })
