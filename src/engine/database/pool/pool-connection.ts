import { connect, type Socket } from 'node:net'
import { LRUCache } from 'lru-cache'
import postgres from 'postgres'
import { perInstance } from '../../base/make-once.ts'
import { connectionError, isConnectionFailure, isOfOtherServer } from './failures.ts'
import type { FindHost } from './find-host.ts'

/** Arguments of the driver's `unsafe`, as Drizzle passes them. */
export type Statement = Parameters<postgres.Sql['unsafe']>
type Settings = postgres.Sql['options']

/** Runs a statement. `isRaw` returns rows as arrays of values. Its timeout starts at `since`; now by
 *  default. */
export type Run = (statement: Statement, isRaw: boolean, since?: number) => Promise<unknown>

// Number of statements after which a session plans anew what it has prepared, and again after twice as many. A plan that
// was made while a table was empty reads all of it, and nothing but an analysis tells the session that it has grown.
const firstReplan = 32

// OID of text[].
const textArray = 1009

// A session keeps what it has prepared until it ends, tens of kilobytes each, and clients choose among thousands of
// statements (DECISIONS 205). So only what is used again is prepared, and a connection that has prepared this many is
// replaced: the service's own statements are some hundred.
const usesToPrepare = 5
const maxPrepared = 300

// Uses of texts before they are prepared, by the settings that all connections of a pool share.
const usesOf = perInstance((_: Settings) => new LRUCache<string, number>({ max: 500 }))

const lost = () => connectionError('the connection to the database is closed', 'CONNECTION_CLOSED')

type PoolConnectionOptions = {
  /** Settings shared by all connections of a pool, including the types that the first one fetches. */
  settings: Settings
  findHost: FindHost
  /** Called after each answer, and once when the connection is over. */
  onChange(connection: PoolConnection, error?: unknown): void
}

/** One connection to PostgreSQL, from connecting to closing. Each is a driver client of its own and is never
 *  reconnected: the driver (3.4.9) reuses a closed connection, and then either writes a ROLLBACK to a missing
 *  socket, which ends the process, or never flushes what it writes, which hangs. */
export class PoolConnection {
  /** True once the database has accepted the connection. */
  isOpen = false
  /** True once the connection has ended, for whatever reason. */
  isOver = false
  /** True while a transaction has exclusive use of it. */
  isReserved = false
  /** True if it accepts no more statements and ends once it is idle. */
  isRetiring = false
  readonly createdAt = performance.now()
  readonly #client: postgres.Sql
  readonly #options: PoolConnectionOptions
  /** Statements without an answer yet, in the order in which they will be answered. */
  readonly #unanswered: { since: number; reject(error: unknown): void }[] = []
  readonly #prepared = new Set<string>()
  #socket: Socket | null = null
  #executed = 0
  #replanAt = firstReplan

  constructor(options: PoolConnectionOptions) {
    this.#options = options
    const { settings } = options
    const clientSettings = {
      ...settings,
      host: settings.host.slice(0, 1),
      port: settings.port.slice(0, 1),
      max: 1,
      // Types are shared through the settings, so only the first connection fetches them.
      fetch_types: !(textArray in settings.serializers),
      socket: () => this.#connect(),
      onclose: () => this.end(),
    }
    this.#client = postgres(clientSettings as object)
  }

  /** Number of statements without an answer. */
  get load(): number {
    return this.#unanswered.length
  }

  /** Start of the oldest statement without an answer. */
  get waitsSince(): number {
    return this.#unanswered[0]?.since ?? Number.POSITIVE_INFINITY
  }

  readonly execute: Run = ([text, parameters, options], isRaw, since = performance.now()) => {
    if (this.isOver) return Promise.reject(lost())
    // Behind a pooler nothing is prepared, and two statements in the pipeline would be one too many.
    if (this.#options.settings.prepare && ++this.#executed === this.#replanAt) this.#replan()
    const prepare = options?.prepare === true && this.#prepares(text)
    const query = this.#client.unsafe(text, parameters, { ...options, prepare })
    const answer: Promise<unknown> = isRaw ? query.values() : query
    return new Promise((resolve, reject) => {
      this.#unanswered.push({ since, reject })
      answer.then(
        (rows) => {
          resolve(rows)
          this.#afterAnswer()
        },
        (error: unknown) => {
          reject(error)
          this.#afterAnswer(error)
        },
      )
    })
  }

  #replan(): void {
    this.#replanAt = this.#executed * 2
    this.execute(['discard plans', [], {}], false).catch(() => {})
  }

  /** Accepts no more statements, and ends after those that are running. */
  retire(): void {
    this.isRetiring = true
    if (this.load === 0 && !this.isReserved) this.end()
  }

  /** Ends the connection at once, and rejects all statements without an answer. */
  end(error: unknown = lost()): void {
    if (this.isOver) return
    this.isOver = true
    // The driver writes a terminate message, and over TLS throws an unhandled error if the socket is gone by
    // then. So the socket is destroyed afterwards, not closed: a silent peer would never confirm.
    const destroy = () => this.#socket?.destroy()
    this.#client.end({ timeout: 0 }).then(destroy, destroy)
    // Rejected here, because the driver drops statements that it has not written yet without an error.
    for (const { reject } of this.#unanswered.splice(0)) reject(error)
    this.#options.onChange(this, error)
  }

  /** Closes the connection gracefully. Statements still running after a second are rejected. */
  async close(): Promise<void> {
    this.isOver = true
    await this.#client.end({ timeout: 1 })
    this.#socket?.destroy()
    for (const { reject } of this.#unanswered.splice(0)) reject(lost())
  }

  #prepares(text: string): boolean {
    const { settings } = this.#options
    if (this.#prepared.has(text) || !settings.prepare) return true
    const uses = usesOf(settings)
    const count = (uses.get(text) ?? 0) + 1
    uses.set(text, count)
    if (count < usesToPrepare) return false
    this.#prepared.add(text)
    if (this.#prepared.size === maxPrepared) this.isRetiring = true
    return true
  }

  async #connect(): Promise<Socket> {
    // The driver calls this again if a connection is closed before the database accepts it.
    if (this.#socket || this.isOver) throw this.#fail(lost())
    try {
      const { host, port, path } = await this.#options.findHost()
      if (this.isOver) throw lost()
      this.#socket = path ? connect(path) : connect(port, host)
      // The driver verifies the certificate against this host name.
      return Object.assign(this.#socket, { host })
    } catch (error) {
      throw this.#fail(error)
    }
  }

  // Ends the connection here, because without a socket the driver never calls `onclose`.
  #fail(error: unknown): unknown {
    setImmediate(() => this.end(error))
    return error
  }

  #afterAnswer(error?: unknown): void {
    if (this.isOver) return
    this.#unanswered.shift()
    const isFailure = error !== undefined && isConnectionFailure(error) && !isOfOtherServer(error)
    if (!isFailure) this.isOpen = true
    if (isFailure) this.end(error)
    else if (this.isRetiring && this.load === 0 && !this.isReserved) this.end()
    else this.#options.onChange(this, error)
  }
}
