import DataLoader from 'dataloader'
import { type Database, isTransient, isUnavailable } from '../database/database.ts'
import { isFast } from '../shared/fast.ts'
import { Loader } from './loader.ts'
import {
  byKey,
  type Find,
  findTogether,
  isIdentifier,
  keyedBy,
  rowStatement,
  type Scope,
} from './prepared.ts'
import type { Revisions } from './versioned-loader.ts'

/** What loaders find by keys, under a name that is unique in the house. */
export type Named<Row> = Find<Row> & { name: string }

type Ask = { find: Named<unknown>; keys: string[] }

/** What the loaders of a request read with. */
export type Reader = {
  db: Database
  scope: Scope
  /** How many events may be remembered, and those revisions that the request was told of. */
  rememberedEvents: number
  revisions: Revisions
  /** Finds the rows of keys. All that is asked for in one tick, of whatever kinds, is one statement. */
  find<Row>(find: Named<Row>, keys: string[]): Promise<Row[]>
}

/** Of what is a client's own, and of the catalogue. */
export type Readers = { readonly own: Reader; readonly catalogue: Reader }

const keysOf = (kind: number) => `keys_${kind}`

// Of a database. Each stays prepared on every connection, here and there, and a client that asks for ever other kinds
// together would make thousands of them. What comes after these is read kind by kind.
const maxJoinedStatements = 100
const joinedNames = new WeakMap<Database, Set<string>>()

function mayJoin(db: Database, name: string): boolean {
  const names = joinedNames.get(db) ?? new Set()
  joinedNames.set(db, names)
  if (names.size < maxJoinedStatements) names.add(name)
  return names.has(name)
}

const nameOf = (asks: readonly Ask[]) =>
  asks
    .map(({ find }) => find.name)
    .sort()
    .join('_and_')

const findOne = (db: Database, scope: Scope, { find, keys }: Ask): Promise<unknown[]> =>
  rowStatement(db, find.name, find).execute({ ...scope, keys })

async function findAll(db: Database, scope: Scope, asks: readonly Ask[]): Promise<unknown[][]> {
  // In one order, whoever asked first: it is the same statement.
  const sorted = [...asks].sort((one, other) => (one.find.name < other.find.name ? -1 : 1))
  const values = Object.fromEntries(sorted.map(({ keys }, kind) => [keysOf(kind), keys]))
  const found = await findTogether<unknown[]>(
    db,
    nameOf(asks),
    // The keys of a kind are its own; who calls is the same for all of them.
    sorted.map(({ find }, kind) => keyedBy(keysOf(kind), find)),
    { ...scope, ...values },
  )
  return asks.map((ask) => found[sorted.indexOf(ask)] ?? [])
}

// What fails together is asked once more, each alone: what can be had is had, and each error is its own. A database that
// can't answer now is not asked the same again, in as many statements as there were asks.
const findEach = (db: Database, scope: Scope, asks: readonly Ask[]): Promise<(unknown[] | Error)[]> => {
  const alone = () => Promise.all(asks.map((ask) => findOne(db, scope, ask).catch((error: Error) => error)))
  if (asks.length === 1 || !isFast('joined-reads') || !mayJoin(db, nameOf(asks))) return alone()
  return findAll(db, scope, asks).catch((error: unknown) => {
    if (isUnavailable(error) && !isTransient(error)) throw error
    return alone()
  })
}

/** Makes what the loaders of one request read with. */
export function createReader(db: Database, scope: Scope, rememberedEvents: number): Reader {
  const asked = new DataLoader<Ask, unknown[]>((asks) => findEach(db, scope, asks), { cache: false })
  return {
    db,
    scope,
    rememberedEvents,
    revisions: new Map(),
    async find<Row>(find: Named<Row>, keys: string[]) {
      return keys.length === 0 ? [] : ((await asked.load({ find, keys })) as Row[])
    },
  }
}

/** Rows, and the key that each is loaded by. */
export type Batch<Row> = Named<Row> & { key: (row: Row) => string }

/** Loads the row of each key; null where there is none that the caller may see. */
export const loadOne = <Row>(reader: Reader, batch: Batch<Row>): Loader<Row | null> =>
  new Loader(async (keys) => {
    const found = byKey(await reader.find(batch, keys.filter(isIdentifier)), batch.key)
    return keys.map((key) => found.get(key)?.[0] ?? null)
  })

/** Loads the rows of each key, in the order that the statement gives. */
export const loadMany = <Row>(reader: Reader, batch: Batch<Row>): Loader<Row[]> =>
  new Loader(async (keys) => {
    const found = byKey(await reader.find(batch, keys.filter(isIdentifier)), batch.key)
    return keys.map((key) => found.get(key) ?? [])
  })
