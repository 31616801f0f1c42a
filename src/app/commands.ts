import { parseArgs } from 'node:util'
import { z } from 'zod'
import { authCommands } from '../auth/commands.ts'
import { type Database, databaseCode, type OpenDatabase } from '../database/database.ts'
import { catalogueCommands } from '../domain/catalogue/commands.ts'
import { deliveryCommands } from '../domain/delivery/commands.ts'
import { type Problem, Refusal } from '../shared/errors.ts'
import { parse } from '../shared/input-types.ts'

const usage = `Usage: npm run COMMAND -- ARGUMENTS    (or: node dist/cli.js COMMAND ARGUMENTS)

  migrate                        bring the tables up to date
  import FILE                    import a catalogue; a bad file changes nothing
  import --schema                print the JSON Schema of such a file
  seed [--events N]              import a demo catalogue (of 60 events)
  key issue channel --name NAME --organization ID… [--expires DATE] [--test]
  key issue channel --channel ID [--expires DATE] [--test]
                                 issue a key to a new channel; another one to one that is there
  key issue integration --name NAME --organization ID [--expires DATE] [--test]
  key issue integration --integration ID [--expires DATE] [--test]
                                 the same for an integration; a new one gets a secret as well
  key list                       list the keys that were issued
  key revoke ID                  revoke a key, or all that a channel or an integration has
  grant add --channel ID --organization ID
  grant revoke --channel ID --organization ID
                                 let a channel sell for an organization; no longer
  deliveries list [--status STATUS]
                                 list what was to be sent to buyers and is dead (or sent, pending, skipped)
  deliveries retry ID…           send dead ones after all; with --all each of them

With --json, standard output is JSON alone. Settings are environment variables, as for the server.`

const options = {
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  schema: { type: 'boolean' },
  test: { type: 'boolean' },
  events: { type: 'string' },
  name: { type: 'string' },
  organization: { type: 'string', multiple: true },
  channel: { type: 'string' },
  integration: { type: 'string' },
  expires: { type: 'string' },
  status: { type: 'string' },
  all: { type: 'boolean' },
} as const

/** Opens the database, to bring its tables up to date or to use them as they are. */
export type OpenFor = (what: 'migrate' | 'use') => Promise<OpenDatabase>
type Output = { json: unknown; text: string }
type Open = () => Promise<Database>
/** Parses what it is given, which is a mistake of usage where it can't; then does it. */
type Command = (given: object) => (open: Open) => Promise<Output>

const commands: Record<string, Command> = {
  migrate(given) {
    parse(z.strictObject({}), given)
    return async (open) => {
      await open()
      return { json: { migrated: true }, text: 'The tables are up to date.' }
    }
  },
  ...catalogueCommands,
  ...authCommands,
  ...deliveryCommands,
}

/** What the words behind a command stand for, where it takes any. */
const wordsOf: Record<string, string> = {
  import: 'file',
  'key revoke': 'id',
  'deliveries retry': 'id',
  // «--organization A B» is an option and a word.
  'key issue channel': 'organization',
}

class UsageError extends Error {}

function usageMistake(name: string, { code, message, path }: Problem): string {
  const option = String(path?.[0])
  const shown = option === 'file' || option === 'id' ? option.toUpperCase() : `--${option}`
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

function prepare(words: string[], given: { organization?: string[] }) {
  const name = Object.keys(commands).find((name) => `${words.join(' ')} `.startsWith(`${name} `))
  const command = commands[name ?? '']
  if (!name || !command)
    throw new UsageError(words.length > 0 ? `There is no command ${words.join(' ')}` : 'Name a command')
  const rest = words.slice(name.split(' ').length)
  const place = wordsOf[name] ?? 'words'
  const all = place === 'organization' ? [...(given.organization ?? []), ...rest] : rest
  try {
    return command(all.length > 0 ? { ...given, [place]: all } : given)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new UsageError(error.problems.map((problem) => usageMistake(name, problem)).join('\n'))
  }
}

async function run(args: string[], openFor: OpenFor): Promise<string> {
  const { values, positionals } = readArguments(args)
  const { json, help, ...given } = values
  if (help) return usage
  const command = prepare(positionals, given)
  const databases: OpenDatabase[] = []
  try {
    const output = await command(async () => {
      const database = await openFor(positionals[0] === 'migrate' ? 'migrate' : 'use')
      databases.push(database)
      return database.db
    })
    return json ? JSON.stringify(output.json) : output.text
  } finally {
    for (const database of databases) await database.close()
  }
}

// Never a stack, and never what a driver's own message holds: statements and parameters.
function describe(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\nRun it with --help to see how.`
  if (error instanceof Refusal) {
    const lines = error.problems.map(({ message, path = [] }) =>
      path.length === 0 || message.includes(path.join('.')) ? message : `${path.join('.')}: ${message}`,
    )
    return lines.length > 1 ? ['Refused, and nothing is changed:', ...lines].join('\n  ') : lines.join()
  }
  let inmost = error
  while (inmost instanceof Error && inmost.cause) inmost = inmost.cause
  const message = inmost instanceof Error ? inmost.message : String(inmost)
  const code = databaseCode(error)
  return code ? `The database refused: ${message.includes(code) ? message : `${message} (${code})`}` : message
}

/** What a command tells, and the exit code: 0 where it is done, 2 where it was called wrongly, else 1. */
export type CommandResult = { code: 0 | 1 | 2; output: string; errors: string }

/** Runs one command as the words behind `boxoffice` ask for it. Only a command that needs a database has one opened,
 *  which is closed before this resolves. */
export async function runCommand(args: string[], openFor: OpenFor): Promise<CommandResult> {
  try {
    return { code: 0, output: await run(args, openFor), errors: '' }
  } catch (error) {
    return { code: error instanceof UsageError ? 2 : 1, output: '', errors: describe(error) }
  }
}
