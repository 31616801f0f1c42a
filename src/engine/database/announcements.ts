import { randomUUID } from 'node:crypto'
import { tryParse } from '../base/parse.ts'
import { repeat } from '../base/timers.ts'
import { type Database, perDatabase } from './database.ts'

/** Way to the other processes that share a database. */
export type AnnouncementLink = {
  /** True while this process hears every announcement of the others. */
  readonly isConnected: boolean
  /** Connects, unless that was called before. */
  open(): void
  /** Sends a message to all other processes, or drops it if the link is down. */
  send(message: string): void
  close(): Promise<void>
}

/** Told the names of rows that may have changed, and their kind, the topic; null for any. */
type Listener = (topic: string | null, names: Set<string> | null) => void

// Announcements of this time travel together. They are hints, which nothing waits for: a listener that misses
// one finds the change by its next look.
const gatherMs = 50
// More names than this are announced as «any of the topic», and so are, to other processes, names that one
// message can't hold: PostgreSQL refuses payloads of 8,000 bytes.
const maxNames = 1_000
const maxMessageBytes = 7_900

/** Announcements of one database in this process. */
export class Announcements {
  readonly #origin = randomUUID().slice(0, 8)
  readonly #listeners = new Set<Listener>()
  readonly #gathered = new Map<string, Set<string> | null>()
  #timer: NodeJS.Timeout | null = null
  /** Link to the other processes that share the database; it passes on what it receives. */
  link: AnnouncementLink | null = null

  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    this.link?.open()
    return () => this.#listeners.delete(listener)
  }

  add(topic: string, names: Iterable<string> | null): void {
    if (this.#listeners.size === 0 && !this.link) return
    const known = this.#gathered.get(topic)
    if (known === null) return
    const gathered = names === null ? null : (known ?? new Set<string>())
    for (const name of names ?? []) gathered?.add(name)
    this.#gathered.set(topic, gathered && gathered.size > maxNames ? null : gathered)
    this.#timer ??= setTimeout(() => this.#flush(), gatherMs).unref()
  }

  #flush(): void {
    this.#timer = null
    const gathered = [...this.#gathered]
    this.#gathered.clear()
    for (const [topic, names] of gathered) {
      this.deliver(topic, names)
      this.link?.send(this.#messageAbout(topic, names))
    }
  }

  #messageAbout(topic: string, names: Set<string> | null): string {
    const message = JSON.stringify([this.#origin, topic, names && [...names]])
    return Buffer.byteLength(message) > maxMessageBytes ? this.#messageAbout(topic, null) : message
  }

  deliver(topic: string | null, names: Set<string> | null): void {
    for (const listener of this.#listeners) listener(topic, names)
  }

  /** Delivers a message of another process. Ignores our own, and whatever is none. */
  receive(message: string): void {
    const read: unknown = tryParse(() => JSON.parse(message))
    const [origin, topic, names]: unknown[] = Array.isArray(read) ? read : []
    if (typeof topic !== 'string' || origin === this.#origin) return
    this.deliver(topic, Array.isArray(names) ? new Set(names.map(String)) : null)
  }

  /** Delivers «anything may have changed» of every topic, for a link that is up again. */
  deliverAny(): void {
    this.deliver(null, null)
  }
}

/** Announcements of a database, for whoever gives it a link. */
export const announcementsOf = perDatabase(() => new Announcements())

/** Announces rows that a committed statement has changed, or null for any of the topic. Inside of a
 *  transaction use `announceOnCommit` of transaction.ts. */
export const announce = (db: Database, topic: string, names: Iterable<string> | null): void =>
  announcementsOf(db).add(topic, names)

const lookEveryMs = 1_000

/** Somebody who watches rows: the names that they are announced by, and what to do when they may have changed. */
export type Watcher = { readonly names: readonly string[]; wake(): void }

type Looks = {
  /** Number of looks after which every watcher is woken, whatever was announced. Each look does while the link to other processes is down. */
  untilAll: number
  /** Called each second, or a second after it ended. What fails is done again by the next one. */
  look?(): Promise<void>
}

/** Makes the list of those in this process who watch rows of a topic. Each is woken when any process, this one included,
 *  announces one of its names, some 50 ms after the commit. Announcements may be lost, and may come without a change: they
 *  are a reason to look. Listens as long as somebody watches. */
export function watchTopic<Who extends Watcher>(db: Database, topic: string, { untilAll, look }: Looks) {
  const watchers = new Set<Who>()
  let stop: (() => void) | null = null
  let looks = 0

  function wake(names: Set<string> | null): void {
    for (const watcher of watchers)
      if (names === null || watcher.names.some((name) => names.has(name))) watcher.wake()
  }

  async function lookAgain(): Promise<void> {
    looks = (looks + 1) % untilAll
    if (looks === 0 || announcementsOf(db).link?.isConnected === false) wake(null)
    await look?.()
  }

  function listen(): () => void {
    const stopLooking = repeat(lookAgain, { pauseMs: lookEveryMs }, () => {})
    const ignore = announcementsOf(db).listen((announced, names) => {
      if (announced === topic || announced === null) wake(names)
    })
    return () => {
      void stopLooking()
      ignore()
    }
  }

  return {
    watchers,
    /** Adds a watcher, for as long as the returned function isn't called. */
    add(watcher: Who): () => void {
      watchers.add(watcher)
      stop ??= listen()
      return () => {
        watchers.delete(watcher)
        if (watchers.size > 0) return
        stop?.()
        stop = null
      }
    },
  }
}
