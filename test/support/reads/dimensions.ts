import { readdirSync } from 'node:fs'
import { type SQL, sql } from 'drizzle-orm'
import { type ReadWorld, type Verb, verbs } from './verbs.ts'
import { copyRows } from './worlds.ts'

/** Something of which an organization may have many, besides what it sells. */
export type Dimension = {
  /** As in: `overdue holds of a rate`. */
  name: string
  /** Tables that it grows. */
  tables: string[]
  /** Prepares a world for it. */
  open(world: ReadWorld): Promise<{
    /** Inserts rows until there are so many, quickly. It is called before each verb, which may have used some up. */
    grow(to: number): Promise<void>
    /** Requests, jobs and commands that must not mind how many there are. */
    verbs: Record<string, Verb>
  }>
}

/** Those of `verbs` with these names. */
export const named = (...names: (keyof typeof verbs & string)[]): Record<string, Verb> =>
  Object.fromEntries(
    names.map((name) => {
      const verb = verbs[name]
      if (!verb) throw new Error(`there is no verb ${name}`)
      return [name, verb]
    }),
  )

const count = async ({ sale: { db } }: ReadWorld, table: string, like: SQL) => {
  const [row] = await db
    .select({ count: sql<number>`count(*)::integer` })
    .from(sql`${sql.identifier(table)}`)
    .where(like)
  return row?.count ?? 0
}

/** Gives the rows of a table that are `counted` as many more as `to` lacks, as copies of a row that is `like` another
 *  condition. `values` are SQL of columns of which each copy has another, by `n`, a number that no other copy has. Returns
 *  where these numbers come from, to copy rows that belong to them; null if none were missing. */
export async function fillUp(
  world: ReadWorld,
  { to, table, values, like, counted = like }: Filling,
): Promise<Numbers | null> {
  const missing = to - (await count(world, table, counted))
  if (missing <= 0) return null
  const each = sql.raw(`generate_series(${lastNumber + 1}, ${lastNumber + missing}) as n`)
  lastNumber += missing
  await copyRows(world.sale.db, table, values, { each, like })
  return { each, count: missing }
}
type Filling = { to: number; table: string; values: Record<string, string>; like: SQL; counted?: SQL }
type Numbers = { each: SQL; count: number }
let lastNumber = 0

const folder = new URL('dimensions/', import.meta.url)

/** Loads all dimensions: those that each file of the folder `dimensions` exports. */
export async function loadDimensions(): Promise<Dimension[]> {
  const files = readdirSync(folder).sort()
  const modules: { dimensions: Dimension[] }[] = await Promise.all(
    files.map((file) => import(new URL(file, folder).href)),
  )
  return modules.flatMap(({ dimensions }) => dimensions)
}
