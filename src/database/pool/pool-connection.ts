import { connect, type Socket } from 'node:net'
import postgres from 'postgres'
import { isConnectionFailure } from '../database.ts'
import type { FindHost } from './find-host.ts'

/** The parameters of `unsafe`, as Drizzle gives them. */
export type Asked = Parameters<postgres.Sql['unsafe']>
type Settings = postgres.Sql['options']

/** Runs a statement; `isRaw` asks for rows as lists of values. `since` is when it was asked for, where that is a while
 *  ago. */
export type Run = (asked: Asked, isRaw: boolean, since?: number) => Promise<unknown>

const textArray = 1009

/** An error with a code, as the driver has them. */
export const connectionError = (message: string, code: string) => Object.assign(new Error(message), { code })

const lost = () => connectionError('the connection to the database is closed', 'CONNECTION_CLOSED')

export type PoolConnectionOptions = {
  /** Settings that all connections of a pool share, and with them what is known of the types of the database. */
  settings: Settings
  findHost: FindHost
  /** Called after each answer, and once when the connection is over. */
  onChange(connection: PoolConnection, error?: unknown): void
}

/** One connection to PostgreSQL from its making to its end. The driver (3.4.9) would use it again after it was closed,
 *  and then writes a ROLLBACK to no socket, which ends the process, or never flushes what it writes, which hangs. So it
 *  is a client of its own, and one that is over is replaced. */
export class PoolConnection {
  /** Whether the database has let it in. */
  isOpen = false
  isOver = false
  /** Whether a transaction has it for itself. */
  isReserved = false
  /** Whether it takes no more statements, and ends once it is idle. */
  isRetiring = false
  readonly madeAt = performance.now()
  readonly #client: postgres.Sql
  readonly #options: PoolConnectionOptions
  /** Statements that have no answer yet: they are answered in this order. */
  readonly #unanswered: { since: number; reject(error: unknown): void }[] = []
  #socket: Socket | null = null

  constructor(options: PoolConnectionOptions) {
    this.#options = options
    const { settings } = options
    const own = {
      ...settings,
      host: settings.host.slice(0, 1),
      port: settings.port.slice(0, 1),
      max: 1,
      // Parsers and serializers are shared, so only the first needs to ask.
      fetch_types: !(textArray in settings.serializers),
      socket: () => this.#connect(),
      onclose: () => this.end(),
    }
    this.#client = postgres(own as object)
  }

  /** How many statements have no answer yet. */
  get load(): number {
    return this.#unanswered.length
  }

  /** When the oldest statement without an answer was asked for. */
  get waitsSince(): number {
    return this.#unanswered[0]?.since ?? Number.POSITIVE_INFINITY
  }

  readonly execute: Run = ([text, parameters, options], isRaw, since = performance.now()) => {
    if (this.isOver) return Promise.reject(lost())
    const query = this.#client.unsafe(text, parameters, options)
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

  /** Takes no more statements, and ends after those that it has. */
  retire(): void {
    this.isRetiring = true
    if (this.load === 0 && !this.isReserved) this.end()
  }

  /** Gives the connection up: whoever waits for an answer is rejected. */
  end(error: unknown = lost()): void {
    if (this.isOver) return
    this.isOver = true
    // The driver writes a last word, for which the socket below its TLS must still be there: else that is an error that
    // nobody hears of. A connection that went silent would never be told of an end that waits for the other side.
    const destroy = () => this.#socket?.destroy()
    this.#client.end({ timeout: 0 }).then(destroy, destroy)
    // The driver forgets those that it has not yet written.
    for (const { reject } of this.#unanswered.splice(0)) reject(error)
    this.#options.onChange(this, error)
  }

  /** Ends with a word to the database, and takes no more statements. */
  async close(): Promise<void> {
    this.isOver = true
    await this.#client.end({ timeout: 1 })
    this.#socket?.destroy()
    for (const { reject } of this.#unanswered.splice(0)) reject(lost())
  }

  async #connect(): Promise<Socket> {
    // The driver asks again where a connection was closed before it was let in.
    if (this.#socket || this.isOver) throw this.#failed(lost())
    try {
      const { host, port, path } = await this.#options.findHost()
      if (this.isOver) throw lost()
      this.#socket = path ? connect(path) : connect(port, host)
      // The driver takes the name that a certificate must have from here.
      return Object.assign(this.#socket, { host })
    } catch (error) {
      throw this.#failed(error)
    }
  }

  // Without a socket the driver never tells that the connection is over.
  #failed(error: unknown): unknown {
    setImmediate(() => this.end(error))
    return error
  }

  #afterAnswer(error?: unknown): void {
    if (this.isOver) return
    this.#unanswered.shift()
    const isFailure = error !== undefined && isConnectionFailure(error)
    if (!isFailure) this.isOpen = true
    if (isFailure) this.end(error)
    else if (this.isRetiring && this.load === 0 && !this.isReserved) this.end()
    else this.#options.onChange(this, error)
  }
}
