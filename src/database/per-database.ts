import type { Database } from './database.ts'

/** Makes one thing for each database that it is asked for, and keeps it as long as the database is in use: several
 *  gateways in a process share nothing. */
export function perDatabase<Made>(make: (db: Database) => Made): (db: Database) => Made {
  const known = new WeakMap<Database, { made: Made }>()
  return (db) => {
    const found = known.get(db) ?? { made: make(db) }
    known.set(db, found)
    return found.made
  }
}
