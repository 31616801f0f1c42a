import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// The files that take longest, by what they took. A fresh clone has no durations yet, and Vitest would begin with
// the largest files: a short one that takes minutes, begun last, leaves a worker idle.
const longest = [
  'long/authorization-matrix',
  'long/list-plans',
  'long/fuzz-rest',
  'long/faults',
  'long/cluster',
  'long/documents',
  'long/production-install',
  'long/fuzz-graphql',
  'long/hostile-control',
  'long/upgrade',
  'long/kill',
  'long/start',
  'long/telemetry',
  'long/roles',
  'long/openapi-lint',
  'long/stripe-process',
  'long/authorization-controls',
  'long/hot-updates',
  'long/cli',
  'long/server',
  'long/flash-sale',
  'long/one-process',
  'long/find-host',
  'long/tls',
  'long/database-faults',
  'long/fuzz-pages',
  'system/accessibility',
  'system/shop',
  'system/graphiql',
  'system/rest-documentation',
  'system/ticket-pdf',
  'system/payment-page',
  'system/restore-drill',
  'system/pgbouncer',
  'system/first-sale',
  'unit/cli-usage',
  'postgres/random-queries',
  'postgres/fuzz-graphql',
  'behaviour/ticket/ticket-life',
  'races/changes',
  'behaviour/database/migrate',
  'races/discounts',
  'postgres/fuzz-rest',
  'postgres/hostile',
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
