import DataLoader from 'dataloader'

/** A value, or the promise of one. */
export type Maybe<Value> = Value | Promise<Value>

/** What `use` makes of a value: at once where the value is there. */
export const whenKnown = <Value, Result>(
  value: Maybe<Value>,
  use: (value: Value) => Maybe<Result>,
): Maybe<Result> => (value instanceof Promise ? value.then(use) : use(value))

/** A value, once what is loading has come. */
type Entry<Value> = { value?: Value; loading: Promise<unknown> }

const there = Promise.resolve()

// What DataLoader keeps its promises in. Here the values are kept, and a promise is made where one is asked for.
class Entries<Value> {
  readonly #entries = new Map<string, Entry<Value>>()

  entry(key: string): Entry<Value> | undefined {
    return this.#entries.get(key)
  }

  /** Adds keys whose values come together, in their order. */
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
    // What can't be had is asked for again the next time.
    loading.catch(() => {
      for (const [index, key] of keys.entries())
        if (this.#entries.get(key) === entries[index]) this.#entries.delete(key)
    })
  }

  /** Adds a key whose value is there. */
  fill(key: string, value: Value): void {
    if (!this.#entries.has(key)) this.#entries.set(key, { value, loading: there })
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

/** A DataLoader that gives what it has loaded at once, and loads a whole level without a promise for each of its keys:
 *  a page has thousands of children. */
export class Loader<Value> extends DataLoader<string, Value> {
  readonly #entries: Entries<Value>
  readonly #load: (keys: readonly string[]) => Promise<Value[]>

  constructor(load: (keys: readonly string[]) => Promise<Value[]>) {
    const entries = new Entries<Value>()
    super(load, { cacheMap: entries })
    this.#entries = entries
    this.#load = load
  }

  /** The value of a key: itself where it is loaded, else its promise. */
  get(key: string): Maybe<Value> {
    const known = this.#entries.entry(key)?.value
    return known === undefined ? this.load(key) : known
  }

  /** Gives a key its value, where it is not loaded or loading. */
  override prime(key: string, value: Value): this {
    this.#entries.fill(key, value)
    return this
  }

  /** The values of keys, in their order. Those that nobody has asked for yet are loaded at once, in one statement. */
  async loadAll(keys: readonly string[]): Promise<Value[]> {
    const missing = new Set<string>()
    for (const key of keys) if (!this.#entries.entry(key)) missing.add(key)
    if (missing.size > 0) {
      const asked = [...missing]
      this.#entries.add(asked, this.#load(asked))
    }
    const entries: Entry<Value>[] = []
    const loading = new Set<Promise<unknown>>()
    for (const key of keys) {
      const entry = this.#entries.entry(key)
      if (!entry) continue
      entries.push(entry)
      loading.add(entry.loading)
    }
    for (const loaded of loading) await loaded
    return entries.map(({ value }) => value as Value)
  }
}
