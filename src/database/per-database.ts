import { perOwner } from '../shared/per-owner.ts'
import type { Database } from './database.ts'

/** Creates one value per database, as `perOwner` does. Several services in one process therefore share
 *  nothing. */
export const perDatabase = <Value>(create: (db: Database) => Value): ((db: Database) => Value) =>
  perOwner(create)
