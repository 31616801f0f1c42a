import { setTimeout as wait } from 'node:timers/promises'
import { PullStream } from '../../data/pull-stream.ts'
import { hearsAll, watchTopic } from '../../database/announcements.ts'
import { type Database, isUnavailable } from '../../database/database.ts'
import { perDatabase } from '../../database/per-database.ts'
import { type Context, requireIntegration } from '../../request/context.ts'
import { problem, Refusal } from '../../shared/errors.ts'
import { eventById } from '../event/loaders.ts'
import {
  keyOf,
  type LoggedCheckIn,
  overlapBefore,
  type Place,
  pageSize,
  placeBefore,
  readCheckIns,
  type WatchedEvent,
} from './find-check-ins.ts'

/** Check-ins of an event by key, in the order in which this process found them: all that may have been committed since
 *  `from`, and the time up to which they were read. */
type Recent = { from: Date; until: Date; found: Map<string, LoggedCheckIn> }

const byKey = (checkIns: LoggedCheckIn[]) => new Map(checkIns.map((checkIn) => [keyOf(checkIn), checkIn]))

/** The place of the next page; null after the last one. */
const nextPlace = (page: LoggedCheckIn[]): Place | null =>
  page.length === pageSize ? (page.at(-1) ?? null) : null

const later = (one: Date, other: Date | undefined): Date => (other && other > one ? other : one)

// An event has no index of its own check-ins: reading them again takes a tenth of the time at most.
const pausePerRead = 9
const minPauseMs = 50
// Until a database that is away is read again.
const retryMs = 1_000

const pause = (ms: number) => wait(ms, undefined, { ref: false })

/** An event whose check-ins somebody in this process watches, and the last ones, read once for all who do. */
class WatchedDoor {
  readonly wakers = new Set<() => void>()
  readonly opened: Promise<void>
  recent: Recent
  readonly #db: Database
  readonly #event: WatchedEvent
  #isDue = false
  #isReading = false

  constructor(db: Database, event: WatchedEvent, now: Date) {
    this.#db = db
    this.#event = event
    this.recent = { from: now, until: now, found: new Map() }
    this.opened = this.#read()
  }

  /** Reads what is new and wakes those who watch: one read at a time, for all who ask for it meanwhile. */
  async look(): Promise<void> {
    this.#isDue = true
    if (this.#isReading) return
    this.#isReading = true
    while (this.#isDue && this.wakers.size > 0) {
      this.#isDue = false
      const began = performance.now()
      try {
        await this.#read()
        await pause(Math.max(minPauseMs, pausePerRead * (performance.now() - began)))
      } catch {
        this.#isDue = true
        await pause(retryMs)
      }
    }
    this.#isReading = false
  }

  async #read(): Promise<void> {
    const { from, until, found } = this.recent
    const rows: LoggedCheckIn[] = []
    let place: Place | null = placeBefore(until)
    while (place) {
      const page: LoggedCheckIn[] = await readCheckIns(this.#db, this.#event, place)
      rows.push(...page)
      place = nextPlace(page)
    }
    const fresh = rows.filter((checkIn) => !found.has(keyOf(checkIn)))
    if (fresh.length === 0) return
    // Kept for readers that are a little behind.
    const readUntil = later(until, rows.at(-1)?.createdAt)
    const keptFrom = later(from, overlapBefore(readUntil))
    const start = overlapBefore(keptFrom)
    const kept = [...found.values(), ...fresh].filter(({ createdAt }) => createdAt >= start)
    this.recent = { from: keptFrom, until: readUntil, found: byKey(kept) }
    for (const wake of this.wakers) wake()
  }
}

// Looks between two reads while every process is heard, for those that died before telling.
const quietLooks = 10

/** Events whose check-ins somebody in this process watches. */
class DoorWatch {
  readonly #db: Database
  readonly #doors = new Map<string, WatchedDoor>()
  #stop: (() => void) | null = null
  #looks = 0

  constructor(db: Database) {
    this.#db = db
  }

