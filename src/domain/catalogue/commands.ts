import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { Database } from '../../database/database.ts'
import { toSnakeCase } from '../../rest/snake-case.ts'
import { Refusal } from '../../shared/errors.ts'
import { fromQuery, parse } from '../../shared/input-types.ts'
import { instruments } from '../../shared/instruments.ts'
import { catalogueJsonSchema } from './catalogue-file.ts'
import { seedDemo } from './demo/catalogue.ts'
import { importCatalogue, type Summary } from './import-catalogue.ts'

// Commands of this folder. A command parses its arguments, and resolves to its output.

type Open = () => Promise<Database>

const maxEvents = 100_000

const importing = z.strictObject({
  file: z.tuple([z.string()], 'must be one'),
  'no-notify': z.boolean().optional(),
})
const seeding = z.strictObject({
  events: fromQuery(
    z
      .int('must be a whole number')
      .min(1, 'must be at least 1')
      .max(maxEvents, `must be at most ${maxEvents}`),
  ).optional(),
})

async function readJson(file: string): Promise<unknown> {
  try {
    // Strict decoding, because a wrong encoding would otherwise garble names. Drops a byte order mark.
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file)))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Refusal({ code: 'BAD_REQUEST', message: `${file} can't be read as JSON: ${why}` })
  }
}

const toJson = (summary: Summary) =>
  Object.fromEntries(Object.entries(summary).map(([kind, tally]) => [toSnakeCase(kind), tally]))

const toText = (summary: Summary): string =>
  Object.entries(toJson(summary))
    .map(([kind, tally]) => {
      const counts = Object.entries(tally).flatMap(([outcome, count]) =>
        count > 0 ? `${count} ${outcome}` : [],
      )
      return `${kind.replace('_', ' ').padEnd(14)} ${counts.join(', ') || 'none'}`
    })
    .join('\n')

function importFile(args: object) {
  if ('schema' in args) {
    parse(z.strictObject({ schema: z.boolean() }), args)
    const schema = catalogueJsonSchema()
    return async () => ({ json: schema, text: JSON.stringify(schema, null, 2) })
  }
  const given = parse(importing, args)
  const [file] = given.file
  return async (open: Open) => {
    const json = await readJson(file)
    instruments.progress?.('check', 0, 1)
    const summary = await importCatalogue(await open(), json, { notify: !given['no-notify'] })
    return { json: toJson(summary), text: `${toText(summary)}\n\n${file} is imported.` }
  }
}

function seed(args: object) {
  const options = parse(seeding, args)
  return async (open: Open) => {
    const summary = await seedDemo(await open(), options)
    return { json: toJson(summary), text: `${toText(summary)}\n\nThe demo catalogue is loaded.` }
  }
}

export const catalogueCommands = { import: importFile, seed }
