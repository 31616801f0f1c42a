import { defineConfig } from 'vitest/config'
import { UnitFirst } from './test/setup/unit-first.ts'

// Tests that take no database of the set-up run once. Every other file runs once on each database, unless its name
// says postgres.
const once = [
  'bench/bench',
  'bench/beside',
  'bench/payments',
  'bench/whole-sale',
  'cli-usage',
  'compiled-execution',
  'boundaries',
  'accept',
  'caches',
  'config',
  'batch-queue',
  'json-writer',
  'lint-migrations',
  'lock-folder',
  'moment',
  'money',
  'public-address',
  'schema',
  'server',
  'stripe',
  'turn',
].map((name) => `test/${name}.test.ts`)
const all = 'test/**/*.test.ts'
const onPostgresOnly = 'test/**/*.postgres.test.ts'
const inSystem = 'test/system/*.test.ts'
// Minutes rather than seconds: bounded, and each says what it did.
const inLong = 'test/long/*.test.ts'
// The bench installs a package of its own below test/.
const inPackages = '**/node_modules/**'

// They only end what hangs: a machine that is busy with something else is no reason to fail.
const limits = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 60_000 } } }

const project = (name: string, test: { include: string[]; exclude?: string[]; globalSetup?: string[] }) => ({
  // Else there are two copies of graphql, and neither knows the other's errors.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  // A process for each file spends more on loading the gateway than most files do on their tests. What the gateway keeps
  // between requests it keeps by database, and each test file has its own.
  test: { name, isolate: false, ...limits, ...test },
})

export default defineConfig({
  test: {
    maxWorkers: 2,
    sequence: { sequencer: UnitFirst },
    globalSetup: 'test/setup/build.ts',
    projects: [
      project('unit', { include: once }),
      project('pglite', {
        include: [all],
        exclude: [...once, inSystem, inLong, onPostgresOnly, inPackages],
        globalSetup: ['test/setup/pglite.ts'],
      }),
      project('postgres', {
        include: [all],
        exclude: [...once, inSystem, inLong, inPackages],
        globalSetup: ['test/setup/postgres.ts'],
      }),
      project('long', {
        include: [inLong],
        globalSetup: ['test/setup/postgres.ts'],
      }),
      project('system', {
        include: [inSystem],
        globalSetup: ['test/setup/chromium.ts', 'test/setup/pglite.ts'],
      }),
    ],
  },
})
