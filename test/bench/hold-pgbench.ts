import type { HoldTask } from './hold-driver.ts'
import { callHold, hold } from './hold-statements.ts'
import { runPgbench } from './pgbench.ts'
import type { Transactions } from './transactions.ts'

// The yardsticks of checkouts: pgbench running the bare hold, or the product's own.

const chooseTarget = `\\set target random(1, :targets)`
const bareScript = `
${chooseTarget}
begin;
${hold.insertPayment(':target', ':client_id')};
${hold.insertTicket(':target', ':client_id')};
${hold.moveStock(':target')};
commit;
`

/** Runs holds for some seconds with one connection per client. */
export const holdWithPgbench = (
  databaseUrl: string,
  { clients, seconds, targets, ofCall }: HoldTask,
): Promise<Transactions> => {
  const script = ofCall ? `${chooseTarget}\n${callHold(':target', ofCall)};\n` : bareScript
  return runPgbench(databaseUrl, { script, variables: { targets }, clients, seconds })
}
