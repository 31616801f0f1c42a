import { setTimeout } from 'node:timers/promises'
import { asc, eq, getTableColumns, sql } from 'drizzle-orm'
import pLimit from 'p-limit'
import { rowsOf } from '../../engine/data/json-rows.ts'
import { sharedReads, streamPages } from '../../engine/data/pull-stream.ts'
import { inOrganization, query } from '../../engine/data/query.ts'
import { type Watcher, watchTopic } from '../../engine/database/announcements.ts'
import { perDatabase } from '../../engine/database/database.ts'
import { type Context, loadNamed, requireIntegration } from '../caller/context.ts'
import { isInMode } from '../caller/sold.ts'
import { refusal } from '../contract/problem-codes.ts'
import { eventById } from '../event/loaders.ts'
import { type Position, readCursor } from './loaders.ts'
import { type CheckIn, checkIns } from './table.ts'

const parameter = sql.placeholder

// Maximum number of check-ins that a statement reads.
const pageSize = 500

const after = query('check_ins_after', {
  rows: rowsOf(getTableColumns(checkIns)),
  query: (select) =>
    select
      .from(checkIns)
      .where(
        sql`${inOrganization(checkIns.organizationId)} and ${eq(checkIns.eventId, parameter('eventId'))}
          and ${isInMode(checkIns.mode)}
          and (${checkIns.createdAt}, ${checkIns.id}) > (${parameter('createdAt')}::text::timestamptz, ${parameter('id')}::text)`,
      )
      .orderBy(asc(checkIns.createdAt), asc(checkIns.id))
      .limit(pageSize),
})

// Transactions may commit in another order than they began, this much later at most: twice the time that a statement may
// wait, because a scan waits for its ticket, and then for another one with its key.
const overlapMs = 30_000

// Readers that were woken together begin at the same position, and share what they read.
const stepMs = 5_000

// Position before all check-ins that began after a time, and before those from earlier that may not be committed yet.
const positionBefore = (time: Date): Position => ({
  createdAt: new Date(Math.floor((time.getTime() - overlapMs) / stepMs) * stepMs),
  id: '',
})

// Each read repeats the last half minute: reading takes a tenth of the time at most.
const pausePerRead = 9
const minPauseMs = 50

/** Makes the reads of an event's check-ins, for all in this process who watch it: one at a time, and one for those who
 *  wait at the same position. */
function pacedReads() {
  const oneAtATime = pLimit(1)
  return sharedReads<CheckIn>(
    (read) =>
      new Promise((resolve, reject) => {
        void oneAtATime(async () => {
          const began = performance.now()
          await read().then(resolve, reject)
          const pause = Math.max(minPauseMs, pausePerRead * (performance.now() - began))
          await setTimeout(pause, undefined, { ref: false })
        })
      }),
  )
}

/** A reader of the check-ins of an event, whose identifier is its name. */
type DoorWatcher = Watcher & { read: ReturnType<typeof pacedReads> }

// Number of looks after which every reader is woken, in case a process died before it announced a check-in.
const looksUntilAll = 10

const doorWatch = perDatabase((db) => watchTopic<DoorWatcher>(db, 'check-ins', { untilAll: looksUntilAll }))

/** Streams the check-ins of an event and of the caller's mode, as they are made; after a cursor, first those since then,
 *  some of them again, because transactions commit in another order than they begin. Each reader reads them from the
 *  table when it is woken, from its own position on: one that is slow reads them later, and nothing is left out. The
 *  cursor of the last event that was received comes before one in the arguments.
 *  Refuses: UNAUTHENTICATED, FORBIDDEN for a channel, NOT_FOUND for an event of others, INVALID. */
export async function watchCheckIns(eventId: string, cursor: string | null | undefined, ctx: Context) {
  requireIntegration(ctx)
  const event = await loadNamed(ctx, eventById, eventId)
  if (!event) throw refusal('NOT_FOUND', 'There is no such event.', ['eventId'])
  const { lastEventId, mode } = ctx
  const missed = lastEventId ? readCursor(lastEventId, 'last-event-id') : cursor ? readCursor(cursor) : null
  const { organizationId } = event
  const watch = doorWatch(ctx.db)
  const { read } = [...watch.watchers].find(({ names }) => names.includes(eventId)) ?? { read: pacedReads() }
  const openedAt = performance.now()
  const now = () => new Date(ctx.now.getTime() + performance.now() - openedAt)

  // A pass reads page by page, up to the end of the table. The next one begins before the time at which this one began,
  // because of check-ins that were not committed by then, and leaves out those that are known.
  let since = missed?.createdAt ?? ctx.now
  let begunAt = since
  let position: Position | null = null
  const known = new Map<string, Date>()

  async function readPage() {
    if (!position) {
      begunAt = now()
      position = positionBefore(since)
    }
    const start = { ...position, mode, createdAt: position.createdAt.toISOString() }
    const found = await read(JSON.stringify(start), () =>
      after(ctx.db, { ...start, eventId, organizationId }),
    )
    const fresh = found.filter(({ id }) => !known.has(id))
    const next = positionBefore(begunAt).createdAt
    for (const { id, createdAt } of fresh) if (createdAt >= next) known.set(id, createdAt)
    position = found.length === pageSize ? (found.at(-1) ?? null) : null
    if (!position) {
      since = begunAt
      for (const [id, createdAt] of known) if (createdAt < next) known.delete(id)
    }
    return { rows: fresh, hasMore: position !== null }
  }

  const stream = streamPages({
    readPage,
    watch: (wake) => watch.add({ names: [eventId], wake, read }),
    isNew: missed !== null,
  })
  try {
    // Check-ins of before are read to be known, and are not streamed.
    if (!missed)
      do await readPage()
      while (position)
  } catch (error) {
    await stream.return()
    throw error
  }
  return stream
}
