import { z } from 'zod'
import type { Files } from '../../engine/base/files.ts'
import { command } from '../../engine/base/parse.ts'
import type { OpenTables } from '../../engine/database/database.ts'
import { toSnakeCase } from '../../engine/rest/snake-case.ts'
import { refusal } from '../contract/problem-codes.ts'
import { catalogueJsonSchema } from './catalogue-file.ts'
import { type Imported, importCatalogue } from './import-catalogue.ts'
import { fieldText } from './import-report.ts'

// Commands of this folder. A command parses its arguments, and resolves to its output.

const importing = z.strictObject({
  file: z.tuple([z.string()], 'must be one'),
  'no-notify': z.boolean().optional(),
  plan: z.boolean().optional(),
})

const printing = z.strictObject({ schema: z.boolean() })

async function readJson(file: string, files: Files): Promise<unknown> {
  try {
    // Strict decoding, because a wrong encoding would otherwise garble names. Drops a byte order mark.
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(await files.read(file)))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw refusal('BAD_REQUEST', `${file} can't be read as JSON: ${why}`)
  }
}

const toJson = ({ changes, warnings, ...tallies }: Imported) => ({
  ...Object.fromEntries(Object.entries(tallies).map(([kind, tally]) => [toSnakeCase(kind), tally])),
  ...(changes && { changes }),
  warnings,
})

const toText = ({ changes: _, warnings: __, ...tallies }: Imported): string =>
  Object.entries(tallies)
    .map(([kind, tally]) => {
      const counts = Object.entries(tally).flatMap(([outcome, count]) =>
        count > 0 ? `${count} ${outcome}` : [],
      )
      return `${toSnakeCase(kind).replace('_', ' ').padEnd(14)} ${counts.join(', ') || 'none'}`
    })
    .join('\n')

const toLines = ({ changes, warnings }: Imported): string[] => [
  ...(changes ?? []).map(({ action, kind, id, name, fields }) => {
    const values = fields.map(fieldText).join(', ')
    return `${action} ${kind} ${id} (${name})${values && `: ${values}`}`
  }),
  ...warnings.map(({ code, kind, id, name, message }) => `${code} ${kind} ${id} (${name}): ${message}`),
]

const importFile = command(
  [printing, importing],
  async (given, open: OpenTables, _examined: unknown, files: Files) => {
    if ('schema' in given) {
      const schema = catalogueJsonSchema()
      return { json: schema, text: JSON.stringify(schema, null, 2) }
    }
    const [file] = given.file
    const json = await readJson(file, files)
    const imported = await importCatalogue(await open(), json, {
      notify: !given['no-notify'],
      plan: given.plan === true,
    })
    const end = given.plan ? `${file} is not imported: this is what it would change.` : `${file} is imported.`
    return { json: toJson(imported), text: [toText(imported), '', ...toLines(imported), end].join('\n') }
  },
)

export const catalogueCommands = { import: importFile }
