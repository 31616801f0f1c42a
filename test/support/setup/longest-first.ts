import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// The files that take longest, by what they took. A fresh clone has no durations yet, and Vitest would begin with
// the largest files: a short one that takes minutes, begun last, leaves a worker idle.
const longest = [
  'long/floods',
  'long/reads',
  'long/authorization-matrix',
  'long/embedded-growth',
  'long/documents',
  'long/faults',
  'long/embedded-commands',
  'long/kill',
  'long/fuzz-rest',
  'long/server',
  'long/list-plans',
  'long/database-faults',
  'long/start',
  'long/upgrade',
  'long/hostile-control',
  'long/tls',
  'long/fuzz-graphql',
  'long/progress',
  'long/telemetry',
  'long/cluster',
  'long/crowd',
  'long/production-install',
  'long/fuzz-pages',
  'long/strangers',
  'long/cache-sizes',
  'long/cli',
  'long/flash-sale',
  'long/hot-updates',
  'long/chosen-statements',
  'long/database-waits',
  'long/roles',
  'long/migrate-files',
  'long/one-process',
  'long/openapi-lint',
  'long/authorization-controls',
  'long/plans',
  'long/growth',
  'long/statement-pool',
  'long/two-nodes',
  'long/leaving',
  'long/stripe-process',
  'long/find-host',
  'system/accessibility',
  'system/graphiql',
  'system/shop',
  'system/rest-documentation',
  'system/mails',
  'system/restore-drill',
  'system/payment-page',
  'system/nginx',
  'system/ticket-pdf',
  'system/pgbouncer',
  'system/stripe-page',
  'system/first-sale',
  'clients/relay',
  'clients/codegen',
  'clients/apollo',
  'unit/lock-folder',
  'unit/cli-usage',
  'unit/fan-out',
  'unit/bench/beside',
  'behaviour/delivery/notices',
  'postgres/fuzz-graphql',
  'races/refunds-at-once',
  'behaviour/live/payment',
  'behaviour/live/slow-reader',
  'postgres/retention-plans',
  'behaviour/retention/delete-old',
  'races/hold',
  'races/checkout',
  'behaviour/database/migrate',
  'behaviour/ticket/ticket-life',
  'races/settle-together',
  'races/changes',
  'behaviour/database/cli',
  'races/discounts',
  'postgres/random-queries',
  'postgres/hostile',
  'behaviour/catalogue/import-catalogue',
  'postgres/fuzz-rest',
  'postgres/traces',
  'behaviour/http/slow-clients',
  'behaviour/discount/discount-uses',
  'behaviour/check-in/door-fields',
  'postgres/metrics',
].map((name) => `test/${name}.test.ts`)

const isUnit = ({ project }: TestSpecification) => Number(project.name === 'unit')

/** Runs the project `unit` before the others, and within a project the files that take longest before the
 *  others, for which Vitest's order stays. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = longest.indexOf(relative(this.ctx.config.root, moduleId))
      return at < 0 ? longest.length : at
    }
    const order = (a: TestSpecification, b: TestSpecification) =>
      isUnit(b) - isUnit(a) || a.project.name.localeCompare(b.project.name) || rank(a) - rank(b)
    return (await super.sort(files)).sort(order)
  }
}