  /** Watches an event, from `now` on for the first one who does, for as long as the returned function isn't called. */
  async open(event: WatchedEvent, now: Date, wake: () => void) {
    const door = this.#doors.get(event.id) ?? new WatchedDoor(this.#db, event, now)
    this.#doors.set(event.id, door)
    door.wakers.add(wake)
    this.#stop ??= watchTopic(this.#db, 'check-ins', {
      hear: (eventIds) => this.#look(eventIds ?? this.#doors.keys()),
      look: () => {
        this.#looks = (this.#looks + 1) % quietLooks
        if (this.#looks === 0 || !hearsAll(this.#db)) this.#look(this.#doors.keys())
      },
    })
    const close = () => {
      door.wakers.delete(wake)
      if (door.wakers.size === 0) this.#doors.delete(event.id)
      if (this.#doors.size > 0) return
      this.#stop?.()
      this.#stop = null
    }
    await door.opened.catch((error) => {
      close()
      throw error
    })
    return { door, close }
  }

  #look(eventIds: Iterable<string>): void {
    for (const eventId of eventIds) {
      const door = this.#doors.get(eventId)
      // A door that can't be read is told to those who open it.
      door?.opened.then(
        () => door.look(),
        () => {},
      )
    }
  }
}

const doorWatch = perDatabase((db) => new DoorWatch(db))

const digits = /^\d{1,15}$/

/** Identifier of a check-in in a stream: when its transaction began, in milliseconds. */
export const eventIdOf = ({ createdAt }: LoggedCheckIn): string => String(createdAt.getTime())

function readEventId(id: string): Date {
  const time = new Date(Number(id))
  if (digits.test(id) && !Number.isNaN(time.getTime())) return time
  throw new Refusal(
    problem('CURSOR_UNKNOWN', 'Last-Event-ID is not the id of an event of this stream.', ['last-event-id']),
  )
}

/** Streams the check-ins of tickets of an event and of the caller's mode, as they are made; after
 *  `lastEventId`, those since that event as well, of which some may come again: commits come in another order
 *  than they began. A reader that is slow reads them from the table by itself, and nothing is left out.
 *  Refuses: UNAUTHENTICATED, FORBIDDEN for a channel, NOT_FOUND for an event of others, CURSOR_UNKNOWN. */
export async function watchCheckIns(
  eventId: string,
  lastEventId: string | undefined,
  ctx: Context,
): Promise<PullStream<LoggedCheckIn>> {
  requireIntegration(ctx)
  const event = await ctx.loaders.load(eventById, eventId)
  if (!event) throw new Refusal(problem('NOT_FOUND', 'There is no such event.', ['eventId']))
  const missedSince = lastEventId ? readEventId(lastEventId) : null
  const { id, organizationId } = event
  const watched = { id, organizationId }
  let stream: PullStream<LoggedCheckIn> | null = null
  const { door, close } = await doorWatch(ctx.db).open(watched, ctx.now, () => stream?.wake())
  let taken = door.recent
  // Time up to which this reader has read, and what it has read that a later read may find again.
  let until = missedSince ?? taken.until
  let known = missedSince ? new Map<string, LoggedCheckIn>() : taken.found
  /** Place in the table, while this reader is behind. */
  let place = missedSince && placeBefore(missedSince)
  let page: LoggedCheckIn[] = []

  function takeFrom(recent: Recent): void {
    const start = overlapBefore(until)
    page = [...recent.found].flatMap(([key, checkIn]) =>
      checkIn.mode === ctx.mode && checkIn.createdAt >= start && !known.has(key) ? [checkIn] : [],
    )
    taken = recent
    known = recent.found
    until = later(until, recent.until)
  }

  async function readFrom(start: Place): Promise<void> {
    const { recent } = door
    const found = await readCheckIns(ctx.db, watched, start)
    page = found.filter((checkIn) => checkIn.mode === ctx.mode && !known.has(keyOf(checkIn)))
    until = later(until, found.at(-1)?.createdAt)
    known = byKey([...known.values(), ...found].filter(({ createdAt }) => createdAt >= overlapBefore(until)))
    place = nextPlace(found)
    if (place) return
    // All that the last common read has found is read, too.
    taken = recent
    until = later(until, recent.until)
  }

  let isOver = false
  stream = new PullStream<LoggedCheckIn>(
    async () => {
      while (!isOver) {
        const checkIn = page.shift()
        if (checkIn) return checkIn
        if (!place && door.recent === taken) return undefined
        // Reads that this one has not taken lie between.
        if (!place && door.recent.from > until) place = placeBefore(until)
        if (place)
          await readFrom(place).catch((error) => {
            if (!isUnavailable(error)) throw error
            return pause(retryMs)
          })
        else takeFrom(door.recent)
      }
      return undefined
    },
    () => {
      isOver = true
      close()
    },
  )
  return stream
}
