import { parseArgs } from 'node:util'
import { z } from 'zod'
import { accessCommands } from './access/commands.ts'
import { catalogueCommands } from './catalogue/commands.ts'
import { parseConfig } from './config.ts'
import { type Database, databaseCode, type OpenDatabase } from './database.ts'
import { deliveryCommands } from './delivery/commands.ts'
import { type Problem, Refusal } from './errors.ts'
import { openDatabase } from './open-database.ts'
import { parse } from './scalars.ts'

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
  ...accessCommands,
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

// The embedded database is migrated by whoever opens it; PostgreSQL only where that is asked for.
async function opened(migrating: boolean): Promise<OpenDatabase> {
  // No payment is taken here, so what production asks of payments doesn't matter.
  const config = parseConfig({ ...process.env, NODE_ENV: undefined })
  const database = await openDatabase(config)
  try {
    if (migrating || !config.databaseUrl) await database.migrate()
    else if (!(await database.ready())) {
      await database.db.execute('select 1')
      throw new Error('The tables are not up to date: run npm run migrate first.')
    }
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

async function main(args: string[]): Promise<string> {
  const { values, positionals } = readArguments(args)
  const { json, help, ...given } = values
  if (help) return usage
  const run = prepare(positionals, given)
  const databases: OpenDatabase[] = []
  try {
    const output = await run(async () => {
      const database = await opened(positionals[0] === 'migrate')
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

main(process.argv.slice(2)).then(console.log, (error: unknown) => {
  console.error(describe(error))
  process.exitCode = error instanceof UsageError ? 2 : 1
})
