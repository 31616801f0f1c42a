import { runCommand } from './command-line.ts'
import { parseConfig } from './config.ts'
import type { OpenDatabase } from './database.ts'
import { openDatabase } from './open-database.ts'

// The embedded database is migrated by whoever opens it; PostgreSQL only where that is asked for.
async function openFor(what: 'migrate' | 'use'): Promise<OpenDatabase> {
  // No payment is taken here, so what production asks of payments doesn't matter.
  const config = parseConfig({ ...process.env, NODE_ENV: undefined })
  const database = await openDatabase(config)
  try {
    if (what === 'migrate' || !config.databaseUrl) await database.migrate()
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

const { code, output, errors } = await runCommand(process.argv.slice(2), openFor)
if (code === 0) console.log(output)
else console.error(errors)
process.exitCode = code
