// Differences of a distributed database: spread over several servers, each of which has some organizations' rows. A
// statement about one organization is the same then; what is about several is read here, one organization at a time, with
// the form of the statement that names it (`inOrganizationIfNamed` of query.ts). Rows are inserted in another form, too:
// see `insertRows`.

import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { byId, groupBy } from '../base/group-by.ts'
import { type Database, isDistributed, perDatabase, runSql } from '../database/database.ts'
import { isOfOtherServer } from '../database/pool/failures.ts'
import { joinReads } from './join-reads.ts'
import { livingOrganizations } from './living-organizations.ts'
import { type Find, query } from './query.ts'

/** Reads the organization of a key of its rows; null if there is no such row. */
export type OrganizationOf = (db: Database, key: string) => Promise<string | null>

// Organizations that are asked at once, so that connections are left for others.
const fewAtOnce = () => pLimit(4)

// Organizations whose reads are joined.
const maxJoined = 1_000

/** Joins reads of an organization's rows as `joinReads` does, those of each organization by themselves: they wait
 *  for no other's, and fail with no other's. */
export function readByOrganization<Row>(
  read: (db: Database, values: { organizationId: string; keys: string[] }) => Promise<Map<string, Row>>,
): (db: Database, organizationId: string, key: string) => Promise<Row | null> {
  const readsOf = new LRUCache<string, ReturnType<typeof joinReads<Row>>>({
    max: maxJoined,
    memoMethod: (organizationId) => joinReads((db, keys) => read(db, { organizationId, keys })),
  })
  return (db, organizationId, key) => readsOf.memo(organizationId)(db, key)
}

/** The same by the identifiers of rows that a query finds within the organization. */
export function readByIds<Row extends { id: string }>(name: string, asked: Find<Row>) {
  const find = query(name, asked)
  return readByOrganization(async (db, values) => byId(await find(db, values)))
}

// Organizations of rows of one kind that a process remembers: a row never moves to another.
const maxRemembered = 20_000

/** Creates a read of organizations by keys of rows that every server has, joined and remembered, and the same without the
 *  memory (`anew`). `text` selects `key` and `id` for the parameter `keys`. Checks no permissions. */
export function organizationsBy(name: string, text: () => SQL): OrganizationOf & { anew: OrganizationOf } {
  const find = query<{ key: string; id: string }>(name, text)
  const anew = joinReads<string>(async (db, keys) => {
    const found = await find(db, { keys })
    return new Map(found.map(({ key, id }) => [key, id]))
  })
  const organizations = perDatabase((db) => {
    const fetchMethod = async (key: string) => (await anew(db, key)) ?? undefined
    return new LRUCache<string, string>({ max: maxRemembered, fetchMethod })
  })
  const remembered: OrganizationOf = async (db, key) => (await organizations(db).fetch(key)) ?? null
  return Object.assign(remembered, { anew })
}

/** Joins reads of rows by keys that name no organization: in one statement for all, or on a distributed
 *  database in one for each organization. `read` runs it with its values: the keys, and the organization if it is
 *  about one. */
export function readByKeys<Row>(
  read: (db: Database, values: { keys: string[]; organizationId?: string }) => Promise<Map<string, Row>>,
  organizationOf: OrganizationOf,
): (db: Database, key: string) => Promise<Row | null> {
  const readAll = joinReads<Row>((db, keys) => read(db, { keys }))
  const readOwn = readByOrganization<Row>(read)
  return async (db, key) => {
    if (!isDistributed(db)) return readAll(db, key)
    const organizationId = await organizationOf(db, key)
    return organizationId === null ? null : readOwn(db, organizationId, key)
  }
}

/** Runs a statement for items of several organizations together, or on a distributed database for those of each by
 *  themselves: then the statement of `run` names their organization. Runs none without items. */
export async function byOrganization<Item extends { organizationId: string }, Row>(
  db: Database,
  items: Item[],
  run: (items: Item[], organizationId?: string) => Promise<Row[]>,
): Promise<Row[]> {
  if (items.length === 0) return []
  if (!isDistributed(db)) return run(items)
  const groups = groupBy(items, ({ organizationId }) => organizationId)
  const found = await fewAtOnce().map(groups, ([organizationId, own]) => run(own, organizationId))
  return found.flat()
}

/** Reads a part of a list that several organizations have rows in: as one statement finds it, or on a distributed
 *  database what each of `organizationIds` has, merged. */
export async function readMerged<Found>(
  db: Database,
  organizationIds: () => Promise<string[]>,
  read: (organizationId?: string) => Promise<Found>,
  merge: (found: Found[]) => Found,
): Promise<Found> {
  if (!isDistributed(db)) return read()
  return merge(await fewAtOnce().map(await organizationIds(), read))
}

/** Finds what waits for a job in tables that are distributed, of all organizations, by a query that `write` writes with a condition
 *  on the column of the organization, or on one server by `walk`, which may go from one to the next. On a distributed database
 *  a server that is away hides its own rows and no others. */
export async function findEverywhere<Row>(
  db: Database,
  column: PgColumn,
  write: (isAsked: SQL) => SQL,
  walk = () => write(sql`true`),
): Promise<Row[]> {
  if (!isDistributed(db)) return runSql<Row>(db, walk())
  const living = livingOrganizations(db)
  const find = () => runSql<Row>(db, write(living.areOn(column)))
  try {
    return await find()
  } catch (error) {
    if (!isOfOtherServer(error)) throw error
    await living.askAgain()
    return find()
  }
}

/** Reports whether an organization's row is found by its key alone, in one statement with rows of every server. */
export const canFindByKeyAlone = (db: Database): boolean => !isDistributed(db)

/** Reports whether no statement can count a share over the organizations that it claims rows of. */
export const mustClaimByOrganization = (db: Database): boolean => isDistributed(db)

/** Reports whether a subquery of distributed rows may refer to a row outside of it. */
export const canCorrelate = (db: Database): boolean => !isDistributed(db)

/** Reports whether triggers run. Where they don't, an import does what those of revisions do. */
export const hasTriggers = (db: Database): boolean => !isDistributed(db)

/** Expression that lets the transaction which selects it write rows that every server has a copy of, after it has read those
 *  of organizations. */
export const writesSequentially = sql`set_config('citus.multi_shard_modify_mode', 'sequential', true)`
