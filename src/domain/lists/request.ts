import { z } from 'zod'
import { readMerged } from '../../engine/data/by-organization.ts'
import { reachedOrganizations } from '../caller/change-grant.ts'
import type { Context } from '../caller/context.ts'
import {
  type Found,
  isTime,
  type ListedKind,
  type ListPosition,
  type Positioned,
  type Range,
  readCursor,
  type SearchPath,
  type SearchPathName,
  type SortKey,
  searchPage,
  searchPaths,
  sortKeys,
  toCursor,
} from './search.ts'

/** Orders of both lists. Each is total: ties are ordered by identifier. */
export const listOrders = ['CREATED_ASC', 'CREATED_DESC'] as const
export type ListOrder = (typeof listOrders)[number]

/** Values of a filter, of which one must match. */
export const someOf = <Value extends z.ZodType>(value: Value) =>
  z.array(value).min(1, 'must have at least one value').max(100, 'must have at most 100 values')

/** Page that is asked for: the first rows after a cursor, or the last ones before one. */
export type PageRequest = {
  orderBy?: ListOrder | null | undefined
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
  rows: Positioned<Row>[]
  hasNextPage: boolean
  hasPreviousPage: boolean
  startCursor: string | null
  endCursor: string | null
}

/** Way to find the rows of a list, and the part of its order: from a time on, before a time, or with a prefix. */
export type Plan = {
  path: SearchPathName
  isDescending: boolean
  from?: Date | null | undefined
  until?: Date | null | undefined
  prefix?: string | undefined
}

// Compares two positions: negative where `one` is before `other`.
function compare(sortKey: SortKey, one: ListPosition, other: ListPosition): number {
  const byKey = isTime(sortKey)
    ? Number(one.positionKey.slice(1)) - Number(other.positionKey.slice(1))
    : Buffer.compare(Buffer.from(one.positionKey), Buffer.from(other.positionKey))
  return byKey || Number(one.positionId > other.positionId) - Number(one.positionId < other.positionId)
}

// Range of the order within which the rows of a plan lie.
function boundsOf(sortKey: SortKey, { from, until, prefix = '' }: Plan) {
  const at = (key: string | number): ListPosition => ({
    positionKey: `${sortKeys[sortKey].prefix}${key}`,
    positionId: '',
  })
  return isTime(sortKey)
    ? { lower: at(from?.getTime() ?? -Infinity), upper: at(until?.getTime() ?? Infinity) }
    : // The end follows every text that begins with the prefix, byte by byte.
      { lower: at(prefix), upper: at(`${prefix}\u{10ffff}`) }
}

// Merges what was found of each organization. The list ends where the first of them stopped.
function merge<Row>(found: Found<Row>[], sortKey: SortKey, { isDescending, limit }: Range): Found<Row> {
  const order = (one: ListPosition, other: ListPosition) =>
    isDescending ? compare(sortKey, other, one) : compare(sortKey, one, other)
  const [stoppedAt = null] = found.flatMap(({ stoppedAt }) => stoppedAt ?? []).sort(order)
  const rows = found.flatMap(({ rows }) => rows).sort(order)
  const reached = rows.filter((row) => !stoppedAt || order(row, stoppedAt) <= 0)
  return { rows: reached.slice(0, limit), stoppedAt }
}

/** Reads a page of a list of the caller's sales. Refuses: INVALID, for a cursor of another order. */
export async function readPage<Row>(
  shown: ListedKind<Row>,
  plan: Plan,
  filters: Record<string, string | string[] | null>,
  { after, before, afterName = 'after', size, isBackward }: PageRequest,
  { db, loaders }: Context,
): Promise<ListPage<Row>> {
  const { path, isDescending } = plan
  const { sortKey, serves }: SearchPath = searchPaths[path]
  const first = after ? readCursor(sortKey, after, afterName) : null
  const last = before ? readCursor(sortKey, before, 'before') : null
  const bounds = boundsOf(sortKey, plan)
  const [above, below] = isDescending ? [last, first] : [first, last]
  const lower = above && compare(sortKey, bounds.lower, above) < 0 ? above : bounds.lower
  const upper = below && compare(sortKey, below, bounds.upper) < 0 ? below : bounds.upper
  // The filter for online sales chooses parts of the list, so it leaves nothing to look through.
  const isOpen = ([name, value]: [string, string | string[] | null]) =>
    value !== null && name !== serves && !(name === 'saleType' && String(value) === 'online')
  const isFiltered = Object.entries(filters).some(isOpen)
  const { channelId, ownOrganizationIds, mode } = loaders.own.reach
  const values = { ...filters, channelId, ownOrganizationIds, mode }
  const range = { lower, upper, isDescending: isDescending !== isBackward, limit: size + 1 }
  const { rows, stoppedAt } = await readMerged(
    db,
    () => reachedOrganizations(db, loaders.own.reach),
    (organizationId) => searchPage(db, shown, path, { ...values, organizationId }, range, isFiltered),
    (found) => merge(found, sortKey, range),
  )
  const page = rows.slice(0, size)
  const isLonger = rows.length > size
  const isMore = isLonger || stoppedAt !== null
  const near = page[0]
  const far = isLonger ? page.at(-1) : (stoppedAt ?? page.at(-1))
  const [start, end] = isBackward ? [far, near] : [near, far]
  return {
    rows: isBackward ? page.reverse() : page,
    hasNextPage: isBackward ? last !== null : isMore,
    hasPreviousPage: isBackward ? isMore : first !== null,
    startCursor: start ? toCursor(start) : null,
    endCursor: end ? toCursor(end) : null,
  }
}
