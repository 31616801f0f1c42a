import { z } from 'zod'
import { copiedTables } from '../domain/caller/table.ts'
import type { Files } from '../engine/base/files.ts'
import { command } from '../engine/base/parse.ts'
import type { OpenDatabase } from '../engine/database/database.ts'
import { type Access, examine, examineDatabases, examineInvariants, type Finding } from './doctor.ts'

// Commands for the database as a whole. Exit codes of those that examine the service are 0 if all is well, 1 if
// something needs a person, and 2 if something is broken.

type Open = (() => Promise<unknown>) & { whole(): Promise<OpenDatabase> }

const noArguments = z.strictObject({})
const file = z.tuple([z.string()], 'must be one')

const migrate = command(noArguments, async (_, open: Open) => {
  await open()
  return { json: { migrated: true }, text: 'The tables are up to date.' }
})

const distribute = command(noArguments, async (_, open: Open) => {
  const json = await (await open.whole()).distribute(copiedTables)
  const { distributed, reference, done } = json
  const text = `Tables distributed by organization: ${distributed}, copied to every server: ${reference}, done before: ${done}. Start the service again.`
  return { json, text: distributed + reference > 0 ? text : 'The tables are distributed already.' }
})

function requireEmbedded({ readConfig }: Access, tool: string): string {
  const { databaseUrl, dataDir } = readConfig('command')
  if (databaseUrl) throw new Error(`DATABASE_URL is set: use ${tool} for PostgreSQL, see docs/operations.md.`)
  return dataDir
}

const written = z.strictObject({ file })

const backup = command(written, async ({ file: [path] }, open: Open, access: Access, files: Files) => {
  requireEmbedded(access, 'pg_dump')
  const bytes = await (await open.whole()).dump()
  await files.write(path, bytes)
  return { json: { file: path, bytes: bytes.length }, text: `The database is in ${path}.` }
})

const restore = command(
  z.strictObject({ file, force: z.boolean().default(false) }),
  async ({ file: [name], force: replace }, _open: Open, access: Access, files: Files) => {
    const folder = requireEmbedded(access, 'pg_restore')
    const { restoreEmbedded } = await import('../engine/database/pglite.ts')
    await restoreEmbedded(folder, { backup: await files.read(name), name, replace })
    return { json: { restored: folder }, text: `The database of ${name} is in ${folder}.` }
  },
)

// With the exit code that each leads to.
const levels = {
  ok: { label: 'ok', code: 0 },
  attention: { label: 'look', code: 1 },
  broken: { label: 'BROKEN', code: 2 },
}

function report(findings: Finding[]) {
  const code = Math.max(0, ...findings.map(({ level }) => levels[level].code))
  const lines = findings.map(
    ({ check, level, text }) => `${levels[level].label.padEnd(7)} ${check.padEnd(11)} ${text}`,
  )
  return { json: { code, findings }, text: lines.join('\n'), code }
}

const doctor = command(noArguments, async (_, _open: Open, access: Access) => report(await examine(access)))

const verify = command(noArguments, async (_, _open: Open, access: Access) =>
  report(await examineDatabases(access, examineInvariants)),
)

export const databaseCommands = { migrate, distribute, backup, restore, doctor, verify }
