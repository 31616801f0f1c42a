import { setTimeout } from 'node:timers/promises'
import { asc, eq, getTableColumns, sql } from 'drizzle-orm'
import pLimit from 'p-limit'
import { rowsOf } from '../../data/json-rows.ts'
import { type PullStream, sharedReads, streamPages } from '../../data/pull-stream.ts'
import { inOrganization, query } from '../../data/query.ts'
import { type Watcher, watchTopic } from '../../database/announcements.ts'
import { perDatabase } from '../../database/database.ts'
import { type Context, loadNamed, requireIntegration } from '../../request/context.ts'
import { refusal } from '../../shared/errors.ts'
import { eventById } from '../event/loaders.ts'
import { events } from '../event/table.ts'
import { tickets } from '../ticket/table.ts'
import { type CheckIn, checkIns, isOfCheckIn } from './table.ts'

const rows = rowsOf({
  ...getTableColumns(checkIns),
  entered: tickets.entered,
  admits: tickets.admits,
  eventId: tickets.eventId,
  mode: tickets.mode,
  startDate: events.startDate,
})

/** A scan of a ticket, with the people inside with it and those that it admits when it was read. */
export type LoggedCheckIn = ReturnType<typeof rows.read>[number]

const parameter = sql.placeholder

// Maximum number of check-ins that a statement reads.
const pageSize = 500

// Reads a few rows of each ticket by its index: an event has no index of its own check-ins.
const after = query('check_ins_after', {
  rows,
  query: (select) =>
    select
      .from(checkIns)
      .innerJoin(tickets, isOfCheckIn)
      .innerJoin(events, eq(events.id, tickets.eventId))
      .where(
        sql`${inOrganization(checkIns.organizationId)} and ${eq(tickets.eventId, parameter('eventId'))}
          and (${checkIns.createdAt}, ${checkIns.integrationId}, ${checkIns.nonce})
            > (${parameter('createdAt')}::text::timestamptz, ${parameter('integrationId')}::text, ${parameter('nonce')}::text)`,
      )
      .orderBy(asc(checkIns.createdAt), asc(checkIns.integrationId), asc(checkIns.nonce))
      .limit(pageSize),
})

/** Position in the check-ins of an event, in the order in which their transactions began. */
type Position = Pick<CheckIn, 'createdAt' | 'integrationId' | 'nonce'>

// Transactions may commit in another order than they began, this much later at most: twice the time that a statement may
// wait, because a scan waits for its ticket, and then for another one with its nonce.
const overlapMs = 30_000

// Readers that were woken together begin at the same position, and share what they read.
const stepMs = 5_000

// Position before all check-ins that began after a time, and before those from earlier that may not be committed yet.
const positionBefore = (time: Date): Position => ({
  createdAt: new Date(Math.floor((time.getTime() - overlapMs) / stepMs) * stepMs),
  integrationId: '',
  nonce: '',
})

const keyOf = ({ integrationId, nonce }: Position): string => `${integrationId} ${nonce}`

// An event has no index of its own check-ins: reading them takes a tenth of the time at most.
const pausePerRead = 9
const minPauseMs = 50

/** Makes the reads of an event's check-ins, for all in this process who watch it: one at a time, and one for those who
 *  wait at the same position. */
function pacedReads() {
  const oneAtATime = pLimit(1)
  return sharedReads<LoggedCheckIn>(
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

/** Identifier of a check-in in a stream: when its transaction began, in milliseconds. */
export const eventIdOf = ({ createdAt }: LoggedCheckIn): string => String(createdAt.getTime())

function readEventId(id: string): Date {
  // Up to the year 5138: PostgreSQL reads no year of five digits as JavaScript writes it.
  if (/^\d{1,14}$/.test(id)) return new Date(Number(id))
  throw refusal('CURSOR_UNKNOWN', 'Last-Event-ID is not the id of an event of this stream.', [
    'last-event-id',
  ])
}

/** Streams the check-ins of tickets of an event and of the caller's mode, as they are made; with
 *  `lastEventId`, first those since that event, some of them again, because transactions commit in another order
 *  than they begin. Each reader reads them from the table when it is woken, from its own position on: one that
 *  is slow reads them later, and nothing is left out.
 *  Refuses: UNAUTHENTICATED, FORBIDDEN for a channel, NOT_FOUND for an event of others, CURSOR_UNKNOWN. */
export async function watchCheckIns(
  eventId: string,
  lastEventId: string | undefined,
  ctx: Context,
): Promise<PullStream<LoggedCheckIn>> {
  requireIntegration(ctx)
  const event = await loadNamed(ctx, eventById, eventId)
  if (!event) throw refusal('NOT_FOUND', 'There is no such event.', ['eventId'])
  const missedSince = lastEventId ? readEventId(lastEventId) : null
  const { organizationId } = event
  const watch = doorWatch(ctx.db)
  const { read } = [...watch.watchers].find(({ names }) => names.includes(eventId)) ?? { read: pacedReads() }
  const openedAt = performance.now()
  const now = () => new Date(ctx.now.getTime() + performance.now() - openedAt)

  // A pass reads page by page, up to the end of the table. The next one begins before the time at which this one began,
  // because of check-ins that were not committed by then, and leaves out those that are known.
  let since = missedSince ?? ctx.now
  let begunAt = since
  let position: Position | null = null
  const known = new Map<string, Date>()

  async function readPage() {
    if (!position) {
      begunAt = now()
      position = positionBefore(since)
    }
    const start = { ...position, createdAt: position.createdAt.toISOString() }
    const found = await read(JSON.stringify(start), () =>
      after(ctx.db, { ...start, eventId, organizationId }),
    )
    const fresh = found.filter((checkIn) => !known.has(keyOf(checkIn)))
    const next = positionBefore(begunAt).createdAt
    for (const checkIn of fresh) if (checkIn.createdAt >= next) known.set(keyOf(checkIn), checkIn.createdAt)
    position = found.length === pageSize ? (found.at(-1) ?? null) : null
    if (!position) {
      since = begunAt
      for (const [key, createdAt] of known) if (createdAt < next) known.delete(key)
    }
    return { rows: fresh.filter(({ mode }) => mode === ctx.mode), hasMore: position !== null }
  }

  const stream = streamPages({
    readPage,
    watch: (wake) => watch.add({ names: [eventId], wake, read }),
    isNew: missedSince !== null,
  })
  try {
    // Check-ins of before are read to be known, and are not streamed.
    if (!missedSince)
      do await readPage()
      while (position)
  } catch (error) {
    await stream.return()
    throw error
  }
  return stream
}
