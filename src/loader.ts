import DataLoader from 'dataloader'

/** A value, or the promise of one. */
export type Maybe<Value> = Value | Promise<Value>

/** What `use` makes of a value: at once where the value is there. */
export const whenKnown = <Value, Result>(
  value: Maybe<Value>,
  use: (value: Value) => Result,
): Maybe<Result> => (value instanceof Promise ? value.then(use) : use(value))

type Entry<Value> = { promise: Promise<Value>; value?: Value }

class Entries<Value> {
  readonly #entries = new Map<string, Entry<Value>>()
  get(key: string): Promise<Value> | undefined {
    return this.#entries.get(key)?.promise
  }
  known(key: string): Value | undefined {
    return this.#entries.get(key)?.value
  }
  set(key: string, promise: Promise<Value>): void {
    const entry: Entry<Value> = { promise }
    this.#entries.set(key, entry)
    promise.then(
      (value) => {
        entry.value = value
      },
      () => {},
    )
  }
  delete(key: string): void {
    this.#entries.delete(key)
  }
  clear(): void {
    this.#entries.clear()
  }
}

/** A DataLoader that gives what it has loaded at once: a page of thousands of children is answered without a promise for
 *  each. */
export class Loader<Value> extends DataLoader<string, Value> {
  readonly #entries: Entries<Value>
  constructor(load: (keys: readonly string[]) => Promise<Value[]>) {
    const entries = new Entries<Value>()
    super(load, { cacheMap: entries })
    this.#entries = entries
  }

  /** The value of a key: itself where it is loaded, else its promise. */
  get(key: string): Maybe<Value> {
    const known = this.#entries.known(key)
    return known === undefined ? this.load(key) : known
  }

  /** The values of keys, in their order. */
  loadAll(keys: readonly string[]): Promise<Value[]> {
    return Promise.all(keys.map((key) => this.load(key)))
  }
}
