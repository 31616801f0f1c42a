import { json } from '../../json/json-writer.ts'

export type Variables = Record<string, unknown>

export const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

// In response order. A nested list is the place of a deferred value.
type Pieces = (Buffer | Pieces)[]

const flatten = (pieces: Pieces): Buffer[] =>
  pieces.flatMap((piece) => (Array.isArray(piece) ? flatten(piece) : piece))

/** Response of one execution: its bytes, and the context and variables that resolvers are called with. */
export class ResponseBuffer {
  readonly context: unknown
  readonly variables: Variables
  readonly #pieces: Pieces = []
  #current: Pieces = this.#pieces
  readonly #pending: Promise<void>[] = []
  readonly #failures: unknown[] = []

  constructor(context: unknown, variables: Variables) {
    this.context = context
    this.variables = variables
  }

  /** Appends to the response, or writes at a place in it. An error in `write` is thrown by `settle`. */
  write(write: () => void, pieces = this.#pieces): void {
    this.#current = pieces
    json.start()
    try {
      write()
      this.#current.push(json.take())
    } catch (error) {
      this.#failures.push(error)
    }
  }

  /** Reserves the current place for a promised value, and writes it there once the promise resolves. */
  defer<Value>(promise: Promise<Value>, write: (value: Value) => void): void {
    const pieces: Pieces = []
    this.#current.push(json.take(), pieces)
    // The rejection handler is attached at once: a promise may fail while others are awaited, and an
    // unhandled rejection would end the process.
    this.#pending.push(
      promise.then(
        (value) => this.write(() => write(value), pieces),
        (error: unknown) => void this.#failures.push(error),
      ),
    )
  }

  /** Waits until no deferred value is pending, including those that deferred values add. Waits for all of
   *  them even if one fails, then throws the first failure. */
  async settle(): Promise<void> {
    while (this.#pending.length > 0) await Promise.all(this.#pending.splice(0))
    if (this.#failures.length > 0) throw this.#failures[0]
  }

  /** Bytes of the response. Call it after `settle`. */
  bytes(): Buffer {
    const pieces = flatten(this.#pieces)
    const [only, ...others] = pieces
    return only && others.length === 0 ? only : Buffer.concat(pieces)
  }
}
