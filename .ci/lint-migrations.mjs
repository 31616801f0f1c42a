// Lints the migrations of a folder, `drizzle` unless another is named, by squawk with the rules of .squawk.toml. Each
// is linted as the migrator runs it: in a transaction, or statement by statement where it is marked so.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// The baseline begins with an empty database: nobody waits for its locks.
const lastExempt = '0000'

const config = fileURLToPath(new URL('../.squawk.toml', import.meta.url))
const squawk = createRequire(import.meta.url).resolve('squawk-cli/js/bin/squawk')
const [folder = 'drizzle'] = process.argv.slice(2)

const files = readdirSync(folder)
  .filter((name) => name.endsWith('.sql') && name.slice(0, lastExempt.length) > lastExempt)
  .sort()
  .map((name) => join(folder, name))
const isMarked = (file) => readFileSync(file, 'utf8').includes('-- migrate: no transaction')

function lint(linted, ...flags) {
  if (linted.length === 0) return true
  const { status } = spawnSync(process.execPath, [squawk, '--config', config, ...flags, ...linted], {
    stdio: 'inherit',
  })
  return status === 0
}

const inTransaction = lint(
  files.filter((file) => !isMarked(file)),
  '--assume-in-transaction',
)
const byStatement = lint(files.filter(isMarked))
process.exitCode = inTransaction && byStatement ? 0 : 1
