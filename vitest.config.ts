import { defineConfig } from 'vitest/config'

// Tests that need no database, or bring their own, run once. Every other file runs once on each database.
const withoutDatabase = ['boundaries', 'config', 'lock-folder', 'money', 'schema', 'server'].map((name) => `test/${name}.test.ts`)
const onPostgresOnly = 'test/*.postgres.test.ts'

const project = (name: string, test: { include: string[]; exclude?: string[]; globalSetup?: string[] }) => ({
  // Else there are two copies of graphql, and neither knows the other's errors.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: { name, testTimeout: 30_000, hookTimeout: 60_000, ...test },
})

export default defineConfig({
  test: {
    maxWorkers: 2,
    globalSetup: 'test/setup/build.ts',
    projects: [
      project('unit', { include: withoutDatabase }),
      project('pglite', {
        include: ['test/*.test.ts'],
        exclude: [...withoutDatabase, onPostgresOnly],
        globalSetup: ['test/setup/pglite.ts'],
      }),
      project('postgres', {
        include: ['test/*.test.ts'],
        exclude: withoutDatabase,
        globalSetup: ['test/setup/postgres.ts'],
      }),
      project('system', {
        include: ['test/system/*.test.ts'],
        globalSetup: ['test/setup/chromium.ts', 'test/setup/pglite.ts'],
      }),
    ],
  },
})
