import type { HoldTask } from './hold-driver.ts'
import { hold } from './hold-statements.ts'
import { runPgbench } from './pgbench.ts'
import type { Transactions } from './transactions.ts'

// The yardstick of checkouts: pgbench running the bare hold.

const script = `
\\set target random(1, :targets)
begin;
${hold.insertPayment(':target', ':client_id')};
${hold.insertTicket(':target', ':client_id')};
${hold.moveStock(':target')};
commit;
`

/** Runs holds for some seconds with one connection per client. */
export const holdWithPgbench = (
  databaseUrl: string,
  { clients, seconds, targets }: HoldTask,
): Promise<Transactions> => runPgbench(databaseUrl, { script, variables: { targets }, clients, seconds })
