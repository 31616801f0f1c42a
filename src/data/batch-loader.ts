import DataLoader from 'dataloader'
import pLimit from 'p-limit'
import { type Database, isTransient, isUnavailable } from '../database/database.ts'
import { isDistributed } from '../database/distributed.ts'
import { perDatabase } from '../database/per-database.ts'
import { isFast } from '../shared/fast.ts'
import { groupBy } from '../shared/group-by.ts'
import { isIdentifier } from '../shared/ids.ts'
import { inSpan } from '../shared/instruments.ts'
import { maxReadAtOnce } from './by-organization.ts'
import { Loader } from './loader.ts'
import { type Find, keyedBy, runNamed, type Scope, together } from './query.ts'
import type { Revisions } from './versioned-loader.ts'

/** A query by keys, and a name that is unique in the service. */
export type NamedFind<Row> = Find<Row> & { name: string }

type Lookup = { find: NamedFind<unknown>; keys: string[] }

/** Database access of one request's loaders. */
export type Reader = {
  db: Database
  scope: Scope
  /** Number of events whose rows a process may cache. */
  rememberedEvents: number
  /** Current revisions that this request has read. */
  revisions: Revisions
  /** Organizations of keys that this request knows, on a distributed database. */
  organizations?: Map<string, string>
  /** Finds the rows of keys. Combines all finds of one tick, whatever their kinds, into one statement. With an
   *  organization, which is a value of the query then, combines those of the same one. */
  find<Row>(find: NamedFind<Row>, keys: string[], organizationId?: string): Promise<Row[]>
}

/** Readers of the caller's own sales data and of the shared catalogue. */
export type Readers = { readonly own: Reader; readonly catalogue: Reader }

const keysParam = (index: number) => `keys_${index}`

// Limit per database. Combined statements stay prepared on every connection, and a client could request
// thousands of different combinations. Further combinations run as separate statements.
const maxJoinedStatements = 100
const joinedOf = perDatabase(() => new Map<string, ReturnType<typeof together<unknown[]>>>())

// Each kind has its own keys; the scope is shared.
function joined(db: Database, lookups: readonly Lookup[]) {
  const known = joinedOf(db)
  const name = lookups.map(({ find }) => find.name).join('_and_')
  if (!known.has(name) && known.size < maxJoinedStatements) {
    const finds = lookups.map(({ find }, index) => keyedBy(keysParam(index), find))
    known.set(name, together(name, finds))
  }
  return known.get(name)
}

const findAlone = (db: Database, scope: Scope, { find, keys }: Lookup): Promise<unknown[]> =>
  runNamed(db, find.name, find, { ...scope, keys })

// If the combined statement fails, each lookup is retried alone, so that one failure does not spread to the
// others. If the database is unavailable, nothing is retried: that would multiply the load.
// Slow form: findSeparately()
async function findEach(
  db: Database,
  scope: Scope,
  lookups: readonly Lookup[],
): Promise<(unknown[] | Error)[]> {
  const findSeparately = () =>
    Promise.all(lookups.map((lookup) => findAlone(db, scope, lookup).catch((error: Error) => error)))
  if (lookups.length === 1 || !isFast('joined-reads')) return findSeparately()
  // Sorted, so that the same kinds always make the same statement.
  const sorted = [...lookups].sort((one, other) => (one.find.name < other.find.name ? -1 : 1))
  const run = joined(db, sorted)
  if (!run) return findSeparately()
  try {
    const values = Object.fromEntries(sorted.map(({ keys }, index) => [keysParam(index), keys]))
    const found = await run(db, { ...scope, ...values })
    return lookups.map((lookup) => found[sorted.indexOf(lookup)] ?? [])
  } catch (error) {
    if (isUnavailable(error) && !isTransient(error)) throw error
    return findSeparately()
  }
}

/** Creates the reader of one request. */
export function createReader(db: Database, scope: Scope, rememberedEvents: number): Reader {
  const open = (values: Scope) =>
    new DataLoader<Lookup, unknown[]>(
      (batch) => inSpan('load', { 'boxoffice.batch.size': batch.length }, () => findEach(db, values, batch)),
      { cache: false },
    )
  const lookups = open(scope)
  let lookupsOf: Map<string, typeof lookups> | undefined
  function lookupsIn(organizationId: string | undefined) {
    if (organizationId === undefined) return lookups
    lookupsOf ??= new Map()
    const known = lookupsOf.get(organizationId) ?? open({ ...scope, organizationId })
    lookupsOf.set(organizationId, known)
    return known
  }
  return {
    db,
    scope,
    rememberedEvents,
    revisions: new Map(),
    organizations: isDistributed(db) ? new Map() : undefined,
    async find<Row>(find: NamedFind<Row>, keys: string[], organizationId?: string) {
      return keys.length === 0 ? [] : ((await lookupsIn(organizationId).load({ find, keys })) as Row[])
    },
  }
}

/** A query for rows of one organization, whose server has them, and a read of the organization of a key. */
type Place<Row> = {
  find: NamedFind<Row>
  organizationOf: (db: Database, key: string) => Promise<string | null>
}

/** A named query, and the key of each row that it finds. `place` is for a distributed database. */
export type Batch<Row> = NamedFind<Row> & { key: (row: Row) => string; place?: Place<Row> }

/** Returns the organization of a key of sales, if the request knows it: a caller's own, or that of a row that
 *  led to it. */
export const knownOrganization = ({ scope, organizations }: Reader, key: string): string | undefined =>
  scope.ownOrganizationIds[0] ?? organizations?.get(key)

// Finds rows that an organization's server has, with a statement for each organization.
async function findByOrganization<Row>(reader: Reader, place: Place<Row>, keys: string[]): Promise<Row[]> {
  const owned = await Promise.all(
    keys.map(async (key) => ({
      key,
      organizationId: knownOrganization(reader, key) ?? (await place.organizationOf(reader.db, key)),
    })),
  )
  const groups = groupBy(owned, ({ organizationId }) => organizationId ?? '')
  groups.delete('')
  const found = await pLimit(maxReadAtOnce).map(groups, ([organizationId, owned]) => {
    const keys = owned.map(({ key }) => key)
    return reader.find(place.find, keys, organizationId)
  })
  return found.flat()
}

function findRows<Row>(reader: Reader, batch: Batch<Row>, given: readonly string[]): Promise<Row[]> {
  const keys = given.filter(isIdentifier)
  const { place } = batch
  return place && isDistributed(reader.db)
    ? findByOrganization(reader, place, keys)
    : reader.find(batch, keys)
}

/** Loads one row per key; null if there is none that the caller may see. */
export const loadOne = <Row>(reader: Reader, batch: Batch<Row>): Loader<Row | null> =>
  new Loader(async (keys) => {
    const found = groupBy(await findRows(reader, batch, keys), batch.key)
    return keys.map((key) => found.get(key)?.[0] ?? null)
  })

/** Loads all rows of each key, in the order of the statement. */
export const loadMany = <Row>(reader: Reader, batch: Batch<Row>): Loader<Row[]> =>
  new Loader(async (keys) => {
    const found = groupBy(await findRows(reader, batch, keys), batch.key)
    return keys.map((key) => found.get(key) ?? [])
  })
