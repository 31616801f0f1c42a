import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { defineConfig } from 'vitest/config'
import { longestFirst } from './test/support/setup/longest-first.ts'

// Projects in which the tests of each folder run. A file that runs in others says so in its first line:
// `// Runs in: postgres, citus`. The word `first` among them starts a file that takes half a minute or more before the
// others. A file is left out of
// - `pglite`, if it takes long there and runs no statement of the service that others don't run on both databases;
// - `slow-forms`, if it counts what an optimisation saves, or meets none in this process: settings, migrations, jobs,
//   the repository, and services in processes of their own.
const projectsOf: Record<string, string> = {
  unit: 'unit, slow-forms',
  'unit/bench': 'unit',
  'unit/deploy': 'unit',
  // Behaviour runs on both databases, but for what is above them: what is served to browsers on the embedded one, the
  // rest on PostgreSQL, on which tests take half the time.
  behaviour: 'pglite, postgres, slow-forms',
  'behaviour/auth': 'postgres, slow-forms',
  'behaviour/contract': 'pglite',
  'behaviour/delivery': 'postgres, slow-forms',
  'behaviour/graphql': 'postgres, slow-forms',
  'behaviour/http': 'postgres, slow-forms',
  'behaviour/live': 'postgres, slow-forms',
  'behaviour/rest': 'postgres, slow-forms',
  'behaviour/retention': 'pglite, postgres, citus',
  'behaviour/shop': 'pglite, slow-forms',
  'behaviour/webhook': 'postgres, slow-forms',
  postgres: 'postgres, slow-forms',
  'postgres/bench': 'postgres',
  races: 'postgres, slow-forms',
  citus: 'citus',
  long: 'long',
  system: 'system',
  clients: 'clients',
}

const projectNames = new Set(Object.values(projectsOf).flatMap((names) => names.split(', ')))

const testsIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : testsIn(path)
    return path.endsWith('.test.ts') ? [path] : []
  })

const files = testsIn('test').map((path) => {
  const said = /^\/\/ Runs in: (.*)/.exec(readFileSync(path, 'utf8'))?.[1]
  const folder = relative('test', dirname(path))
  const words = (said ?? projectsOf[folder] ?? projectsOf[dirname(folder)] ?? '').split(', ')
  const projects = words.filter((word) => word !== 'first')
  const unknown = projects.find((name) => !projectNames.has(name))
  if (unknown !== undefined) throw new Error(`${path} runs in no project, or in one that is none: ${unknown}`)
  return { path, projects, isFirst: words.includes('first') }
})

// Long enough to end only tests that hang: a busy machine must not fail a test.
const limits = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 60_000 } } }
// A report shows the values that were compared, and not their number alone.
const reports = { chaiConfig: { truncateThreshold: 1_000 } }

const project = (name: string, test: { env?: Record<string, string>; globalSetup?: string[] } = {}) => ({
  // Avoids two copies of graphql: `instanceof GraphQLError` fails across them.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    name,
    include: files.filter(({ projects }) => projects.includes(name)).map(({ path }) => path),
    // Isolation off: loading the gateway for each file takes longer than most files' tests. The gateway keeps
    // its state per database, and each test file has its own database.
    isolate: false,
    ...limits,
    ...reports,
    ...test,
  },
})

export default defineConfig({
  test: {
    // One more than the two processors of a small machine, which idle a fifth of the time with two. They need 3 GB.
    maxWorkers: 3,
    sequence: {
      sequencer: longestFirst(new Set(files.filter(({ isFirst }) => isFirst).map(({ path }) => path))),
    },
    globalSetup: 'test/support/setup/build.ts',
    projects: [
      project('unit'),
      project('pglite', { globalSetup: ['test/support/setup/pglite.ts'] }),
      project('postgres', { globalSetup: ['test/support/setup/postgres.ts'] }),
      // What sells on a Citus cluster, whose coordinator is at TEST_CITUS_URL. Its servers share the machine.
      project('citus', { globalSetup: ['test/support/setup/citus.ts'] }),
      // The same tests with every optimisation off.
      project('slow-forms', { env: { FAST: 'off' }, globalSetup: ['test/support/setup/postgres.ts'] }),
      // Tests that take minutes rather than seconds. Each is bounded, and reports its coverage.
      project('long', {
        env: { FUZZ_TIMES: process.env.FUZZ_TIMES ?? '6' },
        globalSetup: ['test/support/setup/postgres.ts'],
      }),
      project('system', {
        globalSetup: ['test/support/setup/chromium.ts', 'test/support/setup/pglite.ts'],
      }),
      // Clients of the service, with packages of their own.
      project('clients', { globalSetup: ['test/clients/support/setup.ts'] }),
    ],
  },
})
