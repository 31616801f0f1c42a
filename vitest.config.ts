import { defineConfig } from 'vitest/config'
import { UnitFirst } from './test/support/setup/unit-first.ts'

// A folder is a kind of test. Behaviour is tested on both databases; what only a server of PostgreSQL can show, and races,
// on that alone.
const filesOf = (...folders: string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`)

// They only end what hangs: a machine that is busy with something else is no reason to fail.
const limits = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 60_000 } } }

const project = (name: string, test: { include: string[]; globalSetup?: string[] }) => ({
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
    globalSetup: 'test/support/setup/build.ts',
    projects: [
      project('unit', { include: filesOf('unit') }),
      project('pglite', {
        include: filesOf('behaviour'),
        globalSetup: ['test/support/setup/pglite.ts'],
      }),
      project('postgres', {
        include: filesOf('behaviour', 'postgres', 'races'),
        globalSetup: ['test/support/setup/postgres.ts'],
      }),
      // Minutes rather than seconds: bounded, and each says what it did.
      project('long', {
        include: filesOf('long'),
        globalSetup: ['test/support/setup/postgres.ts'],
      }),
      project('system', {
        include: filesOf('system'),
        globalSetup: ['test/support/setup/chromium.ts', 'test/support/setup/pglite.ts'],
      }),
    ],
  },
})
