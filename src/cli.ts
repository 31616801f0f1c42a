import { runCommand } from './app/commands.ts'
import { parseConfig } from './config/config.ts'
import type { MigrationWait, OpenDatabase } from './database/database.ts'
import { openDatabase } from './database/open.ts'

// Written to standard error, because standard output may be JSON.
const reportWait = ({ file, tries, pauseMs }: MigrationWait) =>
  console.error(`${file} waits for a lock (try ${tries}): again in ${pauseMs / 1000} s`)

// Every command migrates the embedded database; only `migrate` migrates PostgreSQL.
async function openFor(purpose: 'migrate' | 'use'): Promise<OpenDatabase> {
  // Commands take no payments, so the payment checks of production do not apply.
  const config = parseConfig({ ...process.env, NODE_ENV: undefined })
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

const { code, output, errors } = await runCommand(process.argv.slice(2), openFor)
if (code === 0) console.log(output)
else console.error(errors)
process.exitCode = code
