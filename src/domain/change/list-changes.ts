import { coalesceReads } from '../../data/coalesce.ts'
import { nameInMode } from '../../data/idempotency.ts'
import { type Context, reachOf, requireConfidential } from '../../request/context.ts'
import { assignPositions } from './assign-positions.ts'
import { type ReadPositions, readCursor, toCursor, verifyCursor } from './cursor.ts'
import { maxChanges, readFeed } from './read-feed.ts'
import type { Change } from './table.ts'

// Coalesces concurrent requests into one assignment. A failure must not block reading changes that have a
// position; the background job logs it.
const assignCoalesced = coalesceReads<never>(async (db, organizationIds) => {
  await assignPositions(db, organizationIds).catch(() => {})
  return new Map<string, never>()
})

/** A change in a feed, and the cursor after it. */
export type FeedChange = Change & { cursor(): string }

/** Returns up to `limit` changes of the caller's feed after a cursor, oldest first. A channel's feed has its
 *  payments and tickets and the rates of organizations that granted it; an integration's has all changes of
 *  its organization. The part before a cursor never changes, so a client can resume from it (DECISIONS 7,
 *  11). Changes of one organization keep its order; those of several are merged by time. `limit` is at most
 *  `maxChanges`.
 *  Refuses: CURSOR_UNKNOWN, for a cursor of another caller or database. */
export async function listChanges(after: string | null, limit: number, ctx: Context): Promise<FeedChange[]> {
  if (limit > maxChanges) throw new RangeError(`${limit} changes are more than ${maxChanges}`)
  const caller = requireConfidential(ctx)
  // A cursor of the other mode is one of another feed.
  const feed = nameInMode(ctx, caller.kind === 'channel' ? caller.channelId : caller.organizationIds[0])
  const cursor = after === null ? null : readCursor(after)
  const values = { ...reachOf(caller), limit, positions: JSON.stringify(cursor?.positions ?? []) }

  const read = async () => {
    const [last, found, unpositioned] = await readFeed(ctx.db, values)
    const before: ReadPositions = cursor ? verifyCursor(cursor, feed, last) : new Map()
    return { before, found, unpositioned }
  }

  let page = await read()
  if (page.found.length < limit && page.unpositioned.length > 0) {
    await Promise.all(page.unpositioned.map(({ organizationId }) => assignCoalesced(ctx.db, organizationId)))
    page = await read()
  }
  const cursorAt = (index: number) => {
    const read = new Map(page.before)
    for (const { part, feedPosition, id } of page.found.slice(0, index + 1))
      read.set(part, { id, position: feedPosition ?? 0 })
    return toCursor(feed, read)
  }
  return page.found.map((change, index) => ({ ...change, cursor: () => cursorAt(index) }))
}
