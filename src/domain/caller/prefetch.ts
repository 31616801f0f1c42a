// Slow form: createContext, by which a lookup takes 1.3 times as long, and a checkout 1.1 (docs/performance.md).

import { isFast } from '../../engine/base/fast.ts'
import { isIdentifier } from '../../engine/base/ids.ts'
import { canFindByKeyAlone } from '../../engine/data/by-organization.ts'
import { joinReads } from '../../engine/data/join-reads.ts'
import { withKeysParam } from '../../engine/data/query.ts'
import { type Database, isUnavailable } from '../../engine/database/database.ts'
import { type CreateContextWith, createContext } from '../../engine/request/context.ts'
import { authenticate, findKeys, type KeyRow, knownKeys, namedKeys } from './authenticate.ts'
import { type Context, contextOf } from './context.ts'
import { type Mode, perMode } from './mode.ts'

type Prefetch<Row> = {
  /** Reads keys (`keysByKeyId`) and rows in one statement, for keys of one mode. */
  find(db: Database, keyIds: string[], rowIds: string[], mode: Mode): Promise<[KeyRow[], Map<string, Row>]>
  /** Primes the loader that the row is loaded with later. */
  prime(ctx: Context, id: string, row: Row | null): void
}

/** Query for keys by the parameter `keyIds`, to combine with a query for rows by `keys`. */
export const keysByKeyId = withKeysParam('keyIds', findKeys)

// Separated by a space, which identifiers cannot contain.
const pairOf = (keyId: string, rowId: string) => `${keyId} ${rowId}`

// Coalesces all pairs requested in the same turn of the event loop, by any caller of a mode, into one statement. Does not
// imply that a key's owner may see the row beside it.
const readPairs = <Row>(find: Prefetch<Row>['find'], mode: Mode) =>
  joinReads(async (db, pairs) => {
    const ids = pairs.map((pair) => pair.split(' ') as [keyId: string, rowId: string])
    const keyIds = new Set(ids.map(([keyId]) => keyId))
    const rowIds = new Set(ids.map(([, rowId]) => rowId))
    const since = performance.now()
    const [keyRows, rows] = await find(db, namedKeys(db, [...keyIds]), [...rowIds], mode)
    const keys = knownKeys(db, keyRows, since)
    if (!keys) throw new Error('organizations of a key were forgotten')
    const found = (keyId: string, rowId: string) => ({
      key: keys.get(keyId) ?? null,
      row: rows.get(rowId) ?? null,
    })
    return new Map(ids.map(([keyId, rowId]) => [pairOf(keyId, rowId), found(keyId, rowId)]))
  })

/** Creates the context of a request that names the row it will load: authenticates and reads the row in one
 *  statement. If that statement fails, authenticates alone, so that a bad key still gets its 401. Takes the
 *  id as a guess: null if the request names none. Refuses: UNAUTHENTICATED. */
export function createContextWith<Row>({ find, prime }: Prefetch<Row>): CreateContextWith {
  const read = perMode((mode) => readPairs(find, mode))
  return async (services, credentials, id) => {
    const key = id !== null && isIdentifier(id) ? credentials.keyFacts : null
    // A distributed database has the row on a server that only its reader leads to.
    if (!key || id === null || !isFast('prefetch') || !canFindByKeyAlone(services.db))
      return createContext(services, credentials)
    // A key whose row has another mode than it states is refused.
    const found = await read[key.mode](services.db, pairOf(key.id, id)).catch((error: unknown) => {
      if (isUnavailable(error)) throw error
      return null
    })
    const findKey = found ? async () => found.key : undefined
    const authenticated = await authenticate(services.db, credentials, findKey)
    const ctx = contextOf(services, authenticated, credentials.address)
    if (found) prime(ctx, id, found.row)
    return ctx
  }
}
