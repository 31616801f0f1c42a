import { json } from '../../json/json-writer.ts'

export type Variables = Record<string, unknown>

export const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

// In their order; those of what is still to come stand where they belong.
type Pieces = (Buffer | Pieces)[]

const flat = (pieces: Pieces): Buffer[] =>
  pieces.flatMap((piece) => (Array.isArray(piece) ? flat(piece) : piece))

/** One execution of an operation, and the bytes of its answer. */
export class Run {
  readonly context: unknown
  readonly variables: Variables
  readonly #pieces: Pieces = []
  #current: Pieces = this.#pieces
  readonly #waiting: Promise<void>[] = []
  readonly #failures: unknown[] = []

  constructor(context: unknown, variables: Variables) {
    this.context = context
    this.variables = variables
  }

  /** Writes behind what is written. What fails is thrown by `settle`. */
  write(write: () => void): void {
    this.#into(this.#pieces, write)
  }

  /** Leaves a place for what is promised, and lets it be written there once it is known. */
  later<Value>(promise: Promise<Value>, write: (value: Value) => void): void {
    const pieces: Pieces = []
    this.#current.push(json.take(), pieces)
    // Its failure is taken at once: what begins while others are waited for may fail before they are done, and a
    // rejection that nobody handles by then would end the process.
    this.#waiting.push(
      promise.then(
        (value) => this.#into(pieces, () => write(value)),
        (error: unknown) => void this.#failures.push(error),
      ),
    )
  }

  #into(pieces: Pieces, write: () => void): void {
    this.#current = pieces
    json.start()
    try {
      write()
      this.#current.push(json.take())
    } catch (error) {
      this.#failures.push(error)
    }
  }

  /** Until nothing that was promised leads to another promise. All of them, even where one fails, so that none is left
   *  alone; then throws the first failure. */
  async settle(): Promise<void> {
    while (this.#waiting.length > 0) await Promise.all(this.#waiting.splice(0))
    if (this.#failures.length > 0) throw this.#failures[0]
  }

  /** What was written, all of it settled. */
  bytes(): Buffer {
    const [only, ...others] = flat(this.#pieces).filter(({ length }) => length > 0)
    return only && others.length === 0 ? only : Buffer.concat([...(only ? [only] : []), ...others])
  }
}
