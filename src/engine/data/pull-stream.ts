import { setTimeout } from 'node:timers/promises'
import { isUnavailable } from '../database/database.ts'

/** Takes the next value; undefined if there is none yet. Throws to end the stream. */
type Take<Value> = () => Promise<Value | undefined> | Value | undefined

/** Stream of values that are taken when a reader asks for them, and never buffered: a slow reader takes late
 *  what is current then. */
export class PullStream<Value> implements AsyncIterableIterator<Value> {
  /** Identifier of the event that it starts behind, if events have identifiers. */
  startId?: string
  readonly #take: Take<Value>
  readonly #onEnd: () => void
  /** True once it has ended. */
  isOver = false
  #wakeUp: (() => void) | null = null
  #isWoken = false

  /** `onEnd` is called once. */
  constructor(take: Take<Value>, onEnd: () => void) {
    this.#take = take
    this.#onEnd = onEnd
  }

  /** Makes a reader that waits try again. */
  wake(): void {
    this.#isWoken = true
    this.#wakeUp?.()
  }

  async next(): Promise<IteratorResult<Value>> {
    while (!this.isOver) {
      this.#isWoken = false
      const value = await this.#take()
      if (this.isOver) break
      if (value !== undefined) return { done: false, value }
      if (!this.#isWoken)
        await new Promise<void>((resolve) => {
          this.#wakeUp = resolve
        })
      this.#wakeUp = null
    }
    return { done: true, value: undefined }
  }

  /** Ends the stream, also for a reader that waits. */
  async return(): Promise<IteratorResult<Value>> {
    if (!this.isOver) {
      this.isOver = true
      this.#onEnd()
      this.wake()
    }
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

/** Rows that grow, page by page. */
type Pages<Row> = {
  /** Reads the next page, and whether another one follows at once. */
  readPage(): Promise<{ rows: Row[]; hasMore: boolean }>
  /** Watches for new rows: calls `wake` when there may be some, until the returned function is called. */
  watch(wake: () => void): () => void
  /** Rows that were read before. */
  rows?: Row[]
  /** False if there are no new rows until it is woken. */
  isNew?: boolean
}

// Pause before a database that is out of reach is read again.
const retryMs = 1_000

/** Streams rows up to the end of a table, and then those that are added. A page is read once the reader has taken the
 *  rows of the one before. */
export function streamPages<Row>({ readPage, watch, rows = [], isNew = true }: Pages<Row>): PullStream<Row> {
  let page = [...rows]
  let hasMore = false

  async function readNext(): Promise<void> {
    // While pages follow, `isNew` stays: rows may be added behind those that were read, and another pass finds them.
    if (!hasMore) isNew = false
    try {
      const next = await readPage()
      page = [...next.rows]
      hasMore = next.hasMore
    } catch (error) {
      if (!isUnavailable(error)) throw error
      isNew = true
      await setTimeout(retryMs, undefined, { ref: false })
    }
  }

  const stream = new PullStream<Row>(
    async () => {
      while (page.length === 0 && (hasMore || isNew) && !stream.isOver) await readNext()
      return page.shift()
    },
    () => stop(),
  )
  const stop = watch(() => {
    isNew = true
    stream.wake()
  })
  return stream
}

/** Makes reads that readers of streams share: those who ask by one key before its read begins get the same one, where
 *  `joinReads` joins different keys. `run` says when a read begins. */
export function sharedReads<Row>(
  run: (read: () => Promise<Row[]>) => Promise<Row[]>,
): (key: string, read: () => Promise<Row[]>) => Promise<Row[]> {
  const waiting = new Map<string, Promise<Row[]>>()
  return (key, read) => {
    const joined = waiting.get(key)
    if (joined) return joined
    const reading = run(() => {
      waiting.delete(key)
      return read()
    })
    waiting.set(key, reading)
    return reading
  }
}
