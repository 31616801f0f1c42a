import { z } from 'zod'
import type { OpenDatabase } from '../database/database.ts'
import type { Files } from '../shared/files.ts'
import { parse } from '../shared/input-types.ts'
import type { Examined } from './doctor.ts'

// Commands for the database as a whole. Each parses its arguments, then resolves to its output.

type Open = (() => Promise<unknown>) & { whole(): Promise<OpenDatabase> }

const file = z.tuple([z.string()], 'must be one')

function migrate(input: object) {
  parse(z.strictObject({}), input)
  return async (open: Open) => {
    await open()
    return { json: { migrated: true }, text: 'The tables are up to date.' }
  }
}

function distribute(input: object) {
  parse(z.strictObject({}), input)
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
    const { restoreEmbedded } = await import('../database/restore-embedded.ts')
    await restoreEmbedded(folder, { backup: await files.read(path), name: path, replace: force === true })
    return { json: { restored: folder }, text: `The database of ${path} is in ${folder}.` }
  }
}

export const databaseCommands = { migrate, distribute, backup, restore }
