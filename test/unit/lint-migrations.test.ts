// Runs in: unit

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createMigrationFolder, type MigrationFolder } from '../support/migrations.ts'

// Lint rules of new migrations, which npm run check enforces.

const script = fileURLToPath(new URL('../../.ci/lint-migrations.mjs', import.meta.url))

let files: MigrationFolder
beforeEach(async () => {
  files = await createMigrationFolder()
})
afterEach(() => files.remove())

/** Lists the rules that files with these texts break, in order. */
async function broken(...texts: string[]): Promise<string[]> {
  await files.write(Object.fromEntries(texts.map((text, index) => [`${1000 + index}_try`, text])))
  const { code, stdout } = await promisify(execFile)(process.execPath, [script, files.folder]).then(
    (told) => ({ code: 0, ...told }),
    (failed: { code: number; stdout: string }) => failed,
  )
  // Each report links to the page of its rule; `rules` is the index of all rules.
  const pages = [...stdout.matchAll(/squawkhq\.com\/docs\/([a-z-]+)/g)].map(([, page]) => page ?? '')
  const rules = pages.filter((page) => page !== 'rules')
  expect(code === 0).toBe(rules.length === 0)
  return rules
}

test('a file that runs in a transaction may create tables and need not be idempotent', async () => {
  expect(
    await broken('create table one (id text primary key)', 'alter table one add column name text'),
  ).toEqual([])
})

test.each([
  ['a column that old rows lack', 'alter table one add column name text not null', 'adding-required-field'],
  ['an index that blocks writes', 'create index one_id on one (id)', 'require-concurrent-index-creation'],
  [
    'a foreign key that validates every row',
    'alter table one add constraint one_other foreign key (other) references other (id)',
    'adding-foreign-key-constraint',
  ],
  ['a type that rewrites every row', 'alter table one alter column id type uuid', 'changing-column-type'],
])('%s is reported', async (_what, text, rule) => {
  expect(await broken(text)).toContain(rule)
})

test('a file without a transaction must be idempotent', async () => {
  const marker = '-- migrate: no transaction\n'
  expect(await broken(`${marker}create index concurrently one_id on one (id)`)).toEqual([
    'prefer-robust-stmts',
  ])
  expect(await broken(`${marker}create index concurrently if not exists one_id on one (id)`)).toEqual([])
})
