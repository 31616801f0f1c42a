import { z } from 'zod'
import type { OpenDatabase } from '../database/database.ts'
import type { Files } from '../shared/files.ts'
import { parse } from '../shared/input-types.ts'
import {
  type Examined,
  examine,
  examineDatabases,
  examineInvariants,
  type Finding,
  toCode,
} from './doctor.ts'

// Commands for the database as a whole. Each parses its arguments, then resolves to its output. Exit codes of those that
// examine the service are 0 if all is well, 1 if something needs a person, and 2 if something is broken.

type Open = (() => Promise<unknown>) & { whole(): Promise<OpenDatabase> }

const noArguments = z.strictObject({})
const file = z.tuple([z.string()], 'must be one')

function migrate(input: object) {
  parse(noArguments, input)
  return async (open: Open) => {
    await open()
    return { json: { migrated: true }, text: 'The tables are up to date.' }
  }
}

function distribute(input: object) {
  parse(noArguments, input)
  return async (open: Open) => {
    const json = await (await open.whole()).distribute()
    const { distributed, reference, done } = json
    const text = `Tables distributed by organization: ${distributed}, copied to every server: ${reference}, done before: ${done}. Start the service again.`
    return { json, text: distributed + reference > 0 ? text : 'The tables are distributed already.' }
  }
}

function requireEmbedded({ readConfig }: Examined, tool: string): string {
  const { databaseUrl, dataDir } = readConfig('command')
  if (databaseUrl) throw new Error(`DATABASE_URL is set: use ${tool} for PostgreSQL, see docs/operations.md.`)
  return dataDir
}

function backup(input: object) {
  const [path] = parse(z.strictObject({ file }), input).file
  return async (open: Open, examined: Examined, files: Files) => {
    requireEmbedded(examined, 'pg_dump')
    const bytes = await (await open.whole()).dump()
    await files.write(path, bytes)
    return { json: { file: path, bytes: bytes.length }, text: `The database is in ${path}.` }
  }
}

function restore(input: object) {
  const {
    force,
    file: [path],
  } = parse(z.strictObject({ file, force: z.boolean().optional() }), input)
  return async (_open: Open, examined: Examined, files: Files) => {
    const folder = requireEmbedded(examined, 'pg_restore')
    const { restoreEmbedded } = await import('../database/pglite.ts')
    await restoreEmbedded(folder, { backup: await files.read(path), name: path, replace: force === true })
    return { json: { restored: folder }, text: `The database of ${path} is in ${folder}.` }
  }
}

const labels: Record<Finding['level'], string> = { ok: 'ok', attention: 'look', broken: 'BROKEN' }

const toText = (findings: Finding[]): string =>
  findings
    .map(({ check, level, text }) => `${labels[level].padEnd(7)} ${check.padEnd(11)} ${text}`)
    .join('\n')

function report(findings: Finding[]) {
  const code = toCode(findings)
  return { json: { code, findings }, text: toText(findings), code }
}

function doctor(args: object) {
  parse(noArguments, args)
  return async (_open: unknown, examined: Examined) => report(await examine(examined))
}

function verify(args: object) {
  parse(noArguments, args)
  return async (_open: unknown, examined: Examined) =>
    report(await examineDatabases(examined, examineInvariants))
}

export const databaseCommands = { migrate, distribute, backup, restore, doctor, verify }
