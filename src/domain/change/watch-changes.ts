import { setImmediate, setTimeout } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { sharedReads, streamPages } from '../../engine/data/pull-stream.ts'
import { query, textArrayParam } from '../../engine/data/query.ts'
import { type Watcher, watchTopic } from '../../engine/database/announcements.ts'
import { perDatabase } from '../../engine/database/database.ts'
import { type Context, requireConfidential } from '../caller/context.ts'
import {
  cursorOf,
  type FeedChange,
  type FeedStart,
  listChanges,
  ofTypes,
  type WantedTypes,
} from './list-changes.ts'
import { changeFeeds, forAll, forChannel, forGranted } from './table.ts'

/** A reader of a feed. `wake` makes it read what is new. */
type FeedWatcher = Watcher & { organizationIds: string[] }

const lastPositions = query<{ id: string; position: string }>(
  'last_feed_positions',
  () => sql`select organization_id as id, last_position::text as position from ${changeFeeds}
    where organization_id = any(${textArrayParam('organizationIds')})`,
)

// Number of looks after which every reader is woken, whatever the positions say: those of an organization
// whose grant was revoked are not looked at.
const looksUntilAll = 30

/** Readers of feeds in this process. Each is woken when a process announces a change that concerns it, or when
 *  a look each second finds that its organizations have new ones: one statement for all of them. */
const feedWatch = perDatabase((db) => {
  let positions = new Map<string, string>()
  const watch = watchTopic<FeedWatcher>(db, 'changes', { untilAll: looksUntilAll, look: wakeMoved })

  // A database that is away is looked at again in a second, and then tells of all that moved meanwhile.
  async function wakeMoved(): Promise<void> {
    const organizationIds = [...new Set([...watch.watchers].flatMap((watcher) => watcher.organizationIds))]
    const rows = await lastPositions(db, { organizationIds })
    const moved = new Set(rows.flatMap(({ id, position }) => (positions.get(id) === position ? [] : [id])))
    positions = new Map(rows.map(({ id, position }) => [id, position]))
    for (const watcher of watch.watchers)
      if (watcher.organizationIds.some((id) => moved.has(id))) watcher.wake()
  }

  return watch
})

// Changes that are read at a time: a reader that is slow holds no more.
const pageSize = 50
// Pause between two reads of one reader that keep finding something.
const readEveryMs = 100

// Reads at once, of all readers in this process, and full pages that are kept for those who come to the same place a
// moment later: what follows a cursor never changes.
const readsAtOnce = 3
const keptPages = { max: 50, ttl: 1_000 }

/** Reads of feeds in this process, a few at once. Readers of the same feed that wait at the same place share one. */
const feedReads = perDatabase(() => {
  const limited = pLimit(readsAtOnce)
  const pages = new LRUCache<string, FeedChange[]>(keptPages)
  const readShared = sharedReads<FeedChange>((read) =>
    limited(async () => {
      // Others that were woken by the same change join until then.
      await setImmediate()
      return read()
    }),
  )
  return async (after: string, ctx: Context): Promise<FeedChange[]> => {
    const key = JSON.stringify([ctx.caller, after])
    const readAndKeep = async () => {
      const page = await listChanges(after, pageSize, ctx)
      if (page.length === pageSize) pages.set(key, page)
      return page
    }
    return pages.get(key) ?? readShared(key, readAndKeep)
  }
})

/** Streams the changes of the caller's feed from a start, as `listChanges` lists them, and then each new one, or those of
 *  some types alone. Every change comes once, in the order of the feed; a reader that is slow reads them later.
 *  Refuses: UNAUTHENTICATED, CURSOR_UNKNOWN. */
export async function watchChanges(from: FeedStart, types: WantedTypes, ctx: Context) {
  const caller = requireConfidential(ctx)
  const { organizationIds } = caller
  const own = caller.kind === 'integration' ? organizationIds.map(forAll) : [forChannel(caller.channelId)]
  const names = [...own, ...organizationIds.map(forGranted)]
  const start = await cursorOf(from, ctx)
  let cursor = start
  let readAt = Number.NEGATIVE_INFINITY

  async function readPage() {
    await setTimeout(Math.max(0, readAt + readEveryMs - performance.now()), undefined, { ref: false })
    readAt = performance.now()
    const read = await feedReads(ctx.db)(cursor, ctx)
    cursor = read.at(-1)?.cursor() ?? cursor
    return { rows: ofTypes(read, types), hasMore: read.length === pageSize }
  }

  const { rows } = await readPage()
  // Reads what has come since without a pause.
  readAt = Number.NEGATIVE_INFINITY
  const watch = (wake: () => void) => feedWatch(ctx.db).add({ names, organizationIds, wake })
  const stream = streamPages({ rows, readPage, watch })
  stream.startId = start
  return stream
}
