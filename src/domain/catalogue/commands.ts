import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { Database } from '../../database/database.ts'
import { toSnakeCase } from '../../rest/snake-case.ts'
import { Refusal } from '../../shared/errors.ts'
import { fromQuery, parse } from '../../shared/input-types.ts'
import { catalogueJsonSchema } from './catalogue-file.ts'
import { seedDemo } from './demo/catalogue.ts'
import { importCatalogue, type Summary } from './import-catalogue.ts'

// The command line's side of this folder. A command parses what it is given, and then resolves to what it prints.

type Open = () => Promise<Database>

const demoEvents = 60
const maxEvents = 100_000

const importing = z.strictObject({ file: z.tuple([z.string()], 'must be one') })
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
    // Decoded strictly, because a wrong encoding would otherwise become wrong names. A byte order mark is dropped.
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file)))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Refusal({ code: 'BAD_REQUEST', message: `${file} can't be read as JSON: ${why}` })
  }
}

const bodyOf = (summary: Summary) =>
  Object.fromEntries(Object.entries(summary).map(([kind, tally]) => [toSnakeCase(kind), tally]))

const textOf = (summary: Summary): string =>
  Object.entries(bodyOf(summary))
    .map(([kind, tally]) => {
      const counts = Object.entries(tally).flatMap(([what, count]) => (count > 0 ? `${count} ${what}` : []))
      return `${kind.replace('_', ' ').padEnd(14)} ${counts.join(', ') || 'none'}`
    })
    .join('\n')

function importFile(given: object) {
  if ('schema' in given) {
    parse(z.strictObject({ schema: z.boolean() }), given)
    const schema = catalogueJsonSchema()
    return async () => ({ json: schema, text: JSON.stringify(schema, null, 2) })
  }
  const [file] = parse(importing, given).file
  return async (open: Open) => {
    const json = await readJson(file)
    const summary = await importCatalogue(await open(), json)
    return { json: bodyOf(summary), text: `${textOf(summary)}\n\n${file} is imported.` }
  }
}

function seed(given: object) {
  const { events = demoEvents } = parse(seeding, given)
  return async (open: Open) => {
    const summary = await seedDemo(await open(), { events })
    return { json: bodyOf(summary), text: `${textOf(summary)}\n\nThe demo is there.` }
  }
}

export const catalogueCommands = { import: importFile, seed }
