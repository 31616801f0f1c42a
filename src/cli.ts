import { runCommand } from './app/commands.ts'
import { parseConfig } from './config/config.ts'
import type { MigrationWait, OpenDatabase } from './database/database.ts'
import { openDatabase, openReplicas } from './database/open.ts'

// Written to standard error, because standard output may be JSON.
const reportWait = ({ file, tries, pauseMs }: MigrationWait) =>
  console.error(`${file} waits for a lock (try ${tries}): again in ${pauseMs / 1000} s`)

// Commands take no payments, so the payment checks of production do not apply.
const readConfig = () => parseConfig({ ...process.env, NODE_ENV: undefined })

// Rules read whole tables, which takes longer than any statement of the service may.
const examining = { statementTimeoutMs: 130_000 }

// Neither migrated nor checked: what is wrong with it is to be found.
const examined = {
  readConfig: (of: 'service' | 'command') => (of === 'service' ? parseConfig(process.env) : readConfig()),
  open: () => openDatabase(readConfig(), examining),
  openReplicas: () => openReplicas(readConfig(), examining),
}

// Every command migrates the embedded database; only `migrate` migrates PostgreSQL.
async function openFor(purpose: 'migrate' | 'use'): Promise<OpenDatabase> {
  const config = readConfig()
  const database = await openDatabase(config)
  try {
    if (purpose === 'migrate' || !config.databaseUrl) await database.migrate(reportWait)
    else {
      const unready = await database.whyUnready()
      if (unready?.reason === 'READ_ONLY') throw new Error('The database is read-only.')
      // If the database does not answer, this throws its own error.
      if (unready) await database.db.execute('select 1')
      if (unready) throw new Error('The tables are not up to date: run npm run migrate first.')
    }
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

const { code, output, errors } = await runCommand(process.argv.slice(2), openFor, examined)
if (errors === '') console.log(output)
else console.error(errors)
process.exitCode = code
