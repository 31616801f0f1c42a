import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/setup/longest-first.ts'

// Each folder holds one kind of test. Behaviour tests run on both databases, but for those of what is above the
// database, or of statements that other files run on both; tests of races, and of behaviour that only a
// PostgreSQL server has, run on PostgreSQL alone.
const filesOf = (...folders: string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`)

const behaviourOf = (...folders: string[]) => folders.map((folder) => `test/behaviour/${folder}/**`)

// What is above the database needs one of them: the contracts, and what is served to browsers, the embedded one;
// credentials, surfaces and what is sent, PostgreSQL, on which tests take half the time.
const onEmbedded = behaviourOf('contract', 'shop')
// Of the other folders, what takes long on the embedded database and runs no statement of the service that others don't
// run on both, but for those that drop a month. Migrations make the template of both.
const ofKnownStatements = [
  'box-office/issue-invitations',
  'box-office/refund-by-hand',
  'catalogue/import-again',
  'catalogue/import-mistakes',
  'change/change-cursors',
  'check-in/check-in',
  'check-in/groups',
  'check-in/scans-at-once',
  'database/migrate',
  'discount/discount-rules',
  'discount/discount-uses',
  'event/ages-and-slugs',
  'event/list-bounds',
  'event/revisions',
  'payment/amount-mismatch',
  'payment/expiry',
  'payment/page-language',
  'payment/pay',
  'payment/payment-page',
  'payment/sandbox',
  'payment/stripe-currencies',
  'payment/stripe-odd-events',
  'payment/stripe-session',
  'retention/months',
  'sales/currencies',
  'sales/day-of-sale',
  'ticket/bad-checkout',
  'ticket/checkout-access',
  'ticket/checkout-prices',
  'ticket/checkout-rules',
  'ticket/checkout-terms',
  'ticket/checkouts-at-once',
  'ticket/export-tickets',
  'ticket/list-rest',
  'ticket/lookup',
  'ticket/resend-tickets',
  'ticket/ticket-life',
  'ticket/tolerant-checkout',
  'ticket/transfer-ticket',
  'ticket/update-age',
  'ticket/update-attendee',
  'ticket/update-attendees',
].map((name) => `test/behaviour/${name}.test.ts`)
const onPostgres = [
  ...behaviourOf('auth', 'delivery', 'graphql', 'http', 'live', 'rest', 'webhook'),
  ...ofKnownStatements,
]

// Files that count the statements, runs or attempts that an optimisation saves.
const aboutOptimisations = [
  'behaviour/auth/rate-limit',
  'behaviour/check-in/scans-at-once',
  'behaviour/database/versioned-loader',
  'behaviour/event/revisions',
  'behaviour/event/viewer',
  'behaviour/graphql/joined-statements',
  'behaviour/graphql/nodes',
  'behaviour/graphql/statements',
  'behaviour/ticket/checkout-access',
  'behaviour/ticket/checkouts-at-once',
  'behaviour/ticket/lookup',
  'behaviour/ticket/update-attendees',
  'postgres/answer-in-time',
  'postgres/planned-once',
  'races/checkout',
  'races/hold',
  'races/settle-together',
  'races/settlement-neighbours',
  'unit/coalesce',
  'unit/compiler',
].map((name) => `test/${name}.test.ts`)

// Tests that run on a distributed database as well.
const onCitus = [
  'behaviour/refund/refund-ticket',
  'behaviour/ticket/list-payments',
  'behaviour/retention/months',
  'behaviour/retention/retention',
  'behaviour/retention/erase',
  'behaviour/verify/doctor',
  'long/flash-sale',
  'long/kill',
  'races/changes',
  'races/checkout',
  'races/delivery',
  'races/hold',
  'races/holder',
  'races/import',
  'races/refunds-at-once',
  'races/send-webhooks',
  'races/settle-together',
].map((name) => `test/${name}.test.ts`)

// Files in which no request meets an optimisation of this process: about settings, migrations, images, the
// repository, documents and jobs, or about a service in a process of its own, which has its own optimisations.
const elsewhere = [
  'behaviour/catalogue/import-*',
  'behaviour/contract/*',
  'behaviour/database/cli',
  'behaviour/database/migrate',
  'behaviour/delivery/document',
  'behaviour/graphql/walk',
  'behaviour/rest/openapi-*',
  'behaviour/retention/*',
  'behaviour/verify/*',
  'behaviour/webhook/send-webhooks',
  'behaviour/webhook/webhook-pace',
  'postgres/*-plans',
  'postgres/bench/*',
  'postgres/hostile',
  'postgres/metrics',
  'postgres/migrate',
  'postgres/traces',
  'races/changes',
  'races/delivery',
  'races/discounts',
  'races/import',
  'races/import-histories',
  'races/leaders',
  'races/leased-jobs',
  'races/retention',
  'races/send-webhooks',
  'unit/bench/*',
  'unit/boundaries',
  'unit/cli-usage',
  'unit/config',
  'unit/deploy/*',
  'unit/docs',
  'unit/language',
  'unit/lint-migrations',
  'unit/lock-folder',
  'unit/previous-release',
  'unit/snippets',
  'unit/untranslated',
].map((name) => `test/${name}.test.ts`)

// Long enough to end only tests that hang: a busy machine must not fail a test.
const limits = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 60_000 } } }

const project = (
  name: string,
  test: {
    include: string[]
    exclude?: string[]
    env?: Record<string, string>
    globalSetup?: string[]
  },
) => ({
  // Avoids two copies of graphql: `instanceof GraphQLError` fails across them.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  // Isolation off: loading the gateway for each file takes longer than most files' tests. The gateway keeps
  // its state per database, and each test file has its own database.
  test: { name, isolate: false, ...limits, ...test },
})

export default defineConfig({
  test: {
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    globalSetup: 'test/support/setup/build.ts',
    projects: [
      project('unit', { include: filesOf('unit') }),
      project('pglite', {
        include: filesOf('behaviour'),
        exclude: onPostgres,
        globalSetup: ['test/support/setup/pglite.ts'],
      }),
      project('postgres', {
        include: filesOf('behaviour', 'postgres', 'races'),
        exclude: onEmbedded,
        globalSetup: ['test/support/setup/postgres.ts'],
      }),
      // What sells on a Citus cluster, whose coordinator is at TEST_CITUS_URL. Its servers share the machine.
      project('citus', {
        include: [...filesOf('citus'), ...onCitus],
        globalSetup: ['test/support/setup/citus.ts'],
      }),
      // The same tests with every optimisation off.
      project('slow-forms', {
        include: filesOf('unit', 'behaviour', 'postgres', 'races'),
        exclude: [...aboutOptimisations, ...elsewhere],
        env: { FAST: 'off' },
        globalSetup: ['test/support/setup/postgres.ts'],
      }),
      // Tests that take minutes rather than seconds. Each is bounded, and reports its coverage.
      project('long', {
        include: filesOf('long'),
        env: { FUZZ_TIMES: process.env.FUZZ_TIMES ?? '6' },
        globalSetup: ['test/support/setup/postgres.ts'],
      }),
      project('system', {
        include: filesOf('system'),
        globalSetup: ['test/support/setup/chromium.ts', 'test/support/setup/pglite.ts'],
      }),
      // Clients of the service, with packages of their own.
      project('clients', {
        include: filesOf('clients'),
        exclude: ['**/node_modules/**'],
        globalSetup: ['test/clients/support/setup.ts'],
      }),
    ],
  },
})
