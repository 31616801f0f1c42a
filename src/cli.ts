import { type CommandResult, runCommand } from './app/commands.ts'
import { askServingProcess } from './app/served-commands.ts'
import { parseConfig } from './app/settings.ts'
import { showProgress } from './app/show-progress.ts'
import { tryParse } from './engine/base/parse.ts'
import type { MigrationWait, OpenDatabase } from './engine/database/database.ts'
import { openDatabase, openReplicas } from './engine/database/open.ts'
import { isConnectionFailure, unreadyBecause, unusable } from './engine/database/pool/failures.ts'

// Written to standard error, because standard output may be JSON.
const reportWait = ({ file, tries, pauseMs }: MigrationWait) =>
  console.error(`${file} waits for a lock (try ${tries}): again in ${pauseMs / 1000} s`)

// Commands take no payments and send no mails, so what production asks of those does not apply.
const readConfig = () => parseConfig({ ...process.env, NODE_ENV: undefined })

// Rules read whole tables, which takes longer than any statement of the service may.
const examining = { statementTimeoutMs: 130_000 }

// Every command migrates the embedded database; only `migrate` migrates PostgreSQL. One to be examined is neither
// migrated nor checked: what is wrong with it is to be found.
async function open(purpose: 'migrate' | 'use' | 'examine'): Promise<OpenDatabase> {
  const config = readConfig()
  if (purpose === 'examine') return openDatabase(config, examining)
  const database = await openDatabase(config)
  try {
    if (purpose === 'migrate' || !config.databaseUrl)
      await database.migrate(reportWait).catch((error) => {
        const setting = config.directDatabaseUrl ? 'DIRECT_DATABASE_URL' : 'DATABASE_URL'
        throw isConnectionFailure(error) ? unusable(unreadyBecause(error), setting) : error
      })
    else {
      const unready = await database.whyUnready()
      if (unready) throw unusable(unready)
    }
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

// A process that serves the embedded database runs the command; a database can't be replaced under it.
async function askService(args: string[]): Promise<CommandResult | null> {
  // The command reports settings that are wrong.
  const config = tryParse(readConfig)
  if (!config || config.databaseUrl || args[0] === 'restore') return null
  return askServingProcess(config.dataDir, args, process.getuid?.())
}

const access = {
  readConfig: (of: 'service' | 'command') => (of === 'service' ? parseConfig(process.env) : readConfig()),
  open,
  openReplicas: () => openReplicas(readConfig(), examining),
}
const args = process.argv.slice(2)
const isQuiet = args.includes('--json') || args.includes('--quiet')
const hide = isQuiet ? () => {} : showProgress(process.stderr)
const { code, output, errors } = (await askService(args)) ?? (await runCommand(args, access))
hide()
if (errors === '') console.log(output)
else console.error(errors)
process.exitCode = code
