import { z } from 'zod'
import { joinReads } from '../../engine/data/join-reads.ts'
import { type Context, reachOf, requireConfidential } from '../caller/context.ts'
import { nameInMode } from '../caller/idempotency.ts'
import { assignPositions } from './assign-positions.ts'
import { type ReadPositions, readCursor, toCursor, verifyCursor } from './cursor.ts'
import { readFeed, readHead } from './read-feed.ts'
import { type Change, changeType } from './table.ts'

// Coalesces concurrent requests into one assignment. A failure must not block reading changes that have a
// position; the background job logs it.
const assignCoalesced = joinReads<never>(async (db, organizationIds) => {
  await assignPositions(db, organizationIds).catch(() => {})
  return new Map<string, never>()
})

/** Reads a feed, and once more if that finds organizations whose changes must first be given positions. */
async function readPositioned<Found extends { unpositioned: { organizationId: string }[] }>(
  { db }: Context,
  read: () => Promise<Found>,
): Promise<Found> {
  const found = await read()
  if (found.unpositioned.length === 0) return found
  await Promise.all(found.unpositioned.map(({ organizationId }) => assignCoalesced(db, organizationId)))
  return read()
}

// Names the caller's feed. A cursor of the other mode is one of another feed.
function feedOf(ctx: Context): string {
  const caller = requireConfidential(ctx)
  return nameInMode(ctx, caller.kind === 'channel' ? caller.channelId : caller.organizationIds[0])
}

async function findHead(ctx: Context) {
  const [last, unpositioned] = await readHead(ctx.db, reachOf(ctx.caller))
  const read = last.map(({ part, id, position }) => [part, { id: id ?? '', position }] as const)
  return { cursor: toCursor(feedOf(ctx), new Map(read)), unpositioned }
}

/** Returns the cursor after the newest change of the caller's feed that has a position. Whatever is read afterwards
 *  contains all changes before the cursor, and perhaps some behind it. */
export const readFeedHead = async (ctx: Context): Promise<string> => (await findHead(ctx)).cursor

/** Start of a reader in a feed: behind a cursor, or at a position. GraphQL makes it one of the two. */
export const feedStart = z
  .object({
    after: z.string().nullish().describe('Cursor, valid only for the caller that received it.'),
    at: z.enum(['oldest', 'now']).nullish().describe('End of the feed.'),
  })
  .describe('Place in the feed to start at: after a cursor, or at one of its ends.')
export type FeedStart = z.output<typeof feedStart>

/** Returns the cursor that a reader starts behind. */
export async function cursorOf({ after, at }: FeedStart, ctx: Context): Promise<string> {
  if (at === 'now') return (await readPositioned(ctx, () => findHead(ctx))).cursor
  return after ?? toCursor(feedOf(ctx), new Map())
}

/** A change in a feed, and the cursor after it. */
export type FeedChange = Change & { cursor(): string }

/** Returns up to `limit` changes of the caller's feed after a cursor, oldest first. A channel's feed has its
 *  payments and tickets and the rates of organizations that granted it; an integration's has all changes of
 *  its organization. The part before a cursor never changes, so a client can resume from it (DECISIONS, changes).
 *  Changes of one organization keep its order; those of several are merged by time. `limit` is at most `maxChanges` of
 *  read-feed.ts.
 *  Refuses: CURSOR_UNKNOWN, for a cursor of another caller or database. */
export async function listChanges(after: string, limit: number, ctx: Context): Promise<FeedChange[]> {
  const feed = feedOf(ctx)
  const cursor = readCursor(after)
  const values = { ...reachOf(ctx.caller), limit, positions: JSON.stringify(cursor.positions) }
  const { before, found } = await readPositioned(ctx, async () => {
    const [last, found, waiting] = await readFeed(ctx.db, values)
    const before: ReadPositions = verifyCursor(cursor, feed, last)
    return { before, found, unpositioned: found.length < limit ? waiting : [] }
  })
  const cursorAt = (index: number) => {
    const read = new Map(before)
    for (const { part, feedPosition, id } of found.slice(0, index + 1))
      read.set(part, { id, position: feedPosition ?? 0 })
    return toCursor(feed, read)
  }
  return found.map((change, index) => ({ ...change, cursor: () => cursorAt(index) }))
}

/** Types of change that a reader or a webhook wants; all if absent. */
export const changeTypes = z.array(z.enum(changeType.enumValues)).min(1, 'must name at least one type')
export type WantedTypes = z.output<typeof changeTypes> | null | undefined

/** Leaves out changes that a reader does not want. */
export const ofTypes = (changes: FeedChange[], types: WantedTypes): FeedChange[] =>
  types ? changes.filter(({ type }) => types.includes(type)) : changes

// Number of changes that a page of some types looks through.
const lookedThrough = 100

/** Reads a page of the caller's feed. One of some types may hold fewer changes than `first`, or none, although more
 *  follow: its `endCursor` is behind all that it looked through.
 *  Refuses: CURSOR_UNKNOWN. */
export async function readFeedPage(
  { from, types, first }: { from: FeedStart; types?: WantedTypes; first: number },
  ctx: Context,
) {
  const after = await cursorOf(from, ctx)
  const most = types ? lookedThrough : first
  const found = from.at === 'now' ? [] : await listChanges(after, most + 1, ctx)
  const read = found.slice(0, most)
  const wanted = ofTypes(read, types)
  const nodes = wanted.slice(0, first)
  const isCut = wanted.length > first
  return {
    nodes,
    after,
    hasPreviousPage: from.at !== 'oldest',
    hasNextPage: isCut || found.length > most,
    endCursor: (isCut ? nodes : read).at(-1)?.cursor() ?? after,
  }
}
