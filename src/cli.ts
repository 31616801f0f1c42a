import { runCommand } from './app/commands.ts'
import { parseConfig } from './config/config.ts'
import type { MigrationWait, OpenDatabase } from './database/database.ts'
import { openDatabase } from './database/open.ts'

// To standard error, because standard output may be JSON.
const tellWait = ({ file, tries, pauseMs }: MigrationWait) =>
  console.error(`${file} waits for a lock (try ${tries}): again in ${pauseMs / 1000} s`)

// The embedded database is migrated by whoever opens it; PostgreSQL only where that is asked for.
async function openFor(what: 'migrate' | 'use'): Promise<OpenDatabase> {
  // No payment is taken here, so what production asks of payments doesn't matter.
  const config = parseConfig({ ...process.env, NODE_ENV: undefined })
  const database = await openDatabase(config)
  try {
    if (what === 'migrate' || !config.databaseUrl) await database.migrate(tellWait)
    else {
      const unready = await database.whyUnready()
      if (unready?.reason === 'READ_ONLY') throw new Error('The database takes no writes.')
      // What keeps it from answering is its own to say.
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
