import { randomUUID } from 'node:crypto'
import type { Database } from './database.ts'
import { perDatabase } from './per-database.ts'

/** Kinds of rows whose changes processes announce to each other. */
const topics = ['stock', 'changes', 'check-ins'] as const
export type Topic = (typeof topics)[number]

/** Names of rows that may have changed; null for any of the topic. */
type Announcement = { topic: Topic; names: string[] | null }

/** Way to the other processes that share a database. */
export type AnnouncementLink = {
  /** True while this process hears every announcement of the others. */
  readonly isConnected: boolean
  /** Connects, unless that was called before. */
  open(): void
  /** Sends a message to all other processes, or drops it if the link is down. */
  send(message: string): void
}

type Listener = (announcement: Announcement) => void

// Announcements of this time travel together. They are hints, which no sale waits for: a listener that misses
// one finds the change by its next look.
const gatherMs = 50
// More names than this are announced as «any of the topic».
const maxNames = 1_000
// PostgreSQL refuses payloads of 8,000 bytes.
const maxMessageBytes = 7_900

/** Announcements of one database in this process. */
class Announcements {
  readonly #origin = randomUUID().slice(0, 8)
  readonly #listeners = new Set<Listener>()
  readonly #gathered = new Map<Topic, Set<string> | null>()
  #timer: NodeJS.Timeout | null = null
  link: AnnouncementLink | null = null

  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    this.link?.open()
    return () => this.#listeners.delete(listener)
  }

  add(topic: Topic, names: Iterable<string> | null): void {
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
      this.deliver({ topic, names: names && [...names] })
      for (const message of messagesOf(this.#origin, topic, names)) this.link?.send(message)
    }
  }

  deliver(announcement: Announcement): void {
    for (const listener of this.#listeners) listener(announcement)
  }

  /** Delivers a message of another process. Ignores our own, and whatever is none. */
  receive(message: string): void {
    const [origin, topic, names] = readMessage(message)
    const known = topics.find((name) => name === topic)
    if (!known || origin === this.#origin) return
    this.deliver({ topic: known, names: Array.isArray(names) ? names.map(String) : null })
  }

  /** Tells listeners that anything may have changed: after a time in which nothing was heard. */
  assumeEverything(): void {
    for (const topic of topics) this.deliver({ topic, names: null })
  }
}

function readMessage(message: string): unknown[] {
  try {
    const read: unknown = JSON.parse(message)
    return Array.isArray(read) ? read : []
  } catch {
    return []
  }
}

/** Writes messages about these names, as few as fit. */
export function messagesOf(origin: string, topic: Topic, names: Iterable<string> | null): string[] {
  const write = (part: string[] | null) => JSON.stringify([origin, topic, part])
  if (names === null) return [write(null)]
  const parts: string[][] = [[]]
  let bytes = Buffer.byteLength(write([]))
  const empty = bytes
  for (const name of names) {
    const more = Buffer.byteLength(JSON.stringify(name)) + 1
    // A name that fits nowhere stands for any.
    if (empty + more > maxMessageBytes) return [write(null)]
    if (bytes + more > maxMessageBytes) {
      parts.push([])
      bytes = empty
    }
    parts.at(-1)?.push(name)
    bytes += more
  }
  return parts.map(write)
}

const announcementsOf = perDatabase(() => new Announcements())

/** Announces rows that a committed statement has changed, or null for any of the topic. Inside of a
 *  transaction use `announceOnCommit` of transaction.ts. */
export const announce = (db: Database, topic: Topic, names: Iterable<string> | null): void =>
  announcementsOf(db).add(topic, names)

const lookEveryMs = 1_000

/** Calls `hear` with what all processes announce of a topic, this one included, some 50 ms after the commit, and
 *  `look` each second. Announcements may be lost, and may come without a change: take them as a reason to look. The
 *  returned function ends it. */
export function watchTopic(
  db: Database,
  topic: Topic,
  { hear, look }: { hear(names: string[] | null): void; look(): void },
): () => void {
  const timer = setInterval(look, lookEveryMs).unref()
  const stop = announcementsOf(db).listen((announced) => {
    if (announced.topic === topic) hear(announced.names)
  })
  return () => {
    clearInterval(timer)
    stop()
  }
}

/** Reports whether every process that writes to the database is heard. True without a link, for a database
 *  that belongs to this process. */
export const hearsAll = (db: Database): boolean => announcementsOf(db).link?.isConnected ?? true

/** Connects a database to the other processes that share it. The link passes on what it receives. */
export function linkAnnouncements(db: Database, link: AnnouncementLink): void {
  announcementsOf(db).link = link
}

/** Delivers a message that the link has received. */
export const receiveAnnouncement = (db: Database, message: string): void =>
  announcementsOf(db).receive(message)

/** Delivers «anything may have changed», for a link that is up again. */
export const assumeEverything = (db: Database): void => announcementsOf(db).assumeEverything()
