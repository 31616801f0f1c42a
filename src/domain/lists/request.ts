import { reachedOrganizations } from '../../auth/change-grant.ts'
import { readMerged } from '../../data/by-organization.ts'
import type { Context } from '../../request/context.ts'
import {
  type createPageSearch,
  type Found,
  isTime,
  type Path,
  type PathName,
  type Place,
  type Placed,
  paths,
  placeOf,
  type Range,
  readCursor,
  type SortKey,
  toCursor,
  toPlaceCursor,
  type Values,
} from './search.ts'

/** Orders of both lists. Each is total: ties are ordered by identifier. */
export const listOrders = ['CREATED_ASC', 'CREATED_DESC'] as const
export type ListOrder = (typeof listOrders)[number]

/** Page that is asked for: the first rows after a cursor, or the last ones before one. */
export type PageRequest = {
  after?: string | null | undefined
  before?: string | null | undefined
  /** Name of the argument that holds `after`, for refusals. */
  afterName?: string
  size: number
  /** True for the last rows of the range. */
  isBackward: boolean
}

/** Page of a list, and whether there is more on either side. The cursors are of the places where the page
 *  begins and ends, which is further than its rows where the search stopped early. */
export type ListPage<Row> = {
  rows: Placed<Row>[]
  hasNextPage: boolean
  hasPreviousPage: boolean
  startCursor: string | null
  endCursor: string | null
}

/** Way to find the rows of a list, and the part of its order: from a time on, before a time, or with a prefix. */
export type Plan = {
  path: PathName
  isDescending: boolean
  from?: Date | null | undefined
  until?: Date | null | undefined
  prefix?: string | undefined
}

const isBefore = (sortKey: SortKey, one: Place, other: Place): boolean => {
  if (one.key === other.key) return one.id < other.id
  return isTime(sortKey)
    ? Number(one.key) < Number(other.key)
    : Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)) < 0
}

// Part of the order that the plan leaves.
function boundsOf(sortKey: SortKey, { from, until, prefix = '' }: Plan) {
  const at = (key: string | number): Place => ({ key: String(key), id: '' })
  return isTime(sortKey)
    ? { lower: at(from?.getTime() ?? -Infinity), upper: at(until?.getTime() ?? Infinity) }
    : // The end follows every text that begins with the prefix, byte by byte.
      { lower: at(prefix), upper: at(`${prefix}\u{10ffff}`) }
}

// Merges what was found of each organization. The list ends where the first of them stopped.
function merge<Row>(found: Found<Row>[], sortKey: SortKey, { isDescending, limit }: Range): Found<Row> {
  const isFirst = (one: Place, other: Place) =>
    isDescending ? isBefore(sortKey, other, one) : isBefore(sortKey, one, other)
  const order = (one: Place, other: Place) => (isFirst(one, other) ? -1 : Number(isFirst(other, one)))
  const [stoppedAt = null] = found.flatMap(({ stoppedAt }) => stoppedAt ?? []).sort(order)
  const rows = found
    .flatMap(({ rows }) => rows)
    .filter((row) => !stoppedAt || !isFirst(stoppedAt, placeOf(row)))
    .sort((one, other) => order(placeOf(one), placeOf(other)))
  return { rows: rows.slice(0, limit), stoppedAt }
}

/** Reads a page of a list of the caller's sales. Refuses: INVALID, for a cursor of another order. */
export async function readPage<Row>(
  search: ReturnType<typeof createPageSearch<Row>>,
  plan: Plan,
  filters: Record<string, string | null>,
  { after, before, afterName = 'after', size, isBackward }: PageRequest,
  { db, loaders }: Context,
): Promise<ListPage<Row>> {
  const { path, isDescending } = plan
  const { sortKey, serves }: Path = paths[path]
  const first = after ? readCursor(sortKey, after, afterName) : null
  const last = before ? readCursor(sortKey, before, 'before') : null
  const bounds = boundsOf(sortKey, plan)
  const [above, below] = isDescending ? [last, first] : [first, last]
  const lower = above && isBefore(sortKey, bounds.lower, above) ? above : bounds.lower
  const upper = below && isBefore(sortKey, below, bounds.upper) ? below : bounds.upper
  // Online sales are parts of the list by themselves.
  const isOpen = ([name, value]: [string, string | null]) =>
    value !== null && name !== serves && !(name === 'saleType' && value === 'online')
  const isFiltered = Object.entries(filters).some(isOpen)
  const { channelId, ownOrganizationIds, mode } = loaders.own.scope
  const values: Values = { ...filters, channelId, ownOrganizationIds, mode }
  const range = { lower, upper, isDescending: isDescending !== isBackward, limit: size + 1 }
  const { rows, stoppedAt } = await readMerged(
    db,
    () => reachedOrganizations(db, loaders.own.scope),
    (organizationId) => search(db, path, { ...values, organizationId }, range, isFiltered),
    (found) => merge(found, sortKey, range),
  )
  const hasMore = rows.length > size
  const shown = rows.slice(0, size)
  const isStopped = !hasMore && stoppedAt !== null
  const cursorOf = (row: Placed<Row> | undefined) => (row ? toCursor(row) : null)
  const near = cursorOf(shown[0])
  const far = isStopped ? toPlaceCursor(sortKey, stoppedAt) : cursorOf(shown.at(-1))
  const isMore = hasMore || isStopped
  return isBackward
    ? {
        rows: shown.reverse(),
        hasNextPage: last !== null,
        hasPreviousPage: isMore,
        startCursor: far,
        endCursor: near,
      }
    : { rows: shown, hasNextPage: isMore, hasPreviousPage: first !== null, startCursor: near, endCursor: far }
}
