import { type ParseArgsConfig, parseArgs } from 'node:util'
import { z } from 'zod'
import { authCommands } from '../domain/caller/commands.ts'
import { deliveryCommands } from '../domain/delivery/commands.ts'
import { catalogueCommands } from '../domain/import/commands.ts'
import { retentionCommands } from '../domain/retention/commands.ts'
import { type Problem, Refusal } from '../engine/base/errors.ts'
import { type Files, localFiles } from '../engine/base/files.ts'
import { parse, tryParse } from '../engine/base/parse.ts'
import type { OpenDatabase, OpenTables } from '../engine/database/database.ts'
import { databaseCommands } from './database-commands.ts'
import type { Access } from './doctor.ts'
import { describeError } from './log.ts'

const usage = `Usage: npm run COMMAND -- ARGUMENTS    (or: node dist/cli.js COMMAND ARGUMENTS)

  migrate                        bring the tables up to date
  distribute                     spread the tables over a Citus cluster, by organization
  import FILE [--no-notify]      import a catalogue, all or nothing; holders are told of another date by mail
  import --schema | --plan FILE  print the JSON Schema of a catalogue file, or what a file would change
  key issue channel --name NAME (--organization ID… | --all) [--expires DATE] [--test]
  key issue channel --channel ID [--expires DATE] [--test]
                                 issue a key to a new channel, or another key to an existing one;
                                 --all: of all organizations that there are now
  key issue integration --name NAME --organization ID [--scope SCOPE]… [--expires DATE] [--test]
  key issue integration --integration ID [--scope SCOPE]… [--expires DATE] [--test]
                                 the same for an integration; a new one also gets a secret; scopes are
                                 tickets:read, door, refunds, sales and catalogue, all if none is named
  key issue publishable --channel ID --origin ORIGIN… [--expires DATE] [--test]
                                 issue a key of a channel that may stand in pages of these origins
  key issue secret --organization ID [--expires DATE]
                                 issue a secret of method v1, good with each integration of the organization
  key list                       list all issued keys
  key revoke secret ID           revoke a secret of an organization
  key revoke ID                  revoke a key, or all keys of a channel or an integration
  grant add|revoke --channel ID (--organization ID | --all)
                                 let a channel sell for an organization, or stop it from doing so
  deliveries list [--status S]   list dead deliveries to buyers (or sent, pending, skipped ones)
  deliveries retry ID…           send dead deliveries again; --all for all of them
  export-person --email ADDRESS  print everything that is held about a person, as JSON
  erase --email ADDRESS [--force]
  erase --ticket ID [--force]    erase a person, or the attendee of a ticket; --force: also before the event
  doctor                         examine settings, database and invariants, and list what needs a person
  verify                         check the invariants alone
  backup FILE                    write the embedded database to a file, also while it serves
  restore FILE [--force]         read it from one; --force: in place of the database in DATA_DIR

With --json, standard output is JSON alone; --quiet hides how far work is. Doctor and verify end with 0 if all
is well, 1 if something needs a person, 2 if something is broken. Settings are environment variables.`

type Output = { json: unknown; text: string; code?: number }
/** Opens the database for its tables alone, or with `whole` for all that it can do. */
type Open = OpenTables & { whole(): Promise<OpenDatabase> }
type Beside = [open: Open, access: Access, files: Files]
type Command = { types: z.ZodObject[]; run(input: never, ...beside: Beside): Promise<Output> }

const commands: Record<string, Command> = {
  ...databaseCommands,
  ...catalogueCommands,
  ...authCommands,
  ...deliveryCommands,
  ...retentionCommands,
}

const fieldsOf = ({ types }: Command) => types.flatMap(({ shape }) => Object.entries<z.ZodType>(shape))

// Fields that are no options.
const isWord = (name: string) => name === 'file' || name === 'id'

/** Names the field that further words after the name of a command are values of: of «--organization A B» as well, if it
 *  is a list that has to be given. */
const wordsOf = (command: Command): string =>
  fieldsOf(command).find(([name, type]) => isWord(name) || type instanceof z.ZodArray)?.[0] ?? 'words'

