import DataLoader from 'dataloader'
import { getTableColumns } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Reach } from '../base/caller.ts'
import { isFast } from '../base/fast.ts'
import { groupBy } from '../base/group-by.ts'
import { isIdentifier } from '../base/ids.ts'
import { inSpan } from '../base/instruments.ts'
import { service } from '../base/service.ts'
import { type Database, isOutage } from '../database/database.ts'
import { byOrganization, canFindByKeyAlone, type OrganizationOf } from './by-organization.ts'
import { type Rows, rowsOf } from './json-rows.ts'
import { Loader } from './loader.ts'
import { anyOf, type Find, query, queryTogether, withKeysParam } from './query.ts'
import type { Revisions } from './versioned-loader.ts'

/** A query by keys, and a name that is unique in the service. */
export type NamedFind<Row> = Find<Row> & { name: string }

type Lookup = { find: NamedFind<unknown>; keys: string[] }

/** Database access of one request's loaders, which share statements; `joinReads` joins reads of all requests. */
export type Reader = {
  db: Database
  reach: Reach
  /** Number of events whose rows a process may cache. */
  rememberedEvents: number
  /** Current revisions that this request has read. */
  revisions: Revisions
  /** Finds the rows of keys. Combines all finds of one tick, whatever their kinds, into one statement. With
   *  an organization, which is then a value of the query, combines only finds of the same one. */
  find<Row>(find: NamedFind<Row>, keys: string[], organizationId?: string): Promise<Row[]>
}

/** Readers of the caller's own rows, and of what is shared and may be stale. */
export type Readers = { readonly own: Reader; readonly shared: Reader }

const keysParam = (index: number) => `keys_${index}`

// If the combined statement fails, each lookup is retried alone, so that one failure does not spread to the
// others. If the database is unavailable, nothing is retried: that would multiply the load.
// Slow form: findSeparately(), by which a page takes 1.1 to 1.2 times as long (docs/performance.md).
async function findEach(db: Database, reach: Reach, lookups: readonly Lookup[]) {
  const findAlone = ({ find, keys }: Lookup) =>
    query(find.name, find)(db, { ...reach, keys }).catch((error: Error) => error)
  const findSeparately = () => Promise.all(lookups.map(findAlone))
  if (lookups.length === 1 || !isFast('joined-reads')) return findSeparately()
  // Sorted, so that the same kinds always make the same statement.
  const sorted = [...lookups].sort((one, other) => (one.find.name < other.find.name ? -1 : 1))
  const name = sorted.map(({ find }) => find.name).join('_and_')
  // Each kind has its own keys; the reach is shared.
  const run = queryTogether(
    name,
    sorted.map(({ find }, index) => withKeysParam(keysParam(index), find)),
  )
  try {
    const values = Object.fromEntries(sorted.map(({ keys }, index) => [keysParam(index), keys]))
    const found = await run(db, { ...reach, ...values })
    return lookups.map((lookup) => found[sorted.indexOf(lookup)] ?? [])
  } catch (error) {
    if (isOutage(error)) throw error
    return findSeparately()
  }
}

/** Creates the reader of one request. */
export function createReader(db: Database, reach: Reach, rememberedEvents: number): Reader {
  const lookupsOf = new Map<string | undefined, DataLoader<Lookup, unknown[]>>()
  function openLookups(organizationId: string | undefined) {
    const values = { ...reach, organizationId }
    const lookups = new DataLoader<Lookup, unknown[]>(
      (batch) =>
        inSpan('load', { [`${service.name}.batch.size`]: batch.length }, () => findEach(db, values, batch)),
      { cache: false },
    )
    lookupsOf.set(organizationId, lookups)
    return lookups
  }
  return {
    db,
    reach,
    rememberedEvents,
    revisions: new Map(),
    async find<Row>(find: NamedFind<Row>, keys: string[], organizationId?: string) {
      if (keys.length === 0) return []
      const lookups = lookupsOf.get(organizationId) ?? openLookups(organizationId)
      return (await lookups.load({ find, keys })) as Row[]
    },
  }
}

/** A named query, and the key of each row that it finds. Keys of rows that lie with their organization have
 *  `organizationOf`, which looks it up on a distributed database. */
export type Batch<Row> = NamedFind<Row> & { key: (row: Row) => string; organizationOf?: OrganizationOf }

async function findRows<Row>(reader: Reader, batch: Batch<Row>, given: readonly string[]): Promise<Row[]> {
  const keys = given.filter(isIdentifier)
  const { organizationOf } = batch
  if (!organizationOf || canFindByKeyAlone(reader.db)) return reader.find(batch, keys)
  const [own] = reader.reach.ownOrganizationIds
  const owned = await Promise.all(
    keys.map(async (id) => ({ id, organizationId: own ?? (await organizationOf(reader.db, id)) ?? '' })),
  )
  const known = owned.filter(({ organizationId }) => organizationId)
  return byOrganization(reader.db, known, (rows, organizationId) => {
    const ids = rows.map(({ id }) => id)
    return reader.find(batch, ids, organizationId)
  })
}

const loadBy =
  <Row, Value>(reader: keyof Readers, batch: Batch<Row>, toValue: (rows: Row[]) => Value) =>
  (readers: Readers): Loader<Value> =>
    new Loader(async (keys) => {
      const found = groupBy(await findRows(readers[reader], batch, keys), batch.key)
      return keys.map((key) => toValue(found.get(key) ?? []))
    })

/** Defines a loader of one row per key; null if there is none that the caller may see. */
export const loadOne = <Row>(reader: keyof Readers, batch: Batch<Row>) =>
  loadBy(reader, batch, ([row]) => row ?? null)

/** Defines a loader of all rows of each key, in the order of the statement. */
export const loadMany = <Row>(reader: keyof Readers, batch: Batch<Row>) =>
  loadBy(reader, batch, (rows) => rows)

/** Defines a loader of rows by their identifiers. */
export const loadById = <Row extends { id: string }>(reader: keyof Readers, batch: Omit<Batch<Row>, 'key'>) =>
  loadOne<Row>(reader, { ...batch, key: ({ id }) => id })

/** Defines a loader of shared rows by their identifiers, whoever may see them. */
export const loadRow = <Table extends PgTable & { id: PgColumn }>(name: string, table: Table) =>
  loadById<Table['$inferSelect'] & { id: string }>('shared', {
    name,
    rows: rowsOf(getTableColumns<PgTable>(table)) as Rows<never>,
    query: (select, keys) => select.from(table as PgTable).where(anyOf(table.id, keys)),
  })
