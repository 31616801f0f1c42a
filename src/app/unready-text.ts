import type { Unready } from '../database/database.ts'

/** Reason why the database can't be used, in words that name the setting. */
export const unreadyText: Record<Unready['reason'], string> = {
  UNREACHABLE: 'the database is out of reach: see DATABASE_URL',
  ACCESS_REFUSED: 'the database refuses the role, its password or the name of the database: see DATABASE_URL',
  MIGRATIONS_MISSING: 'the tables are missing or not up to date: run npm run migrate',
  READ_ONLY: 'the database is read-only',
}
