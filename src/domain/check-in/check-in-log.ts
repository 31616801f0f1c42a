import { type Announcement, hearsAll, listenTo } from '../../database/announcements.ts'
import type { Connection, Database } from '../../database/database.ts'
import { perDatabase } from '../../database/per-database.ts'
import { announceOnCommit } from '../../database/transaction.ts'
import { groupBy } from '../../shared/group-by.ts'
import {
  keyOf,
  type LoggedCheckIn,
  pageSize,
  placeBefore,
  readCheckIns,
  readNamedCheckIns,
  type WatchedEvent,
} from './find-check-ins.ts'
import type { CheckIn } from './table.ts'

/** Key of a check-in, with the event of its ticket. */
export type MadeAtEvent = Pick<CheckIn, 'integrationId' | 'nonce'> & { eventId: string }

/** Announces check-ins to those who watch it, once they are committed. */
export const announceCheckIns = (tx: Connection, made: MadeAtEvent[]): void =>
  announceOnCommit(
    tx,
    'check-ins',
    made.map(({ eventId, integrationId, nonce }) => JSON.stringify([eventId, integrationId, nonce])),
  )

// Names come from outside of this process.
function readName(name: string): string[] {
  try {
    const read: unknown = JSON.parse(name)
    return Array.isArray(read) ? read.map(String) : []
  } catch {
    return []
  }
}

// A reader that is further behind reads from the table.
const maxKept = 1_000
const keptMs = 60_000

/** Check-ins of an event in the order in which this process heard of them. */
class CheckInLog {
  readonly event: WatchedEvent
  readonly wakers = new Set<() => void>()
  /** Time up to which the table was read. */
  lookedAt: Date
  #kept: LoggedCheckIn[] = []
  #first = 0
  readonly #known = new Map<string, number>()

  constructor(event: WatchedEvent, since: Date) {
    this.event = event
    this.lookedAt = since
  }

  /** Number that the next check-in gets. */
  get end(): number {
    return this.#first + this.#kept.length
  }

  /** Returns a check-in by its number: undefined if there is none yet, null if it is not kept any more. */
  at(number: number): LoggedCheckIn | null | undefined {
    return number < this.#first ? null : this.#kept[number - this.#first]
  }

  /** Marks check-ins as known, and appends those that were not. */
  add(found: LoggedCheckIn[], { isOld = false } = {}): void {
    const fresh = found.filter((checkIn) => !this.#known.has(keyOf(checkIn)))
    for (const checkIn of fresh) this.#known.set(keyOf(checkIn), checkIn.createdAt.getTime())
    if (isOld || fresh.length === 0) return
    this.#kept.push(...fresh)
    const dropped = Math.max(0, this.#kept.length - maxKept)
    this.#kept.splice(0, dropped)
    this.#first += dropped
    for (const wake of this.wakers) wake()
  }

  /** Forgets keys that no look can find again. */
  prune(): void {
    for (const [key, createdAt] of this.#known)
      if (createdAt < this.lookedAt.getTime() - keptMs) this.#known.delete(key)
  }
}

const lookEveryMs = 1_000
// Looks between two readings of the table while every process is heard, for those that died before telling.
const quietLooks = 10

/** Logs of the events whose check-ins somebody in this process watches. */
class CheckInLogs {
  readonly #db: Database
  readonly #logs = new Map<string, Promise<CheckInLog>>()
  #stops: (() => void)[] = []
  #looks = 0

  constructor(db: Database) {
    this.#db = db
  }

  /** Returns the log of an event, from `now` on for the first one who asks. */
  async open(event: WatchedEvent, now: Date, wake: () => void): Promise<CheckInLog> {
    if (this.#logs.size === 0) this.#start()
    const found = this.#logs.get(event.id) ?? this.#create(event, now)
    this.#logs.set(event.id, found)
    const log = await found
    log.wakers.add(wake)
    // Others may have closed it meanwhile.
    if (this.#logs.get(event.id) !== found) this.#logs.set(event.id, found)
    return log
  }

  close(log: CheckInLog, wake: () => void): void {
    log.wakers.delete(wake)
    if (log.wakers.size > 0) return
    this.#logs.delete(log.event.id)
    if (this.#logs.size === 0) for (const stop of this.#stops.splice(0)) stop()
  }

  async #create(event: WatchedEvent, now: Date): Promise<CheckInLog> {
    const log = new CheckInLog(event, now)
    try {
      await this.#read(log, { isOld: true })
      return log
    } catch (error) {
      this.#logs.delete(event.id)
      throw error
    }
  }

  #start(): void {
    for (const stop of this.#stops.splice(0)) stop()
    const timer = setInterval(() => this.#look(), lookEveryMs).unref()
    this.#stops = [() => clearInterval(timer), listenTo(this.#db, (announced) => this.#hear(announced))]
  }

  #look(): void {
    this.#looks = (this.#looks + 1) % quietLooks
    if (this.#looks === 0 || !hearsAll(this.#db)) this.#readAll()
  }

  // A database that is away is looked at again in a second.
  #readAll(): void {
    for (const opened of this.#logs.values())
      opened
        .then((log) => this.#read(log))
        .catch(() => {
          this.#looks = -1
        })
  }

  async #read(log: CheckInLog, options?: { isOld: boolean }): Promise<void> {
    let place = placeBefore(log.lookedAt)
    for (;;) {
      const found = await readCheckIns(this.#db, log.event, place)
      log.add(found, options)
      const last = found.at(-1)
      if (last && last.createdAt > log.lookedAt) log.lookedAt = last.createdAt
      if (!last || found.length < pageSize) break
      place = last
    }
    log.prune()
  }

  #hear({ topic, names }: Announcement): void {
    if (topic !== 'check-ins') return
    const heard = names?.map(readName).filter(([eventId = '']) => this.#logs.has(eventId))
    if (!heard) this.#readAll()
    else if (heard.length > 0) void this.#readAnnounced(heard)
  }

  async #readAnnounced(heard: string[][]): Promise<void> {
    const logs = await Promise.all(heard.map(([eventId = '']) => this.#logs.get(eventId)))
    const named = heard.flatMap(([, integrationId = '', nonce = ''], index) => {
      const organizationId = logs[index]?.event.organizationId
      return organizationId === undefined ? [] : [{ organizationId, integrationId, nonce }]
    })
    for (const [organizationId, names] of groupBy(named, ({ organizationId }) => organizationId)) {
      const found = await readNamedCheckIns(this.#db, organizationId, names).catch(() => {
        this.#looks = -1
        return []
      })
      for (const checkIn of found) (await this.#logs.get(checkIn.eventId))?.add([checkIn])
    }
  }
}

/** The logs of a database in this process. */
export const checkInLogs = perDatabase((db) => new CheckInLogs(db))
