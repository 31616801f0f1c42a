import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { demoCatalogue, demoEvents } from './catalogue.ts'

// Imports a demo catalogue, dated from today, by the import command. With --to FILE it only writes the file, for a service
// elsewhere.

const cli = fileURLToPath(new URL('../../../../dist/cli.js', import.meta.url))
const usage = `Usage: npm run seed -- [--events N] [--to FILE] [--json] [--quiet]    (${demoEvents} events by default)`

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        events: { type: 'string', default: String(demoEvents) },
        to: { type: 'string' },
        json: { type: 'boolean', default: false },
        quiet: { type: 'boolean', default: false },
      },
    })
    return /^[1-9]\d{0,4}$/.test(values.events) ? values : null
  } catch {
    return null
  }
}

/** Returns the exit code. */
function seed(): number {
  const given = readArguments()
  if (!given) {
    console.error(usage)
    return 2
  }
  const { events, to, json, quiet } = given
  const catalogue = JSON.stringify(demoCatalogue({ events: Number(events) }))
  if (to !== undefined) {
    writeFileSync(to, catalogue)
    return 0
  }
  const folder = mkdtempSync(join(tmpdir(), 'boxoffice-demo-'))
  try {
    const file = join(folder, 'catalogue.json')
    writeFileSync(file, catalogue)
    const options = [...(json ? ['--json'] : []), ...(quiet ? ['--quiet'] : [])]
    const { status } = spawnSync(process.execPath, [cli, 'import', file, '--no-notify', ...options], {
      stdio: 'inherit',
    })
    if (status === 0 && !json) console.log('\nThe demo catalogue is loaded.')
    return status ?? 1
  } finally {
    rmSync(folder, { recursive: true })
  }
}

process.exitCode = seed()
