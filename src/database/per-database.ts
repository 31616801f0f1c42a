import type { Database } from './database.ts'

/** Creates one value per owner, on first use, and keeps it as long as the owner is in use. */
export function perOwner<Owner extends object, Value>(
  create: (owner: Owner) => Value,
): (owner: Owner) => Value {
  const created = new WeakMap<Owner, { value: Value }>()
  return (owner) => {
    const known = created.get(owner)
    if (known) return known.value
    const value = create(owner)
    created.set(owner, { value })
    return value
  }
}

/** Creates one value per database, as `perOwner` does. Several services in one process therefore share
 *  nothing. */
export const perDatabase = <Value>(create: (db: Database) => Value): ((db: Database) => Value) =>
  perOwner(create)
