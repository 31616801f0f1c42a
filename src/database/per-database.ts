import type { Database } from './database.ts'

/** Creates one value per owner, on first use, and keeps it as long as the owner is in use. */
export function perOwner<Owner extends object, Value>(
  create: (owner: Owner) => Value,
): (owner: Owner) => Value {
  const created = new WeakMap<Owner, Value>()
  return (owner) => {
    if (!created.has(owner)) created.set(owner, create(owner))
    return created.get(owner) as Value
  }
}

/** Creates one value per database, as `perOwner` does. Several services in one process therefore share
 *  nothing. */
export const perDatabase = <Value>(create: (db: Database) => Value): ((db: Database) => Value) =>
  perOwner(create)