const kindOf = (type: z.ZodType): string =>
  type instanceof z.ZodOptional || type instanceof z.ZodDefault
    ? kindOf(type.unwrap() as z.ZodType)
    : type.def.type

const flag = { type: 'boolean' } as const
const options: NonNullable<ParseArgsConfig['options']> = {
  json: flag,
  quiet: flag,
  help: { ...flag, short: 'h' },
}
for (const [name, type] of Object.values(commands).flatMap(fieldsOf)) {
  const kind = kindOf(type)
  const given = { type: 'string', multiple: ['array', 'tuple'].includes(kind) } as const
  if (!isWord(name)) options[name] = ['boolean', 'literal'].includes(kind) ? flag : given
}

class UsageError extends Error {}

function usageMistake(name: string, { code, message, path }: Problem): string {
  const option = String(path?.[0])
  const shown = isWord(option) ? option.toUpperCase() : `--${option}`
  if (option === 'words') return `${name} takes no further words`
  if (code === 'REQUIRED') return `${name} needs ${shown}`
  if (code === 'UNKNOWN_FIELD') return `${name} takes no ${shown} here`
  return message.replace(/^\S+(?= must )|^/, (name) => (name ? shown : `${shown}: `))
}

function readArguments(args: string[]) {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function prepare(words: string[], input: Record<string, unknown>) {
  const name = Object.keys(commands).find((name) => `${words.join(' ')} `.startsWith(`${name} `))
  const command = commands[name ?? '']
  if (!name || !command)
    throw new UsageError(words.length > 0 ? `There is no command ${words.join(' ')}` : 'Name a command')
  const rest = words.slice(name.split(' ').length)
  const positional = wordsOf(command)
  const values = [input[positional] ?? [], rest].flat()
  const given = values.length > 0 ? { ...input, [positional]: values } : input
  const { types } = command
  const type = types.find(({ shape }) => (Object.keys(shape)[0] ?? '') in given) ?? types.at(-1)
  try {
    const parsed = type && parse(type, given)
    return (...beside: Beside) => command.run(parsed as never, ...beside)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new UsageError(error.problems.map((problem) => usageMistake(name, problem)).join('\n'))
  }
}

/** Files that a command reads and writes, as its arguments name them. */
export function filesIn(args: string[]): Record<'read' | 'write', string[]> {
  const [name = '', ...paths] = tryParse(() => readArguments(args))?.positionals ?? []
  const command = commands[name]
  const named = command && wordsOf(command) === 'file' ? paths : []
  return name === 'backup' ? { read: [], write: named } : { read: named, write: [] }
}

async function run(args: string[], access: Access, files: Files) {
  const { values, positionals } = readArguments(args)
  const { json, help, quiet: _, ...input } = values
  if (help) return { code: 0, output: usage }
  const command = prepare(positionals, input)
  let database: OpenDatabase | undefined
  try {
    const whole = async () => {
      database = await access.open(positionals[0] === 'migrate' ? 'migrate' : 'use')
      return database
    }
    const open = Object.assign(async () => (await whole()).db, { whole })
    const output = await command(open, access, files)
    return { code: output.code ?? 0, output: json ? JSON.stringify(output.json) : output.text }
  } finally {
    await database?.close()
  }
}

function describe(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\nRun it with --help to see how.`
  if (error instanceof Refusal) {
    const lines = error.problems.map(({ message, path = [] }) =>
      path.length === 0 || message.includes(path.join('.')) ? message : `${path.join('.')}: ${message}`,
    )
    return lines.length > 1 ? ['Refused, and nothing is changed:', ...lines].join('\n  ') : lines.join()
  }
  return describeError(error)
}

/** Output and exit code of a command: 0 for success, 2 for a usage error, 1 for any other failure. `doctor` and
 *  `verify` have codes of their own. */
export type CommandResult = { code: number; output: string; errors: string }

/** Runs the command that the arguments name. Opens a database only if the command needs one, and closes it
 *  before this resolves. `files` are those that the arguments name. */
export async function runCommand(args: string[], access: Access, files: Files = localFiles) {
  try {
    return { ...(await run(args, access, files)), errors: '' }
  } catch (error) {
    return { code: error instanceof UsageError ? 2 : 1, output: '', errors: describe(error) }
  }
}
