import type { Database } from './database.ts'

/** Creates one value per database, on first use, and keeps it as long as the database is in use. Several
 *  services in one process therefore share nothing. */
export function perDatabase<Value>(create: (db: Database) => Value): (db: Database) => Value {
  const created = new WeakMap<Database, { value: Value }>()
  return (db) => {
    const known = created.get(db)
    if (known) return known.value
    const value = create(db)
    created.set(db, { value })
    return value
  }
}
