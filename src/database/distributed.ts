import type { Database } from './database.ts'

const distributed = new WeakSet<Database>()

/** Marks a database as spread over several servers, each of which has some organizations' sales. */
export const markDistributed = (db: Database): void => void distributed.add(db)

/** Reports whether a database is spread over several servers. Statements about one organization are the same
 *  then; those about several read each by itself, or ask every server. */
export const isDistributed = (db: Database): boolean => distributed.has(db)
