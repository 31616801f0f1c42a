import type { Database } from './database.ts'

const versions = new WeakMap<Database, number>()

/** How often this process has changed what a catalogue read must show at once. */
export const catalogueVersion = (db: Database): number => versions.get(db) ?? 0

/** Makes catalogue reads run anew in this process: to be called once something is committed that must show at once. A
 *  rate or a price was used up or is free again, or a catalogue was imported. */
export const touchCatalogue = (db: Database): void => void versions.set(db, catalogueVersion(db) + 1)
