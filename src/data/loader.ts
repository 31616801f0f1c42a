import DataLoader from 'dataloader'

/** A value, or a promise of it. */
export type PromiseOrValue<Value> = Value | Promise<Value>

/** Applies `use` to a value: synchronously if the value is known, else once its promise resolves. */
export const whenKnown = <Value, Result>(
  value: PromiseOrValue<Value>,
  use: (value: Value) => PromiseOrValue<Result>,
): PromiseOrValue<Result> => (value instanceof Promise ? value.then(use) : use(value))

/** Cache entry of a key. `value` is set once `loading` has resolved. */
type Entry<Value> = { value?: Value; loading: Promise<unknown> }

const loaded = Promise.resolve()

// The cache map of a DataLoader, which normally holds promises. This one holds values, and creates a promise
// only on request.
class Entries<Value> {
  readonly #entries = new Map<string, Entry<Value>>()

  entry(key: string): Entry<Value> | undefined {
    return this.#entries.get(key)
  }

  /** Adds keys whose values are loaded together, in the same order. */
  add(keys: readonly string[], values: Promise<readonly Value[]>): void {
    const entries: Entry<Value>[] = []
    const loading = values.then((values) => {
      for (const [index, entry] of entries.entries()) entry.value = values[index]
    })
    for (const key of keys) {
      const entry = { loading }
      entries.push(entry)
      this.#entries.set(key, entry)
    }
    // A failed load is not cached: the next request for the key tries again.
    loading.catch(() => {
      for (const [index, key] of keys.entries())
        if (this.#entries.get(key) === entries[index]) this.#entries.delete(key)
    })
  }

  /** Adds a known value, unless the key has an entry. */
  fill(key: string, value: Value): void {
    if (!this.#entries.has(key)) this.#entries.set(key, { value, loading: loaded })
  }

  get(key: string): Promise<Value> | undefined {
    const entry = this.#entries.get(key)
    return entry?.loading.then(() => entry.value as Value)
  }

  set(key: string, value: Promise<Value>): void {
    this.add(
      [key],
      value.then((value) => [value]),
    )
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }
}

/** A DataLoader that returns loaded values synchronously, and loads a whole level of a query without one
 *  promise per key: a page has thousands of children. */
export class Loader<Value> extends DataLoader<string, Value> {
  readonly #entries: Entries<Value>
  readonly #load: (keys: readonly string[]) => Promise<Value[]>

  constructor(load: (keys: readonly string[]) => Promise<Value[]>) {
    const entries = new Entries<Value>()
    super(load, { cacheMap: entries })
    this.#entries = entries
    this.#load = load
  }

  /** Returns the value of a key if it is loaded, else a promise of it. */
  get(key: string): PromiseOrValue<Value> {
    const known = this.#entries.entry(key)?.value
    return known === undefined ? this.load(key) : known
  }

  /** Sets the value of a key, unless it is loaded or loading. */
  override prime(key: string, value: Value): this {
    this.#entries.fill(key, value)
    return this
  }

  /** Loads the values of keys, in the same order. Reads those not yet loaded or loading in one statement. */
  async loadAll(keys: readonly string[]): Promise<Value[]> {
    const missing = new Set<string>()
    for (const key of keys) if (!this.#entries.entry(key)) missing.add(key)
    if (missing.size > 0) {
      const keysToLoad = [...missing]
      this.#entries.add(keysToLoad, this.#load(keysToLoad))
    }
    const entries: Entry<Value>[] = []
    const loading = new Set<Promise<unknown>>()
    for (const key of keys) {
      const entry = this.#entries.entry(key)
      if (!entry) continue
      entries.push(entry)
      loading.add(entry.loading)
    }
    for (const batch of loading) await batch
    return entries.map(({ value }) => value as Value)
  }
}
