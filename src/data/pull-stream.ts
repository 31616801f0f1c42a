/** Takes the next value; undefined if there is none yet. Throws to end the stream. */
type Take<Value> = () => Promise<Value | undefined> | Value | undefined

/** Stream of values that are taken when a reader asks for them, and never buffered: a slow reader takes late
 *  what is current then. */
export class PullStream<Value> implements AsyncIterableIterator<Value> {
  readonly #take: Take<Value>
  readonly #onEnd: () => void
  #isOver = false
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
    while (!this.#isOver) {
      this.#isWoken = false
      const value = await this.#take()
      if (this.#isOver) break
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
    if (!this.#isOver) {
      this.#isOver = true
      this.#onEnd()
      this.wake()
    }
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

/** Makes reads that readers of streams share: those who ask by one key before its read begins get the same one. `run`
 *  says when a read begins. */
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
